#pragma once

/// Universally unique identifiers as text: 36 characters, `xxxxxxxx-xxxx-Vxxx-xxxx-xxxxxxxxxxxx` in lower case, where V
/// is the version (RFC 9562, sections 4 and 5).

#include <string>
#include <string_view>

namespace hbench::store {

/// Version 4: random, from the system's source. \throws Error (environment) where there is none.
std::string random_uuid();

/// Version 8: 122 bits of two digests (`collectives/base/text.hpp`) of `contents`, the same on every machine and in
/// every later version of hbench.
std::string uuid_of(std::string_view contents);

/// Whether `text` is one of any version.
bool is_uuid(std::string_view text);

}  // namespace hbench::store
