#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/records/fingerprint.hpp"
#include "bench/collective/machine.hpp"
#include "bench/collective/request.hpp"
#include "bench/collective/run.hpp"
#include "bench/launch/installation.hpp"
#include "bench/launch/process.hpp"
#include "bench/track/experiment.hpp"
#include "collectives/executors/executor.hpp"

namespace hbench {
namespace {

class CollectiveExperiment : public Experiment {
 public:
  explicit CollectiveExperiment(CollectiveOptions options) : options_(std::move(options)) {
    const CollectiveRequest& request = options_.request;
    std::vector<std::int64_t> tensors;
    if (!request.workload.empty())
      tensors = tensors_of(load_data().traces.load(request.workload).timeline, request.fusion, request.type);
    setup_ = look_for_programs(options_);
    plan_ = make_collective_plan(request, setup_.machine, tensors);
    // What is judged is the time in place.
    options_.loop.out_of_place = false;
  }

  void place(Run& run) override {
    for (ProcessSet& set : plan_.sets)
      for (LoopCase& each : set.cases) place_on_this_machine(each.asked, run);
  }
  std::vector<const Case*> cases() const override {
    std::vector<const Case*> cases;
    for (const ProcessSet& set : plan_.sets)
      for (const LoopCase& each : set.cases) cases.push_back(&each.asked);
    return cases;
  }
  const std::vector<Refusal>& refused() const override { return plan_.refused; }
  bool uses_gpu() const override { return std::ranges::any_of(options_.request.executors, works_on_gpu); }
  double seconds(const Launching& launching) const override {
    return launching.count * launch_seconds(chosen(launching.questions), options_.loop);
  }

  ExitCode launch(const Launching& launching, const LaunchFollower& follower) override {
    const CollectivePlan plan = chosen(launching.questions);
    RunOptions run = setup_.run;
    run.loop = options_.loop;
    run.launches = 1;
    ExitCode worst = ExitCode::good;
    std::set<std::string> failed;
    // One launch at a time, so that each is stored when it is over.
    for (int number = launching.first; number < launching.first + launching.count && !interrupted(); ++number) {
      const auto keep = [&](const CaseResult& result) {
        if (failed.contains(result.asked.question())) return;
        CaseResult addition = result;
        for (Sample& sample : addition.samples) sample.launch = number;
        if (addition.status == CaseStatus::failed) {
          failed.insert(addition.asked.question());
          worst = std::max(worst, static_cast<ExitCode>(addition.exit_code));
          follower.progress.note(fmt::format("failed: {}: {}", candidate_label(addition.asked), addition.failure));
        }
        follower.keep({addition});
      };
      run_collectives(plan, run, {.doing = [&](const std::string& what) { follower.doing(what); }, .done = keep});
      follower.progress.done(launch_seconds(plan, options_.loop));
    }
    return worst;
  }

 private:
  /// The plan of these cases only.
  CollectivePlan chosen(const std::set<std::string>& questions) const {
    CollectivePlan plan;
    for (const ProcessSet& set : plan_.sets) {
      ProcessSet kept = set;
      std::erase_if(kept.cases, [&](const LoopCase& each) {
        return !questions.empty() && !questions.contains(each.asked.question());
      });
      for (LoopCase& each : kept.cases) each.index = plan.cases++;
      if (!kept.cases.empty()) plan.sets.push_back(std::move(kept));
    }
    return plan;
  }

  CollectiveOptions options_;
  CollectiveSetup setup_;
  CollectivePlan plan_;
};

constexpr std::array<std::string_view, 14> kRefusedByCollective{"profile", "launches", "json",  "format",  "out",
                                                                "J",       "db",       "label", "dry-run", "wide",
                                                                "quiet",   "verbose",  "link",  "mpich"};

std::unique_ptr<Experiment> plan_collective(const ExperimentCall& call) {
  auto options = parse_collective_options(call);
  return options ? std::make_unique<CollectiveExperiment>(std::move(*options)) : nullptr;
}

}  // namespace

extern const ExperimentKind kCollectiveExperiment;
constinit const ExperimentKind kCollectiveExperiment{
    .name = "collective", .arguments = "collective", .refused = kRefusedByCollective, .plan = plan_collective};

}  // namespace hbench
