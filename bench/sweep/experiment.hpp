#pragma once

/// An experiment file of a sweep: how many ranks are measured, and how they are put on nodes and GPUs.

#include <string>
#include <string_view>
#include <vector>

namespace hbench {

/// One way to put ranks on nodes.
struct NodeLayout {
  int nodes = 1;
  int gpus_per_node = 1;      ///< or cores
  int processes_per_gpu = 1;  ///< ranks that share each GPU

  int gpus() const { return nodes * gpus_per_node; }
  int ranks() const { return gpus() * processes_per_gpu; }
  int ranks_per_node() const { return gpus_per_node * processes_per_gpu; }

  friend auto operator<=>(const NodeLayout&, const NodeLayout&) = default;
};

/// Every combination of what the file lists, by rising ranks: the keys `workers` (nodes), `gpus_per_worker` and
/// `processes_per_gpu`, each a number or a list of them, 1 where it is not there. TOML, or YAML of these keys alone
/// where the file's name ends with `.yaml` or `.yml`. \throws Error (usage) with file and line.
std::vector<NodeLayout> parse_experiment(std::string_view text, const std::string& file);

}  // namespace hbench
