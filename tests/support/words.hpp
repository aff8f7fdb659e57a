#pragma once

#include <sstream>
#include <string>
#include <vector>

namespace hbench {

/// The words of a command line, which spaces separate.
inline std::vector<std::string> words_in(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

}  // namespace hbench
