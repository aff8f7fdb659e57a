// What the parent of a job spends on what its ranks report: 128 ranks' lines of one launch, as mpirun tags and breaks
// them. `cores` is that time over the least time that such a launch takes (`MeasureOptions::launch_seconds`).

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "bench/launch/job_outcome.hpp"
#include "bench/sweep/measure.hpp"
#include "bench/worker/protocol.hpp"

namespace hbench {
namespace {

constexpr int kRanks = 128;

std::string tagged(int rank, const WorkerLine& line) { return fmt::format("[1,{}]<stdout>:{}", rank, to_json(line)); }

/// As they come: all ranks' steps in turn, then the spans that rank 0 says for all.
std::vector<std::string> lines_of_a_launch() {
  const MeasureOptions options;
  std::vector<std::string> lines;
  for (int rank = 0; rank < kRanks; ++rank) lines.push_back(tagged(rank, HelloLine{rank, {1000 + rank, "host", 42}}));
  for (int step = 0; step < options.warmup_steps + options.steps; ++step)
    for (int rank = 0; rank < kRanks; ++rank)
      lines.push_back(tagged(rank, StepLine{rank, step, step < options.warmup_steps, 0.123456789, 0.0123456789}));
  // ResNet-50 in some ten buckets: forward, backward, gathering, waiting, optimizer, and of each bucket three.
  for (int rank = 0; rank < kRanks; ++rank)
    for (int step = 0; step < options.traced_steps; ++step) {
      SpansLine line{.rank = rank, .iteration = step, .spans = std::vector<Span>(35)};
      for (Span& span : line.spans)
        span = {.rank = rank, .begin = Seconds(1e6), .end = Seconds(1e6 + 0.01), .bucket = 3};
      const std::string text = tagged(0, line);
      // A third of them with another rank's line in the middle.
      if (rank % 3 != 0) {
        lines.push_back(text);
        continue;
      }
      lines.push_back(text.substr(0, text.size() / 2) + tagged(1, StepLine{1, step, false, 0.1, 0.01}));
      lines.push_back("[1,0]<stdout>:" + text.substr(text.size() / 2));
    }
  for (int rank = 0; rank < kRanks; ++rank) lines.push_back(tagged(rank, DoneLine{rank, "0123456789abcdef"}));
  return lines;
}

void reports_of_128_ranks(benchmark::State& state) {
  const std::vector<std::string> lines = lines_of_a_launch();
  for (auto _ : state) {
    std::size_t parsed = 0;
    RankLines ranks([&](std::string_view line) { parsed += parse_worker_line(line).has_value() ? 1 : 0; });
    for (const std::string& line : lines) ranks.add(line);
    if (parsed < lines.size() - kRanks) state.SkipWithError("lines were lost");
  }
  const double launch = MeasureOptions().launch_seconds();
  state.counters["cores"] = benchmark::Counter(static_cast<double>(state.iterations()) * launch,
                                               benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(reports_of_128_ranks)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hbench

BENCHMARK_MAIN();
