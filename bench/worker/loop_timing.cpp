#include "bench/worker/loop_timing.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <set>
#include <string>

#include "analysis/points/collectives.hpp"
#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/base/file.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// Of all streams together, as `OnePass` claims it at once.
constexpr std::size_t kBlockBytes = 256 << 10;
constexpr std::size_t kCacheLine = 64;

/// `32768K` in bytes; 0 for what is none.
std::size_t size_of_text(const std::string& text) {
  std::size_t value = 0, digits = 0;
  for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits)
    value = 10 * value + static_cast<std::size_t>(text[digits] - '0');
  return text.substr(digits) == "K" ? value << 10 : text.substr(digits) == "M" ? value << 20 : value;
}

using Clock = std::chrono::steady_clock;

/// Timed iterations when nobody asks for a number: enough for a median, few enough to be kept one by one.
constexpr int kFewestIterations = 5, kMostIterations = 400;
/// One iteration that takes longer than the whole budget is repeated so often, and needs no warming up.
constexpr int kOfSlow = 3;
constexpr int kCodings = 5;
/// Passes over memory of the bound that are timed together.
constexpr int kPasses = 4;
/// From which size on, and from how many times the last-level caches: what a cache holds is not bound by memory.
constexpr std::size_t kBoundFrom = 64 << 20;
constexpr std::size_t kTimesCaches = 4;

/// Copies the input into the entry's buffer and runs the collective there.
void run_out_of_place(LoopEntry& entry, std::span<const std::byte> input, Seconds timeout) {
  entry.device().copy(input, entry.buffer);
  entry.candidate->run(timeout);
}

}  // namespace

void LoopCheck::check(LoopEntry& entry) {
  memory_.put_input(entry, entry.buffer);
  agreement_.meet();
  entry.candidate->run(options_.timeout);
  entry.void_in_place = is_wrong(entry, metric::kInPlaceWrong);
  if (!options_.out_of_place) return;
  const std::span<std::byte> input = memory_.input(entry);
  memory_.put_input(entry, input);
  memory_.put(entry, entry.buffer, [](std::span<std::byte> buffer) { std::ranges::fill(buffer, std::byte{0x5a}); });
  agreement_.meet();
  run_out_of_place(entry, input, options_.timeout);
  entry.void_out_of_place = is_wrong(entry, metric::kOutOfPlaceWrong);
}

/// All ranks' wrong elements. Ranks that agree on the sum must have the same bits, lossy or not.
bool LoopCheck::is_wrong(LoopEntry& entry, std::string_view metric) {
  std::int64_t wrong = entry.lossy ? wrong_lossy(entry) : count_wrong(pattern_of(entry), rank_, memory_.content(entry));
  wrong = agreement_.total(wrong);
  entry.add_figure(metric, static_cast<double>(wrong), "elements");
  return wrong > 0;
}

std::int64_t LoopCheck::wrong_lossy(LoopEntry& entry) {
  const Case& asked = entry.of->asked;
  const bool worker = rank_ < asked.gpus, first = rank_ == 0;
  // Upper and lower half apart: a double holds 32 bits exactly, but not 64.
  const std::span<std::byte> result = memory_.content(entry);
  const std::uint64_t bits = worker ? digest(result) : 0;
  const std::vector<double> mine{static_cast<double>(bits >> 32), static_cast<double>(bits & 0xffffffff)};
  const auto all = agreement_.gather(mine);
  std::int64_t unlike = 0;
  for (int other = 0; first && other < asked.gpus; ++other) unlike += all[static_cast<std::size_t>(other)] != mine;
  Closeness close;
  if (worker) close = closeness(parse_reduce_op(asked.collective.operation), asked.gpus, as_floats(result));
  const std::optional<double> allowed = allowed_error(entry.candidate->compressor(), asked.gpus);
  const bool far = !(close.relative_error <= allowed.value_or(INFINITY));
  if (first && std::ranges::none_of(entry.figures, [](const Sample& s) { return s.metric == metric::kCosine; })) {
    entry.add_figure(metric::kRelativeError, std::isnan(close.relative_error) ? INFINITY : close.relative_error, "1");
    entry.add_figure(metric::kCosine, std::isnan(close.cosine) ? 0 : close.cosine, "1");
  }
  const std::int64_t elements = std::ssize(as_floats(result));
  return far || unlike > 0 ? elements : 0;
}

void MemoryPass::read(std::span<std::byte> buffer, std::size_t streams) { pass(buffer, streams, false); }
void MemoryPass::rewrite(std::span<std::byte> buffer, std::size_t streams) { pass(buffer, streams, true); }

void MemoryPass::pass(std::span<std::byte> buffer, std::size_t streams, bool writes) {
  const std::size_t part = buffer.size() / streams / kCacheLine * kCacheLine;
  const std::size_t block = std::max(kBlockBytes / streams / kCacheLine, std::size_t{1}) * kCacheLine;
  small_.resize(block);
  std::vector<const std::byte*> sources(streams);
  std::vector<std::byte*> targets(writes ? streams : 1, small_.data());
  for (std::size_t begin = 0; begin < part; begin += block) {
    for (std::size_t stream = 0; stream < streams; ++stream) {
      sources[stream] = buffer.data() + stream * part + begin;
      if (writes) targets[stream] = buffer.data() + stream * part + begin;
    }
    combine(DataType::uint8, ReduceOp::sum, sources, targets, std::min(block, part - begin), 1);
  }
}

std::size_t last_level_cache_bytes(const std::filesystem::path& cpus) {
  // Cores that share a cache name it by the same list of cores. Deeper levels count, not the sum of all.
  std::map<int, std::set<std::pair<std::string, std::size_t>>> by_level;
  std::error_code status;
  for (const auto& cpu : std::filesystem::directory_iterator(cpus, status)) {
    if (!cpu.path().filename().string().starts_with("cpu")) continue;
    for (const auto& index : std::filesystem::directory_iterator(cpu.path() / "cache", status)) {
      const std::string level = first_line(index.path() / "level");
      if (level.empty() || level.find_first_not_of("0123456789") != std::string::npos) continue;
      by_level[std::stoi(level)].emplace(first_line(index.path() / "shared_cpu_list"),
                                         size_of_text(first_line(index.path() / "size")));
    }
  }
  std::size_t bytes = 0;
  if (!by_level.empty())
    for (const auto& [cores, size] : by_level.rbegin()->second) bytes += size;
  return bytes;
}

/// What really travelled in some runs, from the busiest rank.
void LoopTiming::note_traffic(LoopEntry& entry, std::int64_t bytes, int runs) {
  const double sent = agreement_.largest(static_cast<double>(bytes));
  if (sent <= 0 || runs == 0) return;
  entry.add_figure(metric::kWireBytes, sent / runs, "B");
  if (entry.lossy) entry.add_figure(metric::kPlainWireBytes, static_cast<double>(entry.candidate->plain_bytes()), "B");
}

/// By a candidate of its own, because its clock takes time.
void LoopTiming::time_coding(LoopEntry& entry) {
  CodecTimes times;
  Candidate timed(entry.of->asked, entry.of->tensors, {*entry.endpoint, entry.buffer, nullptr, &times});
  for (int i = -1; i < kCodings; ++i) {
    memory_.put_normal(entry, entry.buffer);
    times = {};
    agreement_.meet();
    timed.run(options_.timeout);
    entry.add_time(metric::kEncode, times.encode.value, i < 0);
    entry.add_time(metric::kDecode, times.decode.value, i < 0);
  }
}

/// Puts data to be timed into the buffers. On GPUs varied data, since hardware is faster on zeros; sums in place grow
/// from there. Elsewhere, where time does not depend on data, what repeating the collective leaves as it is.
void LoopTiming::prepare(LoopEntry& entry) {
  const Case& asked = entry.of->asked;
  const bool product = asked.collective.operation == "product";
  if (entry.lossy) return memory_.put_normal(entry, memory_.input(entry));
  if (!entry.in_host_memory()) {
    memory_.put_input(entry, entry.buffer);
    if (options_.out_of_place) memory_.put_input(entry, memory_.input(entry));
    return;
  }
  Device& device = entry.device();
  device.fill_neutral(DataType::uint8, ReduceOp::sum, entry.buffer);
  if (product) device.fill_neutral(parse_data_type(asked.collective.data_type), ReduceOp::product, entry.buffer);
  if (options_.out_of_place) device.copy(entry.buffer, memory_.input(entry));
  synchronize(entry.device());
}

bool LoopTiming::has_bound(const LoopEntry& entry) const {
  return entry.endpoint->shares_memory() && is_ours(entry.of->asked) && !entry.void_in_place &&
         entry.bytes() >= kBoundFrom &&
         entry.bytes() * static_cast<std::size_t>(home_.transport().size()) >= kTimesCaches * caches_;
}

bool LoopTiming::timed(const LoopEntry& entry, std::string_view metric) const {
  if (!entry.runs()) return false;
  if (metric == metric::kInPlace) return !entry.void_in_place;
  if (metric == metric::kOutOfPlace) return options_.out_of_place && !entry.void_out_of_place;
  return has_bound(entry);
}

/// One iteration of this rank.
double LoopTiming::iterate(LoopEntry& entry, std::string_view metric) {
  working_(entry, false);
  // A lossy collective in place would eat its own result: begin with real data each time, together.
  if (entry.lossy && metric == metric::kInPlace) {
    entry.device().copy(memory_.input(entry), entry.buffer);
    synchronize(entry.device());
    agreement_.meet();
  }
  const auto begin = Clock::now();
  if (metric == metric::kInPlace || metric == metric::kOutOfPlace) options_.delay.sleep(home_.transport().rank());
  if (metric == metric::kInPlace)
    entry.candidate->run(options_.timeout);
  else if (metric == metric::kOutOfPlace)
    run_out_of_place(entry, memory_.input(entry), options_.timeout);
  else
    return pass_together(entry, metric == metric::kBound);
  return seconds_since(begin);
}

/// All ranks read their own buffer, or read it and write it back, which is what a collective in shared memory must at
/// least do with the buffers of all together: with its kernels, in one stream or in as many as it has, whichever this
/// memory serves faster. From a common beginning to the last one's end, or ranks that share a core would each count
/// their own turn only. \pre has_bound(entry)
double LoopTiming::pass_together(LoopEntry& entry, bool writes) {
  const std::size_t streams = entry.passes++ % 2 == 0 ? static_cast<std::size_t>(home_.transport().size()) : 1;
  agreement_.meet();
  const auto begin = Clock::now();
  for (int i = 0; i < kPasses; ++i)
    writes ? memory_pass_.rewrite(entry.buffer, streams) : memory_pass_.read(entry.buffer, streams);
  agreement_.meet();
  return seconds_since(begin) / kPasses;
}

void LoopTiming::warm_up(LoopEntry& entry) {
  prepare(entry);
  if (!timed(entry, metric::kInPlace) && !timed(entry, metric::kOutOfPlace)) return;
  const std::string_view way = timed(entry, metric::kInPlace) ? metric::kInPlace : metric::kOutOfPlace;
  agreement_.meet();
  double last = 0;
  const std::int64_t before = entry.endpoint->byte_counts().sent();
  int runs = 0;
  while (runs < options_.warmups && !entry.slow) {
    entry.add_time(way, last = iterate(entry, way), true);
    // Asked once: asking takes longer than small collectives.
    if (runs++ == 0) entry.slow = agreement_.largest(last) > options_.budget.value;
  }
  note_traffic(entry, entry.endpoint->byte_counts().sent() - before, runs);
  entry.iterations = options_.iterations;
  if (entry.iterations > 0) return;
  const double slowest = agreement_.largest(last);
  const double fewest = entry.slow ? kOfSlow : kFewestIterations;
  entry.iterations =
      static_cast<int>(std::clamp(options_.budget.value / std::max(slowest, 1e-9), fewest, double{kMostIterations}));
}

void LoopTiming::time(std::vector<LoopEntry>& entries, int turns) {
  for (int turn = 0; turn < turns; ++turn) {
    for (LoopEntry& entry : entries) {
      working_(entry, true);
      const int begin = entry.iterations * turn / turns, end = entry.iterations * (turn + 1) / turns;
      for (const std::string_view metric : {metric::kInPlace, metric::kOutOfPlace, metric::kBound, metric::kBoundRead})
        if (timed(entry, metric)) time_block(entry, metric, end - begin);
    }
    std::ranges::reverse(entries);
  }
  if (turns % 2 == 1) std::ranges::reverse(entries);
}

/// The first one brings the caches and the ranks together, and is not counted, unless it would take too long.
void LoopTiming::time_block(LoopEntry& entry, std::string_view metric, int iterations) {
  if (iterations == 0) return;
  const GpuState before = look(entry);
  prepare(entry);  // another candidate may have used the memory
  agreement_.meet();
  for (int i = entry.slow ? 0 : -1; i < iterations; ++i) entry.add_time(metric, iterate(entry, metric), i < 0);
  if (!entry.in_host_memory()) entry.looks.add(metric, iterations, before, look(entry));
}

GpuState LoopTiming::look(const LoopEntry& entry) {
  if (entry.in_host_memory() || !watch_) return {};
  const auto [found, added] = watches_.try_emplace(&entry.device());
  if (added) found->second = watch_(entry.device());
  return found->second ? found->second->sample() : GpuState();
}

}  // namespace hbench
