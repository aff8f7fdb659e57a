#include "analysis/prediction/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "analysis/prediction/rate_model.hpp"
#include "analysis/prediction/simulate.hpp"
#include "analysis/published/published.hpp"
#include "analysis/records/revision.hpp"
#include "collectives/base/file.hpp"

namespace hbench {
namespace {

/// 0 where the result has no such sample.
double value_of(const CaseResult& result, std::string_view metric) {
  for (const Sample& sample : result.samples)
    if (sample.metric == metric) return sample.value;
  return 0;
}

/// Calls `work` for `row`; an error that it throws names the place of the row in its table.
template <class Work>
void at_row(const CaseResult& row, const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    if (row.origin.empty()) throw;
    throw Error(error.code(), fmt::format("{}: {}", row.origin, error.what()), error.hint());
  }
}

/// What a published case asks, to be simulated.
Case simulated_case(const CaseResult& published) {
  Case asked = published.asked;
  asked.evidence = Evidence::simulated;
  asked.implementation = kSimulatorRevision;
  asked.single_gpu_rate = value_of(published, "baseline_throughput");
  return asked;
}

/// \throws Error (usage) for what cannot be simulated.
void require_simulable(const CaseResult& published, const Catalog& catalog, std::int64_t memory) {
  const Case& asked = published.asked;
  if (!asked.strategy.communicates())
    throw Error(ExitCode::usage, fmt::format("{} on {}: a GPU alone exchanges nothing", asked.workload, asked.profile),
                "leave out the row; its rate is the baseline_throughput of others");
  const Profile& cluster = catalog.profiles.at(asked.profile);
  std::string why = refuse_simulation(asked, catalog, memory);
  if (why.empty() && value_of(published, "baseline_throughput") == 0 && !cluster.rates.contains(asked.workload))
    why = "no rate of one GPU: the row states no baseline_throughput, and the profile has none";
  if (why.empty()) return;
  throw Error(ExitCode::usage,
              fmt::format("{} on {} GPUs of {}, {}: {}", asked.workload, asked.gpus, asked.profile,
                          asked.strategy.label(), why),
              "correct the row, or leave it out");
}

/// Seconds of a step; `rate` of one GPU, where only an efficiency is stated.
double published_step(const CaseResult& published, double rate) {
  const double batch = published.asked.batch_per_gpu;
  if (const double throughput = value_of(published, "throughput"); throughput > 0)
    return batch * published.asked.gpus / throughput;
  return batch / rate / value_of(published, "efficiency");
}

Validation validation_of(const CaseResult& published, SimulatedRunner& runner) {
  const CaseResult simulated = runner.run(simulated_case(published));
  const double step = value_of(simulated, "step_seconds");
  const double seen = published_step(published, value_of(simulated, "baseline_throughput"));
  return {.asked = published.asked,
          .published = seen,
          .predicted = step,
          .calibrated = calibrated_with(published.asked),
          .residual = {.cluster = published.asked.profile,
                       .low = value_of(simulated, "step_seconds_low"),
                       .high = value_of(simulated, "step_seconds_high"),
                       .communication = value_of(simulated, "communication_seconds") / step,
                       .seen = std::max(seen, value_of(simulated, "ledger/compute"))}};
}

}  // namespace

std::vector<CaseResult> read_published(const std::string& file) {
  std::istringstream in(read_file(file));
  return published_results(in, file);
}

Catalog catalog_of(const std::vector<CaseResult>& published, const Data& data, Catalog known) {
  const RateModel rates(data.profiles.gpus());
  for (const CaseResult& each : published)
    at_row(each, [&] {
      if (!known.profiles.contains(each.asked.profile))
        known.profiles.emplace(each.asked.profile, data.profiles.load(each.asked.profile));
      if (!known.traces.contains(each.asked.workload))
        known.traces.emplace(each.asked.workload, data.traces.load(each.asked.workload));
      take_rate(known.profiles.at(each.asked.profile), known.traces.at(each.asked.workload), rates);
    });
  return known;
}

std::vector<Validation> validate(const std::vector<CaseResult>& published, const Data& data,
                                 const SimulationMeans& means) {
  return validate(published, catalog_of(published, data), means);
}

std::vector<Validation> validate(const std::vector<CaseResult>& published, const Catalog& catalog,
                                 const SimulationMeans& means) {
  for (const CaseResult& each : published) at_row(each, [&] { require_simulable(each, catalog, means.memory); });
  SimulatedRunner runner(catalog, means.stop, ModelError{});
  std::vector<Validation> all;
  for (const CaseResult& each : published) all.push_back(validation_of(each, runner));
  return all;
}

}  // namespace hbench
