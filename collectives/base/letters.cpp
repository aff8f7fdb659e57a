#include "collectives/base/letters.hpp"

namespace hbench {

std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c | 0x20);
  return text;
}

}  // namespace hbench
