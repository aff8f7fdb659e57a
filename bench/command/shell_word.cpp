#include "bench/command/shell_word.hpp"

#include <algorithm>
#include <cctype>

namespace hbench {
namespace {

bool is_plain(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("_-./=:,+%@").find(c) != std::string::npos;
}

}  // namespace

bool is_flag(std::string_view argument, std::string_view flag) {
  return argument == flag || (argument.starts_with(flag) && argument[flag.size()] == '=');
}

std::string shell_word(const std::string& text) {
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return text;
  if (text.find_first_of("\"$`\\!") == std::string::npos) return '"' + text + '"';
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace hbench
