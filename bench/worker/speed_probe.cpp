#include "bench/worker/speed_probe.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "analysis/statistics/statistics.hpp"
#include "bench/worker/rank_resources.hpp"
#include "collectives/transport/host_place.hpp"
#include "collectives/transport/transport.hpp"

namespace hbench {
namespace {

/// The most hosts of which all pairs are measured.
constexpr int kAllPairs = 8;

/// Of an odd number of hosts one is made up: who meets it has a break.
int even(int hosts) { return hosts + hosts % 2; }

/// Lower than what endpoints reserve (`Endpoint::reserve_tag`), and nobody else's.
constexpr int kProbeTag = 902;
constexpr std::string_view kGathering = "while speeds of hosts are gathered";
constexpr std::string_view kExchanging = "while a pair of hosts exchanges bytes";
constexpr std::size_t kLeastBytes = 256 << 10;
constexpr double kMostGrowth = 128;  ///< to 32 MiB

using Clock = std::chrono::steady_clock;

/// Operations of a block of work: eight chains of multiplications and additions, in registers.
constexpr int kChains = 8, kSteps = 4096;
constexpr double kOperations = 2.0 * kChains * kSteps;

/// The chains approach 1, whatever they begin with: no number that a processor is slower for.
void compute_block(std::array<double, kChains>& chains) {
  for (int step = 0; step < kSteps; ++step)
    for (double& value : chains) value = value * 0.999 + 0.001;
  // For the compiler somebody reads the result: else it need not compute it.
  asm volatile("" : "+m"(chains));
}

/// Returns the operations per second of this thread, by window. Windows follow each other at fixed times, so that a
/// pass is the same time on all hosts: one that ends late, because a block was still running, is at the cost of the
/// next.
std::vector<double> computed_by_thread(const ProbeOrder& order, Rank rank) {
  std::vector<double> speeds;
  std::array<double, kChains> chains{};
  const auto start = Clock::now();
  double now = 0;
  for (int pass = 0; pass < order.passes; ++pass) {
    const double begin = now, end = (pass + 1) * order.window.value;
    order.delay.sleep(rank);
    double operations = 0;
    do {
      compute_block(chains);
      operations += kOperations;
      now = seconds_since(start);
    } while (now < end);
    speeds.push_back(operations / (now - begin));
  }
  return speeds;
}

/// Of the slowest thread, since ranks wait for the slowest of them.
std::vector<double> computed_here(const ProbeOrder& order, Rank rank) {
  std::vector<std::vector<double>> by_thread(static_cast<std::size_t>(order.threads));
  std::vector<std::jthread> threads;
  for (int i = 0; i < order.threads; ++i)
    threads.emplace_back([&, i] {
      pin_to_core(i);
      by_thread[static_cast<std::size_t>(i)] = computed_by_thread(order, rank);
    });
  threads.clear();
  std::vector<double> slowest = by_thread.front();
  for (const std::vector<double>& speeds : by_thread)
    for (std::size_t pass = 0; pass < slowest.size(); ++pass) slowest[pass] = std::min(slowest[pass], speeds[pass]);
  return slowest;
}

class Probe {
 public:
  Probe(Transport& transport, const ProbeOrder& order)
      : transport_(transport), order_(order), rounds_(pair_rounds(order.ranks)) {}

  /// Gives rank 0 what all ranks have, equally many numbers each: by rank. Empty elsewhere.
  std::vector<std::vector<double>> gather(std::vector<double> own) {
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(own));
    if (transport_.rank() != 0) {
      finish(transport_.send(0, kProbeTag, bytes), 0, kGathering);
      return {};
    }
    std::vector<std::vector<double>> all{own};
    for (Rank rank = 1; rank < transport_.size(); ++rank) {
      finish(transport_.receive(rank, kProbeTag, bytes), rank, kGathering);
      all.push_back(own);
    }
    return all;
  }

  /// All ranks are there.
  void meet() {
    gather({0});
    char all_there = 1;
    share_from_first(transport_, as_message(all_there), order_.timeout);
  }

  /// Seconds of this rank's exchange in each round; 0 in its break.
  std::vector<double> exchange_pass(std::size_t bytes) {
    std::vector<double> seconds;
    for (int round = 0; round < rounds_; ++round) {
      const std::optional<int> partner = paired_host(transport_.rank(), round, order_.ranks);
      seconds.push_back(partner ? exchange(*partner, bytes) : 0);
    }
    return seconds;
  }

  /// Returns the number of bytes that the middle pair exchanges in the time of the order; found by a pass that also
  /// opens all connections.
  std::size_t agree_on_bytes() {
    buffers_ = {std::vector<std::byte>(kLeastBytes), std::vector<std::byte>(kLeastBytes)};
    const std::vector<std::vector<double>> all = gather(exchange_pass(kLeastBytes));
    double bytes = 0;
    if (!all.empty()) {
      std::vector<double> times;
      for (const std::vector<double>& of_rank : all)
        std::ranges::copy_if(of_rank, std::back_inserter(times), [](double seconds) { return seconds > 0; });
      bytes = static_cast<double>(kLeastBytes) * std::min(order_.exchange.value / median(times), kMostGrowth);
    }
    share_from_first(transport_, as_message(bytes), order_.timeout);
    const auto agreed = std::max(static_cast<std::size_t>(bytes), kLeastBytes);
    buffers_ = {std::vector<std::byte>(agreed), std::vector<std::byte>(agreed)};
    return agreed;
  }

 private:
  void finish(Transport::Request request, Rank peer, std::string_view what) {
    complete(transport_, request, peer, order_.timeout, what);
  }

  void swap(Rank partner, std::span<std::byte> out, std::span<std::byte> in) {
    PostedMessage receiving(transport_, transport_.receive(partner, kProbeTag, in), partner);
    PostedMessage sending(transport_, transport_.send(partner, kProbeTag, out), partner);
    wait_for(receiving, order_.timeout, kExchanging);
    wait_for(sending, order_.timeout, kExchanging);
  }

  /// Both begin when both are there.
  double exchange(Rank partner, std::size_t bytes) {
    char ready = 0, also_ready = 0;
    swap(partner, as_message(ready), as_message(also_ready));
    const auto begin = Clock::now();
    swap(partner, std::span(buffers_[0]).first(bytes), std::span(buffers_[1]).first(bytes));
    return seconds_since(begin);
  }

  Transport& transport_;
  const ProbeOrder& order_;
  const int rounds_;
  std::array<std::vector<std::byte>, 2> buffers_;
};

/// \param seconds by rank, of each round of each pass. Each end of a pair knows when it had got all: the pair took as
/// long as the slower of both.
void report_pairs(const std::vector<std::vector<double>>& seconds, const ProbeOrder& order, std::size_t bytes,
                  const ProbeReport& report) {
  const int rounds = pair_rounds(order.ranks);
  for (int round = 0; round < rounds; ++round)
    for (Rank rank = 0; rank < order.ranks; ++rank) {
      const int partner = paired_host(rank, round, order.ranks).value_or(-1);
      if (partner < rank) continue;
      std::vector<double> rates;
      for (int pass = 0; pass < order.passes; ++pass) {
        const auto at = static_cast<std::size_t>(pass * rounds + round);
        rates.push_back(static_cast<double>(bytes) / std::max(seconds[static_cast<std::size_t>(rank)][at],
                                                              seconds[static_cast<std::size_t>(partner)][at]));
      }
      report.exchanged(rank, partner, rates);
    }
}

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

void probe_speeds(Transport& transport, const ProbeOrder& order, const ProbeReport& report) {
  Probe probe(transport, order);
  probe.meet();
  const std::vector<std::vector<double>> computed = probe.gather(computed_here(order, transport.rank()));
  for (std::size_t rank = 0; rank < computed.size(); ++rank) report.computed(static_cast<Rank>(rank), computed[rank]);
  if (order.ranks < 2) return;
  const std::size_t bytes = probe.agree_on_bytes();
  std::vector<double> seconds;
  for (int pass = 0; pass < order.passes; ++pass) {
    if (transport.rank() == 0) report.pass_begins(pass);
    std::ranges::copy(probe.exchange_pass(bytes), std::back_inserter(seconds));
  }
  const std::vector<std::vector<double>> all = probe.gather(std::move(seconds));
  if (transport.rank() == 0) report_pairs(all, order, bytes, report);
}

}  // namespace hbench
