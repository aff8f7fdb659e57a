#include <fmt/format.h>

#include <algorithm>

#include "analysis/import/format.hpp"
#include "analysis/points/tracked_metric.hpp"
#include "analysis/records/fingerprint.hpp"
#include "bench/launch/process.hpp"
#include "bench/track/experiment.hpp"
#include "bench/track/tracked_command.hpp"

namespace hbench {
namespace {

/// The fixed part of `Case::implementation`, before the name of the entry: by it a stored case is known as a command's.
constexpr std::string_view kImplementation = "command ";

/// A program of the project, whose cases are those that it prints: they are known once it has run.
class CommandExperiment : public Experiment {
 public:
  explicit CommandExperiment(TrackedCommand command)
      : command_(std::move(command)), implementation_(fmt::format("{}{}", kImplementation, command_.name)) {}

  void place(Run& run) override { run_ = &run; }
  std::vector<const Case*> cases() const override {
    std::vector<const Case*> all;
    for (const Case& each : cases_) all.push_back(&each);
    return all;
  }
  const std::vector<Refusal>& refused() const override { return refused_; }
  bool uses_gpu() const override { return false; }
  double seconds(const Launching&) const override { return 0; }

  void remember(const std::vector<CaseResult>& earlier) override {
    for (const CaseResult& result : earlier)
      if (result.asked.implementation == implementation_) know(result.asked);
  }

  ExitCode launch(const Launching& launching, const LaunchFollower& follower) override {
    const auto asked_for = [&](const Case& each) {
      return launching.questions.empty() || launching.questions.contains(each.question());
    };
    if (!launching.questions.empty() && std::ranges::none_of(cases_, asked_for)) return ExitCode::good;
    build(follower);
    for (int number = launching.first; number < launching.first + launching.count && !interrupted(); ++number) {
      follower.doing(fmt::format("launch {}", number + 1));
      CommandLaunch launch = launch_command(command_.run, command_.timeout);
      if (interrupted()) break;
      if (launch.code != ExitCode::good) return fail(launch, number == launching.first, asked_for, follower);
      for (CaseResult& result : launch.cases) adopt(result, number);
      std::erase_if(launch.cases, [&](const CaseResult& result) { return !asked_for(result.asked); });
      if (!launch.cases.empty()) follower.keep(launch.cases);
    }
    return ExitCode::good;
  }

 private:
  /// Once, however often launches are asked for.
  void build(const LaunchFollower& follower) {
    if (command_.build.text.empty() || built_) return;
    follower.doing("building");
    const CommandLaunch done = run_command(command_.build, command_.timeout);
    if (done.code != ExitCode::good && !interrupted()) throw Error(ExitCode::environment, done.reason, done.said);
    built_ = !interrupted();
  }

  /// A first launch that cannot be understood is a mistake in the file; what fails later is a failure of its cases.
  ExitCode fail(const CommandLaunch& launch, bool first, const auto& asked_for, const LaunchFollower& follower) {
    if (first && launch.code == ExitCode::usage) throw Error(launch.code, launch.reason, launch.said);
    follower.progress.note(launch.said.empty() ? launch.reason : fmt::format("{}: {}", launch.reason, launch.said));
    if (cases_.empty()) know(imported_benchmark(implementation_, command_.name));
    std::vector<CaseResult> failed;
    for (const Case& each : cases_)
      if (asked_for(each))
        failed.push_back({.asked = each,
                          .status = CaseStatus::failed,
                          .failure = launch.reason,
                          .exit_code = static_cast<int>(launch.code)});
    follower.keep(failed);
    return launch.code;
  }

  /// Gives a case that was printed its place among those of the project.
  void adopt(CaseResult& result, int number) {
    Case& asked = result.asked;
    if (asked.is_benchmark() && asked.benchmark != command_.name)
      asked.benchmark = fmt::format("{} {}", command_.name, asked.benchmark);
    asked = know(asked);
    for (Sample& sample : result.samples) sample.launch = number;
    const std::string unit = tracked_metric(result).unit;
    const auto [known, is_new] = units_.try_emplace(asked.question(), unit);
    if (known->second == unit || result.status == CaseStatus::failed) return;
    throw Error(ExitCode::usage,
                fmt::format("{}: launch {} prints {} in {}, and one before it in {}", command_.run.name, number + 1,
                            asked.benchmark, unit, known->second),
                "let each launch print the same unit");
  }

  /// Returns it as a case of this machine.
  const Case& know(const Case& asked) {
    const auto [known, is_new] = index_.try_emplace(asked.question(), cases_.size());
    if (is_new) {
      Case& placed = cases_.emplace_back(asked);
      placed.implementation = implementation_;
      if (run_ != nullptr) place_on_this_machine(placed, *run_);
    }
    return cases_[known->second];
  }

  TrackedCommand command_;
  std::string implementation_;
  Run* run_ = nullptr;  ///< of which its cases will be; not owned
  bool built_ = false;
  std::vector<Case> cases_;
  std::map<std::string, std::size_t> index_;  ///< of each case, by question
  std::map<std::string, std::string> units_;  ///< by question
  std::vector<Refusal> refused_;
};

std::unique_ptr<Experiment> plan_command(const ExperimentCall& call) {
  auto command = parse_tracked_command(call);
  return command ? std::make_unique<CommandExperiment>(std::move(*command)) : nullptr;
}

}  // namespace

extern const ExperimentKind kCommandExperiment;
constinit const ExperimentKind kCommandExperiment{
    .name = kCommandKind, .arguments = "", .takes_lists = false, .plan = plan_command};

}  // namespace hbench
