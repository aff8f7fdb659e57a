#include "collectives/base/lanes.hpp"

#include <fmt/format.h>

namespace hbench {
namespace {

constexpr std::size_t kName = 9;  ///< columns of a row's name

/// A box that has room for its ends has them.
std::string filled(const Lanes::Box& box) {
  const auto width = static_cast<std::size_t>(box.end - box.begin);
  return width < box.text.size() + 2 ? fmt::format("{:.<{}}", box.text, width)
                                     : fmt::format("[{:-^{}}]", box.text, width - 2);
}

}  // namespace

std::string to_text(const Lanes& lanes) {
  std::string text;
  for (const Lanes::Row& row : lanes.rows) {
    std::string line = fmt::format("{:{}}", row.name, kName);
    for (const Lanes::Box& box : row.boxes) {
      line.resize(kName + static_cast<std::size_t>(box.begin), ' ');
      line += filled(box);
    }
    text += line + "\n";
  }
  for (const std::string& note : lanes.notes) text += note + "\n";
  return text;
}

}  // namespace hbench
