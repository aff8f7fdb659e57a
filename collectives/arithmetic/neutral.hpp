#pragma once

#include <limits>

#include "collectives/arithmetic/data_type.hpp"

namespace hbench {

/// The element that leaves others as they are when it is combined with them.
template <class T>
T neutral(ReduceOp op) {
  using Limits = std::numeric_limits<T>;
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::average:
      return 0;
    case ReduceOp::min:
      return Limits::has_infinity ? Limits::infinity() : Limits::max();
    case ReduceOp::max:
      return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    case ReduceOp::product:
      return 1;
  }
  return 0;
}

}  // namespace hbench
