#include "bench/worker/rank_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>

#include "analysis/collectives.hpp"
#include "analysis/throttling.hpp"
#include "bench/worker/agreement.hpp"
#include "bench/worker/candidate.hpp"
#include "bench/worker/delay_sample.hpp"
#include "bench/worker/gpu_observations.hpp"
#include "bench/worker/lossy.hpp"
#include "bench/worker/memory_pass.hpp"
#include "bench/worker/pattern.hpp"
#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/base/digest.hpp"
#include "collectives/base/error.hpp"

namespace hbench {
namespace {

using Clock = std::chrono::steady_clock;

/// Timed iterations when nobody asks for a number: enough for a median, few enough to be kept one by one.
constexpr int kFewest = 5, kMost = 400;
/// One iteration that takes longer than the whole budget is repeated so often, and needs no warming up.
constexpr int kOfSlow = 3;
/// Candidates take turns so often, in alternating order; what is alone needs no turns.
constexpr int kTurns = 4;
constexpr int kCodings = 5;
/// Passes over memory of the bound that are timed together.
constexpr int kPasses = 4;
/// From which size on, and from how many times the last-level caches: what a cache holds is not bound by memory.
constexpr std::size_t kBoundFrom = 64 << 20;
constexpr std::size_t kTimesCaches = 4;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// A candidate with what it has shown so far.
struct Entry {
  const LoopCase* of = nullptr;
  Endpoint* endpoint = nullptr;
  std::span<std::byte> buffer;
  std::unique_ptr<Candidate> candidate;
  std::string refusal;
  bool void_in_place = false, void_out_of_place = false;
  int iterations = 0;
  bool slow = false;                                        ///< one iteration takes longer than the budget
  std::map<std::string_view, std::vector<double>> times;    ///< of this rank, by metric
  std::map<std::string_view, std::vector<double>> warmups;  ///< the same, not to be counted
  std::vector<Sample> figures;
  GpuObservations looks;
  bool lossy = false;
  int passes = 0;  ///< over memory, for the bound

  std::size_t bytes() const { return static_cast<std::size_t>(of->asked.collective.bytes); }
  Device& device() const { return endpoint->device(); }
  bool in_host_memory() const { return &device() == &host_device(); }
  bool runs() const { return candidate != nullptr; }
};

/// One rank's run through all sizes.
class Loop {
 public:
  Loop(const LoopOptions& options, RankEndpoints& endpoints, const PeerSet& peers, const LoopReport& report,
       const WatchDevice& watch)
      : options_(options),
        endpoints_(endpoints),
        peers_(peers),
        report_(report),
        watch_(watch),
        home_(endpoints.home()),
        agreement_(home_.transport(), options.timeout) {}

  void run(const std::vector<LoopCase>& cases) {
    for (const LoopCase& each : cases) most_bytes_ = std::max(most_bytes_, each.asked.collective.bytes);
    for (std::size_t begin = 0, end = 0; begin < cases.size(); begin = end) {
      while (end < cases.size() && cases[end].asked.collective.bytes == cases[begin].asked.collective.bytes) ++end;
      run_size(std::span(cases).subspan(begin, end - begin));
    }
  }

 private:
  Rank rank() const { return home_.transport().rank(); }
  bool first() const { return rank() == 0; }

  void run_size(std::span<const LoopCase> cases) {
    std::vector<int> indices;
    for (const LoopCase& each : cases) indices.push_back(each.index);
    if (first()) report_.begin(indices);
    std::vector<Entry> entries;
    for (const LoopCase& each : cases) entries.push_back(prepare(each));
    for (Entry& entry : entries) {
      if (!entry.runs()) continue;
      work_on(entry);
      if (options_.check) check(entry);
      warm_up(entry);
      // A device codes when it comes to it: there is no time of this rank's to measure.
      if (entry.lossy && entry.in_host_memory()) time_coding(entry);
    }
    const auto count = std::ranges::count_if(entries, [](const Entry& entry) { return entry.runs(); });
    time(entries, count > 1 ? kTurns : 1);
    for (Entry& entry : entries) finish(entry);
  }

  void work_on(const Entry& entry) {
    if (!first()) return;
    report_.working(entry.of->index);
    said_ = Clock::now();
  }

  /// Between two iterations: each ends within the time-out or fails, but many of them take longer than that, and who
  /// says nothing for long is taken for lost.
  void keep_in_touch(const Entry& entry) {
    if (first() && seconds_since(said_) > options_.timeout.value / 4) work_on(entry);
  }

  /// The memory of an executor, the same for all sizes: one allocation, touched once.
  std::span<std::byte> buffer_of(std::string_view executor, Endpoint& endpoint, std::size_t bytes) {
    auto [found, added] = buffers_.try_emplace(std::string(executor));
    if (added) found->second = endpoint.allocate(static_cast<std::size_t>(most_bytes_));
    return found->second.first(bytes);
  }

  /// What is reduced out of place, where the entry's device reads it. Host memory is shared by all who work there.
  std::span<std::byte> input(const Entry& entry) {
    Endpoint& owner = entry.in_host_memory() ? home_ : *entry.endpoint;
    auto [found, added] = inputs_.try_emplace(&owner);
    if (added) found->second = owner.Endpoint::allocate(static_cast<std::size_t>(most_bytes_));
    return found->second.first(entry.bytes());
  }

  /// `fill` writes what is to be in `buffer`, in host memory.
  void put(const Entry& entry, std::span<std::byte> buffer, const std::function<void(std::span<std::byte>)>& fill) {
    if (entry.in_host_memory()) return fill(buffer);
    host_.resize(buffer.size());
    fill(host_);
    entry.device().write(host_, buffer);
  }

  /// What is in the entry's buffer, in host memory; until the next call.
  std::span<std::byte> content(const Entry& entry) {
    if (entry.in_host_memory()) return entry.buffer;
    host_.resize(entry.bytes());
    entry.device().read(entry.buffer, host_);
    return host_;
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

  Entry prepare(const LoopCase& each) {
    Entry entry{.of = &each};
    PeerLibraries* const library = libraries(each.asked);
    entry.endpoint =
        library != nullptr || !is_ours(each.asked) ? &home_ : &endpoints_.of(each.asked.collective.executor);
    entry.buffer = buffer_of(each.asked.collective.executor, *entry.endpoint, entry.bytes());
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

  static Sample figure(std::string_view metric, double value, std::string_view unit) {
    return {.metric = std::string(metric), .value = value, .unit = std::string(unit)};
  }

  /// What really travelled in some runs, from the busiest rank.
  void note_traffic(Entry& entry, std::int64_t bytes, int runs) {
    const double sent = agreement_.largest(static_cast<double>(bytes));
    if (sent <= 0 || runs == 0) return;
    entry.figures.push_back(figure(metric::kWireBytes, sent / runs, "B"));
    if (entry.lossy)
      entry.figures.push_back(
          figure(metric::kPlainWireBytes, static_cast<double>(entry.candidate->plain_bytes()), "B"));
  }

  /// A candidate of its own, because its clock takes time.
  void time_coding(Entry& entry) {
    CodecTimes times;
    Candidate timed(entry.of->asked, entry.of->tensors, {*entry.endpoint, entry.buffer, nullptr, &times});
    for (int i = -1; i < kCodings; ++i) {
      put(entry, entry.buffer, [this](std::span<std::byte> buffer) { fill_normal(rank(), floats(buffer)); });
      times = {};
      agreement_.meet();
      timed.run(options_.timeout);
      keep(entry, metric::kEncode, times.encode.value, i < 0);
      keep(entry, metric::kDecode, times.decode.value, i < 0);
    }
  }

  static std::span<float> floats(std::span<std::byte> bytes) {
    return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
  }

  static void keep(Entry& entry, std::string_view metric, double seconds, bool warmup) {
    (warmup ? entry.warmups : entry.times)[metric].push_back(seconds);
  }

  Pattern pattern_of(const Entry& entry) const {
    const Case& asked = entry.of->asked;
    return {.collective = parse_collective_kind(asked.collective.name),
            .type = parse_data_type(asked.collective.data_type),
            .op = parse_reduce_op(asked.collective.operation),
            .workers = asked.gpus,
            .parts = entry.candidate->parts()};
  }

  void fill(const Entry& entry, std::span<std::byte> where) {
    put(entry, where, [&](std::span<std::byte> buffer) {
      if (entry.lossy)
        fill_normal(rank(), floats(buffer));
      else
        fill_input(pattern_of(entry), rank(), buffer);
    });
  }

  void check(Entry& entry) {
    fill(entry, entry.buffer);
    agreement_.meet();
    entry.candidate->run(options_.timeout);
    entry.void_in_place = is_wrong(entry, metric::kInPlaceWrong);
    if (!options_.out_of_place) return;
    fill(entry, input(entry));
    put(entry, entry.buffer, [](std::span<std::byte> buffer) { std::ranges::fill(buffer, std::byte{0x5a}); });
    agreement_.meet();
    run_out_of_place(entry);
    entry.void_out_of_place = is_wrong(entry, metric::kOutOfPlaceWrong);
  }

  /// All ranks' wrong elements. Ranks that agree on the sum must have the same bits, lossy or not.
  bool is_wrong(Entry& entry, std::string_view metric) {
    std::int64_t wrong = entry.lossy ? wrong_lossy(entry) : count_wrong(pattern_of(entry), rank(), content(entry));
    wrong = agreement_.total(wrong);
    entry.figures.push_back(figure(metric, static_cast<double>(wrong), "elements"));
    return wrong > 0;
  }

  std::int64_t wrong_lossy(Entry& entry) {
    const Case& asked = entry.of->asked;
    const bool worker = rank() < asked.gpus;
    // Upper and lower half apart: a double holds 32 bits exactly, but not 64.
    const std::span<std::byte> result = content(entry);
    const std::uint64_t bits = worker ? digest(result) : 0;
    const std::vector<double> mine{static_cast<double>(bits >> 32), static_cast<double>(bits & 0xffffffff)};
    const auto all = agreement_.gather(mine);
    std::int64_t unlike = 0;
    for (int other = 0; first() && other < asked.gpus; ++other) unlike += all[static_cast<std::size_t>(other)] != mine;
    Closeness close;
    if (worker) close = closeness(parse_reduce_op(asked.collective.operation), asked.gpus, floats(result));
    const std::optional<double> allowed = allowed_error(entry.candidate->compressor(), asked.gpus);
    const bool far = !(close.relative_error <= allowed.value_or(INFINITY));
    if (first() && std::ranges::none_of(entry.figures, [](const Sample& s) { return s.metric == metric::kCosine; })) {
      entry.figures.push_back(
          figure(metric::kRelativeError, std::isnan(close.relative_error) ? INFINITY : close.relative_error, "1"));
      entry.figures.push_back(figure(metric::kCosine, std::isnan(close.cosine) ? 0 : close.cosine, "1"));
    }
    const std::int64_t elements = static_cast<std::int64_t>(floats(result).size());
    return far || unlike > 0 ? elements : 0;
  }

  void run_out_of_place(Entry& entry) {
    entry.device().copy(input(entry), entry.buffer);
    entry.candidate->run(options_.timeout);
  }

  /// Puts data to be timed into the buffers. On GPUs varied data, since hardware is faster on zeros; sums in place grow
  /// from there. Elsewhere, where time does not depend on data, what repeating the collective leaves as it is.
  void prepare(Entry& entry) {
    const Case& asked = entry.of->asked;
    const bool product = asked.collective.operation == "product";
    if (entry.lossy)
      return put(entry, input(entry), [this](std::span<std::byte> buffer) { fill_normal(rank(), floats(buffer)); });
    if (!entry.in_host_memory()) {
      fill(entry, entry.buffer);
      if (options_.out_of_place) fill(entry, input(entry));
      return;
    }
    Device& device = entry.device();
    device.fill_neutral(DataType::uint8, ReduceOp::sum, entry.buffer);
    if (product) device.fill_neutral(parse_data_type(asked.collective.data_type), ReduceOp::product, entry.buffer);
    if (options_.out_of_place) device.copy(entry.buffer, input(entry));
    synchronize(entry.device());
  }

  bool has_bound(const Entry& entry) const {
    return entry.endpoint->shares_memory() && is_ours(entry.of->asked) && !entry.void_in_place &&
           entry.bytes() >= kBoundFrom &&
           entry.bytes() * static_cast<std::size_t>(home_.transport().size()) >= kTimesCaches * caches_;
  }

  bool timed(const Entry& entry, std::string_view metric) const {
    if (!entry.runs()) return false;
    if (metric == metric::kInPlace) return !entry.void_in_place;
    if (metric == metric::kOutOfPlace) return options_.out_of_place && !entry.void_out_of_place;
    return has_bound(entry);
  }

  /// One iteration of this rank.
  double iterate(Entry& entry, std::string_view metric) {
    keep_in_touch(entry);
    // A lossy collective in place would eat its own result: begin with real data each time, together.
    if (entry.lossy && metric == metric::kInPlace) {
      entry.device().copy(input(entry), entry.buffer);
      synchronize(entry.device());
      agreement_.meet();
    }
    const auto begin = Clock::now();
    if (metric == metric::kInPlace || metric == metric::kOutOfPlace) options_.delay.sleep(rank());
    if (metric == metric::kInPlace)
      entry.candidate->run(options_.timeout);
    else if (metric == metric::kOutOfPlace)
      run_out_of_place(entry);
    else
      return pass_together(entry, metric == metric::kBound);
    return seconds_since(begin);
  }

  /// All ranks read their own buffer, or read it and write it back, which is what a collective in shared memory must at
  /// least do with the buffers of all together: with its kernels, in one stream or in as many as it has, whichever this
  /// memory serves faster. From a common beginning to the last one's end, or ranks that share a core would each count
  /// their own turn only. \pre has_bound(entry)
  double pass_together(Entry& entry, bool writes) {
    const std::size_t streams = entry.passes++ % 2 == 0 ? static_cast<std::size_t>(home_.transport().size()) : 1;
    agreement_.meet();
    const auto begin = Clock::now();
    for (int i = 0; i < kPasses; ++i)
      writes ? memory_pass_.rewrite(entry.buffer, streams) : memory_pass_.read(entry.buffer, streams);
    agreement_.meet();
    return seconds_since(begin) / kPasses;
  }

  void warm_up(Entry& entry) {
    prepare(entry);
    if (!timed(entry, metric::kInPlace) && !timed(entry, metric::kOutOfPlace)) return;
    const std::string_view way = timed(entry, metric::kInPlace) ? metric::kInPlace : metric::kOutOfPlace;
    agreement_.meet();
    double last = 0;
    const std::int64_t before = entry.candidate->bytes_sent();
    int runs = 0;
    while (runs < options_.warmups && !entry.slow) {
      keep(entry, way, last = iterate(entry, way), true);
      // Asked once: asking takes longer than small collectives.
      if (runs++ == 0) entry.slow = agreement_.largest(last) > options_.budget.value;
    }
    note_traffic(entry, entry.candidate->bytes_sent() - before, runs);
    entry.iterations = options_.iterations;
    if (entry.iterations > 0) return;
    const double slowest = agreement_.largest(last);
    const double fewest = entry.slow ? kOfSlow : kFewest;
    entry.iterations =
        static_cast<int>(std::clamp(options_.budget.value / std::max(slowest, 1e-9), fewest, double{kMost}));
  }

  void time(std::vector<Entry>& entries, int turns) {
    for (int turn = 0; turn < turns; ++turn) {
      for (Entry& entry : entries) {
        work_on(entry);
        const int begin = entry.iterations * turn / turns, end = entry.iterations * (turn + 1) / turns;
        for (const std::string_view metric :
             {metric::kInPlace, metric::kOutOfPlace, metric::kBound, metric::kBoundRead})
          if (timed(entry, metric)) time_block(entry, metric, end - begin);
      }
      std::ranges::reverse(entries);
    }
    if (turns % 2 == 1) std::ranges::reverse(entries);
  }

  /// The first one brings the caches and the ranks together, and is not counted, unless it would take too long.
  void time_block(Entry& entry, std::string_view metric, int iterations) {
    if (iterations == 0) return;
    const GpuState before = look(entry);
    prepare(entry);  // another candidate may have used the memory
    agreement_.meet();
    for (int i = entry.slow ? 0 : -1; i < iterations; ++i) keep(entry, metric, iterate(entry, metric), i < 0);
    if (!entry.in_host_memory()) entry.looks.add(metric, iterations, before, look(entry));
  }

  GpuState look(const Entry& entry) {
    if (entry.in_host_memory() || !watch_) return {};
    const auto [found, added] = watches_.try_emplace(&entry.device());
    if (added) found->second = watch_(entry.device());
    return found->second ? found->second->sample() : GpuState();
  }

  void gather(const Entry& entry, bool warmup, std::vector<Sample>& samples) {
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
  void gather_looks(const Entry& entry, std::vector<Sample>& samples) {
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

  void finish(Entry& entry) {
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
  const WatchDevice& watch_;
  Endpoint& home_;
  Agreement agreement_;
  std::unique_ptr<PeerLibraries> libraries_;
  std::string no_libraries_;  ///< why there are none
  std::map<std::string, std::span<std::byte>> buffers_;
  std::map<Endpoint*, std::span<std::byte>> inputs_;
  std::map<Device*, std::unique_ptr<GpuWatch>> watches_;
  std::vector<std::byte> host_;  ///< what goes to a device, or came from one
  std::int64_t most_bytes_ = 1;
  MemoryPass memory_pass_;
  std::size_t caches_ = last_level_cache_bytes();
  Clock::time_point said_;  ///< when rank 0 last told what it works on
};

}  // namespace

void run_loop(const std::vector<LoopCase>& cases, const LoopOptions& options, RankEndpoints& endpoints,
              const PeerSet& peers, const LoopReport& report, const WatchDevice& watch) {
  if (cases.empty()) return;
  Loop(options, endpoints, peers, report, watch).run(cases);
}

}  // namespace hbench
