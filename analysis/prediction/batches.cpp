#include "analysis/prediction/batches.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// Why a global batch cannot be shared out in equal parts, of which `unit` samples are one for each GPU; with the
/// nearest that can.
std::string not_whole(std::int64_t global, int workers, std::int64_t unit, const std::string& unit_in_words) {
  const std::int64_t below = global / unit * unit;
  const std::string nearest =
      below > 0 ? fmt::format("{} and {} are", below, below + unit) : fmt::format("the least is {}", unit);
  return fmt::format("a global batch of {} is no multiple of {} {}: {}", global, counted(workers, "GPU"), unit_in_words,
                     nearest);
}

GpuBatch share_of_global(const PredictionRequest& request, int workers) {
  const std::int64_t global = request.global_batch;
  const std::int64_t parts = std::max(request.accumulate, 1), batch = std::max(request.batch, 1);
  // With micro-batches of a size that was asked for, their number follows.
  const bool both = request.batch > 0 && request.accumulate > 0;
  const std::int64_t unit = workers * (both ? parts * batch : request.batch > 0 ? batch : parts);
  if (both && global != unit)
    return {.why_not = fmt::format("{} with {} micro-batches of {} samples make a global batch of {}, not {}",
                                   counted(workers, "GPU"), parts, batch, unit, global)};
  if (global % unit != 0) {
    const std::string of = request.batch > 0 ? fmt::format("with micro-batches of {}", batch)
                           : parts > 1       ? fmt::format("with {} micro-batches", parts)
                                             : std::string("with one batch each");
    return {.why_not = not_whole(global, workers, unit, of)};
  }
  const std::int64_t accumulate = request.batch > 0 ? global / (workers * batch) : parts;
  return {.batch = static_cast<int>(global / workers), .accumulate = accumulate > 1 ? static_cast<int>(accumulate) : 0};
}

}  // namespace

GpuBatch gpu_batch(const PredictionRequest& request, int workers, int usual) {
  if (request.global_batch > 0) return share_of_global(request, workers);
  const std::int64_t batch = request.batch > 0 ? request.batch : usual;
  const std::int64_t all = batch * std::max(request.accumulate, 1);
  constexpr std::int64_t kMost = 1'000'000;
  if (all > kMost)
    return {.why_not = fmt::format("{} micro-batches of {} samples are more than {} on one GPU", request.accumulate,
                                   batch, kMost)};
  return {.batch = static_cast<int>(all), .accumulate = request.accumulate > 1 ? request.accumulate : 0};
}

std::string batches_in_words(const PredictionRequest& request) {
  const std::string parts =
      request.accumulate > 1
          ? fmt::format("{} micro-batches per step, whose gradients travel together", request.accumulate)
          : std::string();
  if (request.global_batch == 0) return parts.empty() ? "" : "weak scaling; " + parts;
  return fmt::format("strong scaling: {} samples a step at every GPU count{}{}", request.global_batch,
                     parts.empty() ? "" : "; ", parts);
}

}  // namespace hbench
