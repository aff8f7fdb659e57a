#pragma once

/// The results of `hbench collective` for people: nccl-tests' columns, comparisons, what compression costs. Pure.

#include <optional>
#include <string>
#include <vector>

#include "bench/collective/summary.hpp"
#include "reports/document/document.hpp"

namespace hbench {

/// What the tables say about the run as a whole.
struct TableContext {
  std::string machine;  ///< `2 cores of ...`
  bool comparison = false;
  int launches = 1;
  std::optional<BytesPerSecond> link = std::nullopt;  ///< what each rank's link carries
  std::vector<std::string> notes = {};                ///< sentences below the tables
};

/// A table for each number of ranks: nccl-tests' columns for one candidate (with its band where it is simulated), else
/// the candidates beside each other or, where they are many, below each other; then what compression costs, what
/// failed, and comparisons with peers and bounds.
Document collective_document(const std::vector<CollectiveRow>& rows, const TableContext& context);

}  // namespace hbench
