#pragma once

/// Counts of GPUs and nodes as people write them. Pure.

#include <string_view>
#include <vector>

namespace hbench {

/// What is counted, for messages.
struct CountedThing {
  std::string_view flag;  ///< `--gpus`
  std::string_view name;  ///< `GPU`
  int most = 0;
};
/// `parse_gpu_range` for other things than GPUs.
std::vector<int> parse_count_range(std::string_view text, const CountedThing& thing);

/// GPU counts as people write them: `8`, `1,2,4`, `1..128` (doubling, the end included), `1..12:1` (steps of
/// 1). Ascending, without repeats. \throws Error (usage) that quotes `text` and says how to write it.
std::vector<int> parse_gpu_range(std::string_view text);

}  // namespace hbench
