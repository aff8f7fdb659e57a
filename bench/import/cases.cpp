#include "bench/import/cases.hpp"

namespace hbench {

Case imported_case(std::string_view implementation) {
  Case asked;
  asked.evidence = Evidence::measured;
  asked.profile = kLocalProfile;
  asked.implementation = implementation;
  return asked;
}

Case imported_benchmark(std::string_view implementation, std::string name) {
  Case asked = imported_case(implementation);
  asked.benchmark = std::move(name);
  asked.strategy.overlap = false;  // it has no strategy
  return asked;
}

void ImportedCases::add(const Case& asked, std::string_view metric, std::span<const double> values,
                        std::string_view unit) {
  CaseResult& result = result_of(asked);
  if (result.status == CaseStatus::failed) return;
  int& iteration = iterations_[{result.asked.key(), std::string(metric)}];
  for (const double value : values)
    result.samples.push_back({.launch = 0,
                              .rank = 0,
                              .iteration = iteration++,
                              .warmup = false,
                              .metric = std::string(metric),
                              .value = value,
                              .unit = std::string(unit)});
}

void ImportedCases::fail(const Case& asked, std::string reason, int exit_code) {
  CaseResult& result = result_of(asked);
  if (result.status == CaseStatus::failed) return;
  result.status = CaseStatus::failed;
  result.failure = std::move(reason);
  result.exit_code = exit_code;
  result.samples.clear();
}

CaseResult& ImportedCases::result_of(const Case& asked) {
  const auto [known, is_new] = by_key_.try_emplace(asked.key(), results_.size());
  if (is_new) results_.push_back({.asked = asked, .failure = {}, .samples = {}});
  return results_[known->second];
}

std::vector<CaseResult> ImportedCases::take() { return std::exchange(results_, {}); }

}  // namespace hbench
