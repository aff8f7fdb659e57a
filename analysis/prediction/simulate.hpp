#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "analysis/points/lead.hpp"
#include "analysis/points/unknowns.hpp"
#include "analysis/prediction/data.hpp"
#include "analysis/prediction/one_gpu.hpp"
#include "analysis/records/records.hpp"
#include "workloads/simulation/step_simulator.hpp"

namespace hbench {

/// Why a simulated step of this strategy does not fit in `memory` bytes, and how many GPUs do; empty when it fits.
std::string refuse_size(const World& world, const StepTimeline& timeline, const TrainingStrategy& strategy,
                        std::int64_t memory);

/// Why the model of a case cannot be shared out among the GPUs of its cluster as its method says: one sentence; empty
/// when it can. `catalog` holds what the case names.
std::string refuse_sharing(const PlannedCase& planned, const Catalog& catalog);

/// Why nobody can simulate the case in `memory` bytes: one sentence; empty when it can be. `catalog` holds what the
/// case names. \pre the case communicates.
std::string refuse_simulation(const PlannedCase& planned, const Catalog& catalog, std::int64_t memory);

/// `refuse_size` of choosing an algorithm (`--algorithm auto`) for a world of `workers`.
std::string refuse_choice(const Profile& profile, int workers, std::int64_t memory);

/// The memory that simulating the case takes at most, where that is worth counting; else 0. `catalog` as above.
std::int64_t simulation_bytes(const PlannedCase& planned, const Catalog& catalog);

/// About how long `SimulatedRunner::run` will take. `catalog` holds what the case names.
Seconds simulation_time(const PlannedCase& planned, const Catalog& catalog);
/// The same of all cases.
Seconds simulation_time(const std::vector<PlannedCase>& cases, const Catalog& catalog);

/// Returns `vgg16, 64 GPUs of aws-p3-25gbe, ring`: a simulation in words.
std::string simulation_in_words(const Case& asked);

/// By which factors a cluster's network, or of one node its links, may be slower and faster: what the profile is
/// uncertain of, and what rates of data sheets are reached by (`prior`).
struct NetworkEnds {
  double slower = 1, faster = 1;
};
NetworkEnds network_ends(const Profile& cluster, const RatePrior& prior);
/// Returns the prior of what joins this many GPUs.
RatePrior rate_prior(const Profile& cluster, int gpus);

/// A simulated step with its band.
struct SimulatedStep {
  StepTimes times;  ///< of its schedule, with the profile's figures
  /// The factor by which a framework that is named takes longer on average than its schedule (`expected_loss`): input,
  /// hosts and links, whatever the method. 1 where hbench's own engine is meant, and where the rate of the GPU is of a
  /// full node, or of a job of several GPUs: it has that in it.
  double lost = 1;
  std::vector<Span> spans;  ///< of this step
  /// With all of them better and worse by its uncertainty, and at the ends of its factors; the GPU slower and faster by
  /// the factor of its rate. All are for the stated rate: times that one GPU takes alone at the other rate, over that.
  Seconds fast, slow;
  Seconds low, high;              ///< the 90 % band that `unknowns` make of the schedule's step
  StepFacts facts;                ///< what its unknowns depend on
  std::vector<Unknown> unknowns;  ///< none of one GPU
  /// The stated step and its band without the one of them that the user knows, where that narrows it. Seconds.
  std::optional<Narrowed> narrowed = {};
  double rate = 0;         ///< samples/s of one GPU alone, at the case's batch
  double rate_factor = 1;  ///< `OneGpu::factor`

  /// What is stated.
  Seconds step() const { return times.step * lost; }

  /// For `lead_of`.
  StepEnds ends() const {
    return {.stated = step().value,
            .better = fast.value,
            .worse = slow.value,
            .exposed = share_exposed(step().value, times.alone.value),
            .servers = facts.servers,
            .coding = size_of(unknowns, UnknownKind::compressor)};
  }
};

/// `SimulatedStep::step` and its `rate`.
struct StatedStep {
  Seconds step;
  double rate = 0;
};

/// Runs simulated cases. Keeps the simulators of the last profile and worker count, so that cases are quickest
/// in the plan's order. `catalog` outlives it and holds what the cases name.
class SimulatedRunner {
 public:
  /// Asks `stop` again and again while it runs. With `rates_given` the rates of the profiles' networks are what they
  /// really carry, and not what a data sheet says; with `rates_of_jobs` the rates of GPUs are of jobs of several.
  explicit SimulatedRunner(const Catalog& catalog, StopRequested stop = {}, bool rates_given = false,
                           bool rates_of_jobs = false)
      : catalog_(catalog), stop_(std::move(stop)), rates_given_(rates_given), rates_of_jobs_(rates_of_jobs) {}
  /// `node_rate` is what all GPUs of one full node were seen to make together, in samples/s, 0: not known. It has
  /// input, PCIe and framework in it, so that a step of several nodes starts from it. GPUs are `faster` times as fast
  /// as is known of them. \throws Error (interrupted) when a stop was requested; later runs are as good as if this one
  /// had never been.
  SimulatedStep step(const PlannedCase& planned, double node_rate = 0, double faster = 1);
  /// Only what `step` states, without its band: mostly in a third of the time. \throws as `step`.
  StatedStep stated(const PlannedCase& planned, double node_rate = 0);
  /// The same as samples. \throws as `step`.
  CaseResult run(const PlannedCase& planned);

 private:
  /// What the simulations of one case have in common.
  struct Setting {
    const PlannedCase& planned;
    OneGpu rate;
    double slowed;              ///< the factor by which GPUs are slower in a full node; 1: not known
    TrainingStrategy strategy;  ///< with what its compressor was measured to take on the cluster
    World world;
    double faster = 1;  ///< GPUs, than is known of them
  };
  /// Returns whether a framework loses time beside its schedule (`SimulatedStep::lost`).
  bool loses(const Setting& setting) const {
    return setting.planned.asked.gpus > 1 && setting.strategy.preset != nullptr && setting.slowed == 1 &&
           !rates_of_jobs_;
  }
  Setting setting_of(const PlannedCase& planned, double node_rate);
  SimulatedStep step(const Setting& setting);
  StepTimes simulated(const Setting& setting, End end, double network_slower = 1, double gpu_faster = 1,
                      std::vector<Span>* spans = nullptr);
  StepSimulator& simulator(const std::string& profile_name, const World& world, End end, const Preset* preset);
  /// With the rate of the preset's servers; null: no preset.
  const Profile& profile(const std::string& name, End end, const Preset* preset);
  double slowed_by_node(const PlannedCase& planned, double node_rate);
  double slowed_by_known_node(const PlannedCase& planned);
  StepFacts facts_of(const Setting& setting, const SimulatedStep& step) const;

  const Catalog& catalog_;
  StopRequested stop_;
  bool rates_given_, rates_of_jobs_;
  std::string last_profile_;
  int last_workers_ = 0;
  std::map<std::tuple<std::string, End, const Preset*>, Profile> varied_;         ///< by name, end and whose servers
  std::shared_ptr<ConcurrentPlans> plans_ = std::make_shared<ConcurrentPlans>();  ///< of the last profile
  /// Of the last profile and worker count, by servers, co-location, group, end and whose servers.
  std::map<std::tuple<int, bool, int, End, const Preset*>, StepSimulator> simulators_;
};

}  // namespace hbench
