#include "bench/worker/loop_check.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "analysis/points/collectives.hpp"
#include "bench/worker/loop_memory.hpp"
#include "collectives/base/text.hpp"

namespace hbench {

void run_out_of_place(LoopEntry& entry, std::span<const std::byte> input, Seconds timeout) {
  entry.device().copy(input, entry.buffer);
  entry.candidate->run(timeout);
}

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

}  // namespace hbench
