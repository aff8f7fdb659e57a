#pragma once

/// What is predicted: the simulated (and emulated) cases of clusters, as an ordered list. Pure.
///
/// A plan is the product of the lists that were given, less the pairs that cannot be; each of those is named with its
/// reason. Lists that were not given have defaults that make a good first sweep.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/prediction/case_strategy.hpp"
#include "analysis/prediction/data.hpp"
#include "analysis/prediction/rate_model.hpp"
#include "analysis/prediction/request.hpp"

namespace hbench {

struct Plan {
  Catalog catalog;
  std::vector<PlannedCase> cases;     ///< measured, then emulated, then simulated
  std::vector<CaseResult> published;  ///< within the range asked for
  std::vector<Refusal> refused;
};

/// What this machine allows of a plan.
struct PlanLimits {
  std::int64_t memory = INT64_MAX;       ///< bytes that a simulation or an emulation can take
  std::string no_emulation = {};         ///< why no cluster can be emulated here; empty where one can
  std::vector<std::string> models = {};  ///< workloads that are known although they have no timeline
};

/// Returns what `request` asks of clusters. \throws Error (usage) for a name that nothing knows, and when nothing is
/// left to do.
Plan plan_predictions(const PredictionRequest& request, const Data& data, const PlanLimits& limits);

/// Builds a plan: every method adds to it or to its refusals. The parameters outlive it.
class PlanBuilder {
 public:
  /// \throws Error (usage) for a name that nothing knows.
  PlanBuilder(const PredictionRequest& request, const Data& data, const PlanLimits& limits);

  /// Adds a case with its strategy, unless it is there or cannot be; then the reason is kept.
  void add(Case asked, const TrainingStrategy& strategy);
  /// Adds a case of this machine as it stands, unless it is there.
  void add(PlannedCase planned);
  /// Adds what the request's evidence has of clusters: emulated and simulated cases, and published figures.
  void add_predictions();

  void refuse(std::string what, std::string why) { hbench::refuse(plan_.refused, std::move(what), std::move(why)); }
  /// Refuses what the machine cannot do, rather than what cannot be anywhere.
  void lacks(std::string what, std::string why);
  std::vector<Refusal>& refused() { return plan_.refused; }

  /// Gives a case its batch: of a published figure, or of the request, where a micro-batch has `usual` samples if
  /// nobody asked for others. False: it cannot be, and is refused.
  bool set_batch(Case& asked, int published, int usual);

  /// \throws Error (usage, environment) when nothing is left to do.
  Plan finish();

 private:
  void add_clusters(Evidence evidence);
  void add_strategies(Evidence evidence, const std::string& trace, const std::string& profile, int gpus);
  void add_published();
  std::string add_profile(const std::string& name_or_file);
  std::string add_trace(const std::string& name_or_file);
  void note_unused_rates(const std::string& file);
  void check_names() const;
  void check_gpu_rates() const;
  int gpus_per_domain(const Case& asked) const;
  bool is_on_cluster(const Case& asked) const;
  bool fits(const Case& asked, const TrainingStrategy& strategy, const World& world);
  const std::string& auto_rule(const std::string& profile, int gpus);
  std::string refuse_emulated(const Case& asked, const TrainingStrategy& strategy, const World& world) const;
  void add_on_cluster(Evidence evidence, const std::string& trace, const std::string& profile, int gpus,
                      TrainingStrategy strategy, int batch = 0);
  void add_as_recorded(Evidence evidence, const std::string& trace, const std::string& profile, int gpus,
                       TrainingStrategy strategy);
  bool is_of_another_gpu(const Trace& trace, const Profile& profile) const;
  std::vector<std::string> default_profiles() const;
  int batch_of(const Trace& trace);
  bool in_range(const Case& figure) const;
  [[noreturn]] void nothing_left() const;

  const PredictionRequest& request_;
  const Data& data_;
  const PlanLimits& limits_;
  RateModel rates_;
  std::vector<std::string> profiles_, traces_;                     ///< asked for, by their names in the catalog
  std::set<std::string, std::less<>> own_traces_;                  ///< from files of the user's
  std::map<std::string, std::string, std::less<>> trace_digests_;  ///< of the catalog's, by name
  std::set<std::string> keys_;                                     ///< of the planned cases
  /// GPU counts, by algorithm with compressor and by reason.
  std::map<std::pair<std::string, std::string>, std::set<int>> unsuited_;
  std::map<std::pair<std::string, int>, std::string> auto_rules_;  ///< by profile and GPUs
  std::map<std::string, int, std::less<>> usual_batches_;          ///< by workload
  bool machine_lacks_ = false;
  Plan plan_;
};

/// Whether a case is one of a profile's cluster that is emulated here, and not one of this machine on slowed links.
bool is_of_emulated_cluster(const Case& asked, const Catalog& catalog);

}  // namespace hbench
