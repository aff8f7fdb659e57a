#include "analysis/prediction/validate_rates.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace hbench {
namespace {

std::set<std::string> software_of(const std::vector<GpuRate>& rates) {
  std::set<std::string> names;
  for (const GpuRate& rate : rates) names.insert(rate.software);
  return names;
}

void validate_workload(const RateModel& model, const Profile& gpu, const Trace& trace,
                       std::vector<RateValidation>& all) {
  for (const std::string& software : software_of(gpu.stated_rates.at(trace.name)))
    for (const GpuRate* measured : telling_rates(gpu, trace.name, software)) {
      Trace asked = trace;
      if (measured->batch > 0) asked.timeline.batch = measured->batch;
      if (const auto modelled = model.modelled(gpu, asked, measured->precision, software, family_of(gpu)))
        all.push_back({gpu.gpu, trace.name, trace.cost->kind, *measured, *modelled});
    }
}

}  // namespace

bool RateValidation::is_held() const {
  return std::abs(std::log(modelled.samples_per_second / measured.samples_per_second)) <= std::log(modelled.factor);
}

std::vector<RateValidation> validate_rates(const RateModel& model, const TraceLibrary& traces) {
  std::map<std::string, Trace> known;
  std::vector<RateValidation> all;
  for (const Profile& gpu : model.gpus())
    for (const auto& [workload, rates] : gpu.stated_rates) {
      if (!known.contains(workload)) known.emplace(workload, traces.load(workload));
      if (const Trace& trace = known.at(workload); trace.cost) validate_workload(model, gpu, trace, all);
    }
  return all;
}

}  // namespace hbench
