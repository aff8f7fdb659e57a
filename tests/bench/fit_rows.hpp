#pragma once

// Steps of a cluster, as published and as they would be measured on another.

#include <stdexcept>
#include <string_view>
#include <vector>

#include "analysis/fit/fit_profile.hpp"
#include "analysis/prediction/data.hpp"
#include "analysis/prediction/validate.hpp"
#include "analysis/published/published.hpp"

namespace hbench {

inline constexpr const char* kCluster = "hkbu-10gbe";

/// Published steps of the cluster, on `gpus` GPUs at most, as if hbench's own engine had made them: what a framework
/// loses beside takes three simulations of a step in place of one.
inline std::vector<CaseResult> rows_up_to(int gpus) {
  std::vector<CaseResult> rows;
  for (const CaseResult& row : published_results())
    if (row.asked.profile == kCluster && row.asked.gpus <= gpus && row.asked.workload != "bert_large")
      rows.push_back(row);
  for (CaseResult& row : rows) row.asked.strategy.preset.clear();
  return rows;
}

/// The rows as they would be measured on `profile`.
inline std::vector<CaseResult> measured_on(const Profile& profile, std::vector<CaseResult> rows, const Data& data) {
  Catalog catalog;
  catalog.profiles.emplace(kCluster, profile);
  for (const CaseResult& row : rows)
    catalog.traces.try_emplace(row.asked.workload, data.traces.load(row.asked.workload));
  const std::vector<Validation> steps = validate(rows, catalog);
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (Sample& sample : rows[i].samples)
      if (sample.metric == "throughput")
        sample.value = rows[i].asked.batch_per_gpu * rows[i].asked.gpus / steps[i].predicted;
  return rows;
}

inline const FittedParameter& parameter_of(const FittedProfile& fitted, std::string_view name) {
  for (std::size_t i = 0; i < fitted.fit.priors.size(); ++i)
    if (fitted.fit.priors[i].name == name) return fitted.fit.parameters[i];
  throw std::out_of_range(std::string(name));
}

}  // namespace hbench
