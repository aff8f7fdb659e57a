#pragma once

/// What ranks must agree on while they measure: whether a check passed, how often to repeat. Rank 0 decides, so that no
/// rank waits for a collective that another one does not begin.

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/records/machine_facts.hpp"
#include "analysis/records/records.hpp"
#include "collectives/base/test_delay.hpp"
#include "collectives/base/units.hpp"
#include "collectives/transport/transport.hpp"

namespace hbench {

/// All ranks call the same methods in the same order. \throws Error (lost_rank) that names who is late.
class Agreement {
 public:
  Agreement(Transport& transport, Seconds timeout) : transport_(transport), timeout_(timeout) {}

  /// Returns when all ranks are here.
  void meet() { largest(0); }
  double largest(double mine);
  /// Exact below 2^53.
  std::int64_t total(std::int64_t mine);
  /// Every rank's values (equally many of each), by rank, on rank 0; nothing elsewhere.
  std::vector<std::vector<double>> gather(std::span<const double> mine);

 private:
  template <class Reduce>
  double agree(double mine, Reduce reduce);
  void send_to(Rank peer, std::span<const double> values);
  void receive_from(Rank peer, std::span<double> values);
  void wait(Transport::Request request, Rank peer);

  Transport& transport_;
  Seconds timeout_;
};

/// What is stored with each launch that a test made slow, so that nobody takes its figures for real.
inline Sample delay_sample(const TestDelay& delay, int launch = 0) {
  return {.launch = launch,
          .rank = delay.rank,
          .metric = std::string(metric::kTestDelay),
          .value = delay.time.value,
          .unit = "s"};
}

}  // namespace hbench
