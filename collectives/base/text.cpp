#include "collectives/base/text.hpp"

#include <fmt/format.h>

namespace hbench {

std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  return text;
}

std::string counted(std::int64_t number, std::string_view noun) {
  const bool hisses = noun.ends_with("ch") || noun.ends_with('s');
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : hisses ? "es" : "s");
}

}  // namespace hbench
