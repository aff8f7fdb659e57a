#include "analysis/prediction/usual_batch.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/prediction/case_memory.hpp"
#include "analysis/prediction/rate_model.hpp"
#include "collectives/base/table.hpp"
#include "collectives/network/choose.hpp"
#include "workloads/presets/preset.hpp"

namespace hbench {
namespace {

const GpuRate* rate_of(const Profile& profile, const Trace& trace) {
  const auto found = profile.rates.find(trace.name);
  return found == profile.rates.end() ? nullptr : &found->second;
}

/// Returns whether a GPU has room for a step of this many samples by one of the methods that are asked for.
bool has_room(const PredictionRequest& request, const Trace& trace, const Profile& profile, int batch,
              const Catalog& catalog) {
  const GpuRate* rate = rate_of(profile, trace);
  if (rate != nullptr && !rate->modelled && batch <= rate->batch) return true;
  TrainingStrategy strategy = strategy_of(find_entry(presets(), "ddp", "preset"), 1);
  if (names_precision(request.precision)) strategy.precision = parse_precision(request.precision);
  strategy.recomputation = request.recomputation;
  strategy.optimizer = request.optimizer;
  Case asked;
  asked.workload = trace.name;
  asked.profile = profile.name;
  asked.gpus = request.gpus.empty() ? 1 : request.gpus.back();
  asked.batch_per_gpu = batch;
  const auto fits = [&](const std::string& method) {
    strategy.method = parse_method(method == kAuto ? "fsdp" : method);
    return refuse_memory(planned(asked, strategy), catalog).empty();
  };
  return request.methods.empty() ? fits("synchronous") : std::ranges::any_of(request.methods, fits);
}

}  // namespace

int usual_batch(const PredictionRequest& request, const Trace& trace, const std::vector<std::string>& profiles,
                const Catalog& catalog, bool own) {
  const auto fits = [&](const std::string& name, int batch) {
    return has_room(request, trace, catalog.profiles.at(name), batch, catalog);
  };
  std::map<int, int> measured, modelled;  // clusters that have room, by the batch of their rate
  for (const std::string& name : profiles) {
    const Profile& profile = catalog.profiles.at(name);
    const GpuRate* rate = rate_of(profile, trace);
    if (rate == nullptr && request.rate_on(profile.gpu) == 0 && !own) continue;
    const bool known = rate != nullptr && rate->batch > 0;
    const int batch = known ? rate->batch : trace.timeline.batch;
    if (profiles.size() == 1) return batch;
    if (fits(name, batch)) ++(known && !rate->modelled ? measured : modelled)[batch];
  }
  std::tuple<int, std::ptrdiff_t, int> most{0, 0, trace.timeline.batch};  // clusters that know it, have room, samples
  for (const auto& [batch, clusters] : measured.empty() ? modelled : measured)
    most = std::max(most, std::tuple(clusters,
                                     std::ranges::count_if(
                                         profiles, [&, batch = batch](const auto& name) { return fits(name, batch); }),
                                     batch));
  return std::get<2>(most);
}

std::string title_with_batches(const Trace& trace, const std::vector<PlannedCase>& cases) {
  std::vector<std::string> batches;
  for (const Case& asked : cases)
    if (std::string batch = batch_in_words(asked);
        asked.workload == trace.name && std::ranges::find(batches, batch) == batches.end())
      batches.push_back(std::move(batch));
  return batches.empty() ? trace.title : fmt::format("{} of {}", trace.title, fmt::join(batches, " or "));
}

}  // namespace hbench
