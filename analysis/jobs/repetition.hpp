#pragma once

/// What repeats in a sequence: the steps of a job whose recorder marks none.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace hbench {

/// A part of a sequence, `begin` included, `end` not.
struct Stretch {
  std::size_t begin = 0, end = 0;
};

struct Repetition {
  std::size_t period = 0;
  /// Where the sequence repeats with this period, twice or more. All have the same symbols, in an order that differs by
  /// where the stretch begins. In order, none overlaps the one before by a whole period.
  std::vector<Stretch> stretches;
};

/// One element of a sequence.
struct Symbol {
  int kind = 0;    ///< from 0
  int class_ = 0;  ///< of the kind: what is found has all classes above 0
  auto operator<=>(const Symbol&) const = default;
};

/// Returns the shortest period that explains nearly as much of the sequence as any; absent where nothing explains a
/// third of it. Of a long sequence the end decides.
std::optional<Repetition> find_repetition(std::span<const Symbol> sequence);

}  // namespace hbench
