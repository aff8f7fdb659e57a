#include "bench/worker/rank_loop.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "bench/worker/agreement.hpp"
#include "bench/worker/loop_timing.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/units.hpp"

namespace hbench {
namespace {

using Clock = std::chrono::steady_clock;

/// Candidates take turns so often, in alternating order; what is alone needs no turns.
constexpr int kTurns = 4;

std::int64_t most_bytes(const std::vector<LoopCase>& cases) {
  std::int64_t most = 1;
  for (const LoopCase& each : cases) most = std::max(most, each.asked.collective.bytes);
  return most;
}

/// One rank's run through all sizes.
class Loop {
 public:
  Loop(const std::vector<LoopCase>& cases, const LoopOptions& options, RankEndpoints& endpoints, const PeerSet& peers,
       const LoopReport& report, const WatchDevice& watch)
      : options_(options),
        endpoints_(endpoints),
        peers_(peers),
        report_(report),
        home_(endpoints.home()),
        agreement_(home_.transport(), options.timeout),
        memory_(home_, most_bytes(cases)),
        check_(options, home_.transport().rank(), agreement_, memory_),
        timing_(options, home_, agreement_, memory_, watch,
                [this](const LoopEntry& entry, bool begins) { begins ? work_on(entry) : keep_in_touch(entry); }) {}

  void run(const std::vector<LoopCase>& cases) {
    for (std::size_t begin = 0, end = 0; begin < cases.size(); begin = end) {
      while (end < cases.size() && cases[end].asked.collective.bytes == cases[begin].asked.collective.bytes) ++end;
      run_size(std::span(cases).subspan(begin, end - begin));
    }
  }

 private:
  bool first() const { return home_.transport().rank() == 0; }

  void run_size(std::span<const LoopCase> cases) {
    std::vector<int> indices;
    for (const LoopCase& each : cases) indices.push_back(each.index);
    if (first()) report_.begin(indices);
    std::vector<LoopEntry> entries;
    for (const LoopCase& each : cases) entries.push_back(prepare(each));
    for (LoopEntry& entry : entries) {
      if (!entry.runs()) continue;
      work_on(entry);
      if (options_.check) check_.check(entry);
      timing_.warm_up(entry);
      // A device codes when it comes to it: there is no time of this rank's to measure.
      if (entry.lossy && entry.in_host_memory()) timing_.time_coding(entry);
    }
    const auto count = std::ranges::count_if(entries, [](const LoopEntry& entry) { return entry.runs(); });
    timing_.time(entries, count > 1 ? kTurns : 1);
    for (LoopEntry& entry : entries) finish(entry);
  }

  void work_on(const LoopEntry& entry) {
    if (!first()) return;
    report_.working(entry.of->index);
    reported_ = Clock::now();
  }

  /// Between two iterations: each ends within the time-out or fails, but many of them take longer than that, and a rank
  /// that reports nothing for long is taken for lost.
  void keep_in_touch(const LoopEntry& entry) {
    if (first() && seconds_since(reported_) > options_.timeout.value / 4) work_on(entry);
  }

  PeerLibraries* libraries(const Case& asked) {
    const auto is_library = [&](const Peer& peer) { return peer.library == asked.collective.executor; };
    if (std::ranges::none_of(peers_.peers, is_library)) return nullptr;
    if (!libraries_ && no_libraries_.empty()) connect();
    return libraries_.get();
  }

  /// Peers that cannot be connected do not stop the others.
  void connect() {
    try {
      libraries_ = peers_.connect(home_, options_.timeout);
    } catch (const Error& error) {
      if (error.code() != ExitCode::environment) throw;
      no_libraries_ = error.what();
    }
    if (agreement_.total(libraries_ ? 0 : 1) == 0) return;
    libraries_.reset();
    if (no_libraries_.empty()) no_libraries_ = "another rank could not be connected";
  }

  LoopEntry prepare(const LoopCase& each) {
    LoopEntry entry{.of = &each};
    PeerLibraries* const library = libraries(each.asked);
    entry.endpoint =
        library != nullptr || !is_ours(each.asked) ? &home_ : &endpoints_.of(each.asked.collective.executor);
    entry.buffer = memory_.buffer_of(each.asked.collective.executor, *entry.endpoint, entry.bytes());
    try {
      entry.candidate =
          std::make_unique<Candidate>(each.asked, each.tensors, CandidateTools{*entry.endpoint, entry.buffer, library});
      entry.lossy = !entry.candidate->compressor().verbatim();
    } catch (const Error& error) {
      if (error.code() != ExitCode::usage) throw;
      entry.refusal = no_libraries_.empty() || is_ours(each.asked) ? error.what() : no_libraries_;
    }
    // What one rank cannot do, none does.
    if (agreement_.total(entry.runs() ? 0 : 1) > 0) {
      if (entry.refusal.empty()) entry.refusal = "another rank cannot do it";
      entry.candidate.reset();
    }
    return entry;
  }

  void gather(const LoopEntry& entry, bool warmup, std::vector<Sample>& samples) {
    for (const auto& [metric, mine] : warmup ? entry.warmups : entry.times) {
      const auto all = agreement_.gather(mine);
      for (std::size_t rank = 0; rank < all.size(); ++rank)
        for (std::size_t i = 0; i < all[rank].size(); ++i)
          samples.push_back({.rank = static_cast<int>(rank),
                             .iteration = static_cast<int>(i),
                             .warmup = warmup,
                             .metric = std::string(metric),
                             .value = all[rank][i],
                             .unit = "s"});
    }
  }

  /// All ranks look equally often; what one does not know is left out.
  void gather_looks(const LoopEntry& entry, std::vector<Sample>& samples) {
    for (const GpuSeries& series : entry.looks.series()) {
      const auto all = agreement_.gather(series.values);
      for (std::size_t rank = 0; rank < all.size(); ++rank)
        for (std::size_t i = 0; i < all[rank].size(); ++i)
          if (!std::isnan(all[rank][i]))
            samples.push_back({.rank = static_cast<int>(rank),
                               .iteration = static_cast<int>(i),
                               .metric = series.metric,
                               .value = all[rank][i],
                               .unit = std::string(series.unit)});
    }
  }

  void finish(LoopEntry& entry) {
    LoopResult result{.index = entry.of->index, .refusal = entry.refusal, .samples = entry.figures};
    if (entry.runs()) {
      if (options_.delay.is_among(home_.transport().size())) result.samples.push_back(delay_sample(options_.delay));
      gather(entry, true, result.samples);
      gather(entry, false, result.samples);
      gather_looks(entry, result.samples);
    }
    if (first()) report_.end(result);
  }

  const LoopOptions& options_;
  RankEndpoints& endpoints_;
  const PeerSet& peers_;
  const LoopReport& report_;
  Endpoint& home_;
  Agreement agreement_;
  LoopMemory memory_;
  LoopCheck check_;
  LoopTiming timing_;
  std::unique_ptr<PeerLibraries> libraries_;
  std::string no_libraries_;    ///< why there are none
  Clock::time_point reported_;  ///< when rank 0 last reported what it works on
};

}  // namespace

void run_loop(const std::vector<LoopCase>& cases, const LoopOptions& options, RankEndpoints& endpoints,
              const PeerSet& peers, const LoopReport& report, const WatchDevice& watch) {
  if (cases.empty()) return;
  Loop(cases, options, endpoints, peers, report, watch).run(cases);
}

}  // namespace hbench
