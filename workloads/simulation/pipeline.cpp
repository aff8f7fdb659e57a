#include "workloads/simulation/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace hbench {
namespace {

constexpr Seconds kNotDone(-1);

/// The k-th forward pass of a stage: as many micro-batches as there are stages go through a chunk before the next.
PipelinePass forward_pass(int k, const ModelDivision& division) {
  const int round = division.stages * division.chunks;
  return {.forward = true,
          .chunk = k % round / division.stages,
          .micro_batch = k / round * division.stages + k % division.stages};
}

PipelinePass backward_pass(int k, const ModelDivision& division) {
  PipelinePass pass = forward_pass(k, division);
  pass.forward = false;
  pass.chunk = division.chunks - 1 - pass.chunk;
  return pass;
}

/// Walks all stages together.
class Walk {
 public:
  Walk(const ModelDivision& division, const PipelineTimes& times)
      : division_(division),
        times_(times),
        parts_(division.stages * division.chunks),
        forward_(static_cast<std::size_t>(parts_ * division.micro_batches), kNotDone),
        backward_(forward_) {}

  std::vector<std::vector<TimedPass>> run() {
    std::vector<std::vector<PipelinePass>> orders;
    for (int stage = 0; stage < division_.stages; ++stage) orders.push_back(passes_of(stage, division_));
    std::vector<std::vector<TimedPass>> done(orders.size());
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (std::size_t stage = 0; stage < orders.size(); ++stage)
        while (done[stage].size() < orders[stage].size() &&
               take(static_cast<int>(stage), orders[stage][done[stage].size()], done[stage]))
          goes_on = true;
    }
    return done;
  }

 private:
  Seconds& end_of(bool forward, int part, int micro_batch) {
    return (forward ? forward_ : backward_)[static_cast<std::size_t>(part * division_.micro_batches + micro_batch)];
  }

  /// When its input is there; none as long as nobody has made it.
  std::optional<Seconds> input_of(const PipelinePass& pass, int part) {
    if (pass.forward && part == 0) return Seconds(0);
    if (!pass.forward && part + 1 == parts_) {
      const Seconds own = end_of(true, part, pass.micro_batch);
      return own == kNotDone ? std::nullopt : std::optional(own);
    }
    const Seconds made = end_of(pass.forward, pass.forward ? part - 1 : part + 1, pass.micro_batch);
    return made == kNotDone ? std::nullopt : std::optional(made + times_.transfer);
  }

  /// Adds the next pass of a stage, if its input is known.
  bool take(int stage, const PipelinePass& pass, std::vector<TimedPass>& done) {
    const int part = pass.chunk * division_.stages + stage;
    const std::optional<Seconds> input = input_of(pass, part);
    if (!input) return false;
    const Seconds begin = std::max(*input, done.empty() ? Seconds(0) : done.back().end);
    const Seconds end = begin + (pass.forward ? times_.forward : times_.backward)[static_cast<std::size_t>(part)];
    done.push_back({pass, begin, end});
    end_of(pass.forward, part, pass.micro_batch) = end;
    return true;
  }

  const ModelDivision& division_;
  const PipelineTimes& times_;
  int parts_;
  std::vector<Seconds> forward_, backward_;  ///< ends, by part and micro-batch
};

}  // namespace

std::vector<PipelinePass> passes_of(int stage, const ModelDivision& division) {
  const int all = division.micro_batches * division.chunks, behind = division.stages - stage - 1;
  const int ahead = division.chunks == 1 ? behind : 2 * behind + (division.chunks - 1) * division.stages;
  const int first = std::min(ahead, all);  // forward passes before the first backward pass
  std::vector<PipelinePass> order;
  for (int k = 0; k < all + first; ++k) {
    if (k < all) order.push_back(forward_pass(k, division));
    if (k >= first) order.push_back(backward_pass(k - first, division));
  }
  return order;
}

std::vector<std::vector<TimedPass>> run_pipeline(const ModelDivision& division, const PipelineTimes& times) {
  return Walk(division, times).run();
}

Lanes drawn(const ModelDivision& division) {
  constexpr int kWidth = 71, kUnit = 2;  // columns
  const auto parts = static_cast<std::size_t>(division.stages * division.chunks);
  const PipelineTimes times{std::vector(parts, Seconds(1)), std::vector(parts, Seconds(2)), Seconds(0)};
  Lanes lanes{.notes = {"F, B: forward and backward pass of a micro-batch, by the last digit of its place."}};
  for (const std::vector<TimedPass>& passes : run_pipeline(division, times)) {
    Lanes::Row row{.name = fmt::format("stage {}", lanes.rows.size())};
    for (const auto& [pass, begin, end] : passes) {
      Lanes::Box box{.begin = kUnit * static_cast<int>(begin.value),
                     .end = kUnit * static_cast<int>(end.value),
                     .text = fmt::format("{}{}", pass.forward ? "F" : "B", pass.micro_batch % 10)};
      if (box.end > kWidth) break;
      row.boxes.push_back(std::move(box));
    }
    lanes.rows.push_back(std::move(row));
  }
  return lanes;
}

}  // namespace hbench
