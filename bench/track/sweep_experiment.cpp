#include <algorithm>
#include <array>

#include "analysis/records/fingerprint.hpp"
#include "bench/launch/installation.hpp"
#include "bench/sweep/measured_cases.hpp"
#include "bench/sweep/measured_place.hpp"
#include "bench/sweep/options.hpp"
#include "bench/sweep/plan.hpp"
#include "bench/track/experiment.hpp"
#include "workloads/libtorch.hpp"

namespace hbench {
namespace {

class SweepExperiment : public Experiment {
 public:
  explicit SweepExperiment(SweepOptions options) : options_(std::move(options)) {
    options_.request.evidence = {Evidence::measured};
    options_.measure.program = installation().worker.string();
    options_.measure.more = 0;
    LocalMachine machine = local_machine(options_.oversubscribe);
    for (const OwnModel& model : options_.request.own_models) machine.limits.models.push_back(model.name());
    if (const Availability training = training_availability(); machine.no_training.empty() && !training.available)
      machine.no_training = training.in_words();
    plan_ = make_plan(options_.request, load_data(), machine);
  }

  void place(Run& run) override {
    for (PlannedCase& each : plan_.cases) place_on_this_machine(each.asked, run);
  }
  std::vector<const Case*> cases() const override { return chosen({}); }
  const std::vector<Refusal>& refused() const override { return plan_.refused; }
  bool uses_gpu() const override {
    return std::ranges::any_of(plan_.cases, [](const Case& asked) { return asked.training.on_gpu(); });
  }
  double seconds(const Launching& launching) const override {
    return static_cast<double>(chosen(launching.questions).size()) * launching.count *
           options_.measure.launch_seconds();
  }

  ExitCode launch(const Launching& launching, const LaunchFollower& follower) override {
    MeasureOptions options = options_.measure;
    options.launches = launching.count;
    // Further launches of a few cases are compared with earlier runs, and need no baseline of their step beside them.
    const std::vector<PlannedCase> nothing;
    const std::vector<PlannedCase>& beside = launching.questions.empty() ? plan_.cases : nothing;
    return measure_cases(beside, chosen(launching.questions), options, launching.first, follower);
  }

 private:
  std::vector<const Case*> chosen(const std::set<std::string>& questions) const {
    std::vector<const Case*> cases;
    for (const Case& asked : plan_.cases)
      if (questions.empty() || questions.contains(asked.question())) cases.push_back(&asked);
    return cases;
  }

  SweepOptions options_;
  Plan plan_;
};

constexpr std::array<std::string_view, 14> kRefusedBySweep{
    "evidence", "calibrate", "no-calibrate", "launches", "more-launches", "db",    "report",
    "label",    "resume",    "dry-run",      "json",     "wide",          "quiet", "verbose"};

std::unique_ptr<Experiment> plan_sweep(const ExperimentCall& call) {
  auto options = parse_sweep_options(call);
  return options ? std::make_unique<SweepExperiment>(std::move(*options)) : nullptr;
}

}  // namespace

extern const ExperimentKind kSweepExperiment;
constinit const ExperimentKind kSweepExperiment{
    .name = "sweep", .arguments = "", .refused = kRefusedBySweep, .plan = plan_sweep};

}  // namespace hbench
