#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "collectives/base/units.hpp"

namespace hbench {

/// What one rank has exchanged with each other rank: bytes of buffers, encoded or not. Counted by whoever moves a
/// buffer, so that what ranks say to each other beside (which buckets leave, who is late) is left out, and so are the
/// collectives of libraries, which do not say what they send.
class ByteCounts {
 public:
  void send(Rank to, std::size_t bytes) { add(sent_, to, bytes); }
  /// A server, or a partner, sends them because this rank has asked, and counts them nowhere: so those of a step are
  /// counted in the step that they are for.
  void fetch(Rank from, std::size_t bytes) { add(fetched_, from, bytes); }
  /// What a collective of these workers brings: of dedicated servers, the ranks after them, it is fetched.
  void receive(Rank from, std::size_t bytes, int workers) {
    if (from >= workers) fetch(from, bytes);
  }

  std::int64_t sent_to(Rank rank) const { return of(sent_, rank); }
  std::int64_t fetched_from(Rank rank) const { return of(fetched_, rank); }
  std::int64_t sent() const {
    std::int64_t sum = 0;
    for (const std::int64_t bytes : sent_) sum += bytes;
    return sum;
  }

 private:
  using ByRank = std::vector<std::int64_t>;  ///< as far as anything was exchanged

  static void add(ByRank& counts, Rank rank, std::size_t bytes) {
    const auto index = static_cast<std::size_t>(rank);
    if (index >= counts.size()) counts.resize(index + 1);
    counts[index] += static_cast<std::int64_t>(bytes);
  }
  static std::int64_t of(const ByRank& counts, Rank rank) {
    const auto index = static_cast<std::size_t>(rank);
    return index < counts.size() ? counts[index] : 0;
  }

  ByRank sent_, fetched_;
};

}  // namespace hbench
