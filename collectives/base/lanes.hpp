#pragma once

/// A picture of what goes on beside what: boxes in rows, from left to right.

#include <string>
#include <vector>

namespace hbench {

struct Lanes {
  struct Box {
    int begin = 0, end = 0;  ///< columns, from 0. Widths need not be times.
    std::string text{};      ///< plain, at most as wide as the box
  };
  struct Row {
    std::string name{};  ///< empty: the row belongs to the one above
    std::vector<Box> boxes{};
  };
  std::string title{};
  std::vector<Row> rows{};
  std::vector<std::string> notes{};  ///< a line each, what the picture cannot say
};

/// The picture without its title as lines, each with its end: `compute  [forward][----backward----]`.
std::string to_text(const Lanes& lanes);

}  // namespace hbench
