#pragma once

/// Text parameters of table entries: `name:first:second`.

#include <string>
#include <string_view>
#include <vector>

namespace hbench {

/// The parts of `text` between separators; one empty part for an empty text.
std::vector<std::string_view> split(std::string_view text, char separator);

/// `head` and, after the first colon, `rest`. \throws Error (usage) when nothing follows the colon.
struct NamedParameters {
  std::string_view head;
  std::string_view rest;
};
NamedParameters split_name(std::string_view text);

/// The complete parameters of entry `name` of a family that is called `what`: what was `given`, then the defaults of
/// the fields that were left out at the end. `fields` and `defaults` are separated by colons; both empty when the entry
/// has none. \throws Error (usage) when too many were given or one is empty.
std::string complete_parameters(std::string_view what, std::string_view name, std::string_view fields,
                                std::string_view defaults, std::string_view given);

}  // namespace hbench
