#include "collectives/transport/operation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hbench {

std::string text_of_ranks(const std::vector<Rank>& ranks) {
  return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", fmt::join(ranks, ", "));
}

}  // namespace hbench
