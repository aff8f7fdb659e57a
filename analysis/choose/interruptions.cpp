#include "analysis/choose/interruptions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/prediction/case_memory.hpp"
#include "analysis/prediction/request.hpp"

namespace hbench {
namespace {

/// The mean time until a node that is bought as spot is taken back: of H100 nodes 10 to 20 % were within 30 days (AWS's
/// Spot Instance Advisor in May 2025).
constexpr double kUsualEviction = 4'400;
/// A node writes as many bytes/s to storage that many share: bursts of checkpoints of 63 nodes reached 16 % of 250 GB/s
/// (arXiv:2605.09370).
constexpr double kWrittenByNode = 0.16 * 250e9 / 63;
/// A seller tells the hours before it takes a node back: those of Azure and Google Cloud; AWS has two minutes.
constexpr double kNotice = 30.0 / 3600;

bool is_spot(const Profile& cluster) { return cluster.price && cluster.price->model == PurchaseModel::spot; }

/// The hours in which the parameters and the optimizer's numbers are written once: by all nodes where a method shares
/// them out, else by one.
double checkpoint_hours(const PlannedCase& job, const StepPlan& plan, const Catalog& catalog) {
  const Profile& cluster = catalog.profiles.at(job.asked.profile);
  NumberBytes bytes = number_bytes_of(job.asked, catalog);
  bytes.copies = false;  // made anew from what is written
  const StepMemory memory =
      step_memory(catalog.traces.at(job.asked.workload), 1, bytes, Recomputation::none, job.strategy.optimizer);
  const bool shared_out = sharded(plan).optimizer || !job.strategy.method.division.none();
  const double rate = std::min(kWrittenByNode, cluster.node_rate().value);
  return (memory.weights + memory.optimizer).value / rate / (shared_out ? cluster.nodes_of(job.asked.gpus) : 1) / 3600;
}

}  // namespace

double parse_flag_hours(std::string_view text, std::string_view flag, std::string_view example) {
  return parse_flag_amount(text, flag, {{"h", 1}, {"min", 1.0 / 60}, {"d", 24}, {"s", 1.0 / 3600}}, example);
}

std::optional<FailureAssumptions> parse_failures(const FailureTexts& texts) {
  if ((texts.mtbf + texts.checkpoint_time + texts.restart_time + texts.spot).empty()) return std::nullopt;
  FailureAssumptions failures;
  const auto take = [](const std::string& text, std::string_view flag, std::string_view example, auto& hours) {
    if (!text.empty() && text != "usual") hours = parse_flag_hours(text, flag, example);
  };
  take(texts.mtbf, "--mtbf", "55000h", failures.mtbf);
  if (failures.mtbf < 1.0 / 60)
    throw Error(ExitCode::usage, fmt::format("--mtbf {}: a GPU that fails each minute trains nothing", texts.mtbf),
                "give hours of one GPU between two failures, such as 55000h");
  take(texts.checkpoint_time, "--checkpoint-time", "30s", failures.checkpoint);
  take(texts.restart_time, "--restart-time", "11min", failures.restart);
  if (!texts.spot.empty()) failures.eviction = kUsualEviction;
  take(texts.spot, "--spot", "180d", failures.eviction);
  const bool known = !texts.mtbf.empty() && texts.mtbf != "usual" && texts.spot != "usual";
  if (known) failures.mtbf_factor = 1;
  return failures;
}

Interruptions interruptions_of(const FailureAssumptions& assumed, const Point& point, const Catalog& catalog) {
  const PlannedCase job = planned(point.asked);
  const Profile& cluster = catalog.profiles.at(point.asked.profile);
  const StepPlan plan = job.strategy.method.plan(job.strategy.overlap);
  const int apart = iterations_apart(plan);
  const int gpus = apart > 0 ? job.strategy.method.division.ranks() : point.asked.gpus;
  Interruptions by{.failures = gpus / assumed.mtbf, .restart = assumed.restart, .factor = assumed.mtbf_factor};
  if (apart > 0)
    by.interval = apart * point.step_seconds / 3600;
  else
    by.checkpoint = assumed.checkpoint ? *assumed.checkpoint : checkpoint_hours(job, plan, catalog);
  const double evictions = is_spot(cluster) && assumed.eviction > 0 ? cluster.nodes_of(gpus) / assumed.eviction : 0;
  (apart == 0 && by.checkpoint <= kNotice ? by.evictions : by.failures) += evictions;
  return by;
}

std::vector<Doubt> doubts_of_failures(const FailureAssumptions& assumed, const Alternative& alternative,
                                      const Profile& cluster) {
  const Interruptions& by = alternative.pace->by;
  std::vector<Doubt> doubts;
  if (by.factor > 1)
    doubts.push_back(
        {fmt::format("how often GPUs fail: once in {:.0f} h of one, within a factor of {:g}", assumed.mtbf, by.factor),
         "the failures of some months there, as --mtbf"});
  if (!assumed.checkpoint && by.checkpoint > 0)
    doubts.push_back({fmt::format("a checkpoint takes {:.2g} s if storage takes {:.2g} GB/s of each node that writes",
                                  by.checkpoint * 3600, kWrittenByNode / 1e9),
                      "one checkpoint there, as --checkpoint-time"});
  if (is_spot(cluster) && assumed.eviction == 0)
    doubts.push_back({"how often the seller takes nodes back: taken for never", "the mean time until then, as --spot"});
  return doubts;
}

}  // namespace hbench
