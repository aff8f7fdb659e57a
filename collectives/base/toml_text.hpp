#pragma once

#include <string>
#include <string_view>

namespace hbench {

/// `text` as a TOML basic string, quotes included; control characters become spaces.
std::string toml_text(std::string_view text);

}  // namespace hbench
