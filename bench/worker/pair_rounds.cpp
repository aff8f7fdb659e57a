#include "bench/worker/pair_rounds.hpp"

#include <algorithm>
#include <bit>

namespace hbench {
namespace {

/// The most hosts of which all pairs are measured.
constexpr int kAllPairs = 8;

/// Of an odd number of hosts one is made up: who meets it has a break.
int even(int hosts) { return hosts + hosts % 2; }

}  // namespace

int pair_rounds(int hosts) {
  const int all = even(hosts) - 1;
  if (hosts == 1) return 0;
  if (hosts <= kAllPairs) return all;
  return std::min(all, 2 * static_cast<int>(std::bit_width(static_cast<unsigned>(hosts - 1))));
}

std::optional<int> paired_host(int host, int round, int hosts) {
  // All but the last sit on a circle of odd length: those meet whose numbers add up to the round. Who would meet itself
  // meets the last.
  const int circle = even(hosts) - 1;
  int partner = 0;
  if (host == circle)
    partner = round * (circle + 1) / 2 % circle;  // twice this number is the round, around the circle
  else
    partner = (round - host + circle) % circle;
  if (partner == host) partner = circle;
  if (partner >= hosts) return std::nullopt;
  return partner;
}

}  // namespace hbench
