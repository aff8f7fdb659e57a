#pragma once

#include <bit>
#include <vector>

#include "collectives/schedule/schedule.hpp"

namespace hbench {

/// A world of any size for algorithms that double: a power of two of its ranks, the core, does the work, and each rank
/// beyond gives its data to a neighbour and gets the result back. The first `2 * extras` ranks are the pairs, the even
/// one of each is extra (Thakur, Rabenseifner and Gropp 2005): core members' parts stay side by side, and
/// pairs share a node where nodes hold an even number.
class Fold {
 public:
  explicit Fold(int ranks)
      : core_(static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)))), extras_(ranks - core_) {}

  /// Members of the core; a power of two.
  int core() const { return core_; }
  int extras() const { return extras_; }
  /// lg core
  int steps() const { return std::countr_zero(static_cast<unsigned>(core_)); }

  Rank rank_of(int member) const { return member < extras_ ? 2 * member + 1 : member + extras_; }
  /// The extra rank of pair `pair`.
  Rank extra(int pair) const { return 2 * pair; }
  bool is_extra(Rank rank) const { return rank < 2 * extras_ && rank % 2 == 0; }
  /// \pre not extra.
  int member_of(Rank rank) const { return rank < 2 * extras_ ? rank / 2 : rank - extras_; }
  /// The first part of `member`; it ends where the next one begins. Pairs have two parts, the others one.
  int first_part(int member) const { return member < extras_ ? 2 * member : member + extras_; }

  std::vector<Rank> ranks() const {
    std::vector<Rank> all;
    for (int member = 0; member < core_; ++member) all.push_back(rank_of(member));
    return all;
  }

 private:
  int core_;
  int extras_;
};

/// Rounds before and after those of the core.
inline int folding_rounds(const Fold& fold) { return fold.extras() > 0 ? 1 : 0; }

/// Where extra ranks hand over everything first and get everything back last: `core`, of the core's members and any
/// number of chunks, becomes an all-reduce of `world`.
Schedule folded_all_reduce(const World& world, const Schedule& core);

}  // namespace hbench
