#pragma once

/// Text parameters of table entries: `name:first:second`.
///
/// Numbers after the name of a table's entry, each with a name and a range: `local-sgd:8`, `adam:0.9:0.999`.
///
/// Values of flags that more than one folder reads; messages name the flag.

#include <cstdint>
#include <span>
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

struct NumberField {
  std::string_view name;
  double standard = 1;  ///< where it is left out
  double smallest = 1, largest = 1'000'000;
  bool whole = true;
};

/// Returns `name:value:value` without the values at its end that are the standard ones, but with `least` of them where
/// there are as many. \pre one value for each field
std::string text_with_numbers(std::string_view name, std::span<const NumberField> fields,
                              std::span<const double> values, std::size_t least = 0);

/// The values of an entry's fields after the name in `text`, which is `name:value:value`; standard ones where they are
/// left out. \throws Error (usage) that has an example, for too many or for one out of its range.
std::vector<double> parse_numbers(std::string_view text, std::string_view name, std::span<const NumberField> fields);

/// `a,b,c` -> {"a", "b", "c"}. \throws Error (usage) for an empty item.
std::vector<std::string> split_list(std::string_view text, std::string_view flag);

/// `32K`, `128MiB`, `1G`: bytes, of powers of 1024. \throws Error (usage).
std::int64_t parse_size(std::string_view text, std::string_view flag);

}  // namespace hbench
