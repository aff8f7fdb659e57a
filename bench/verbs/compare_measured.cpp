#include "bench/verbs/compare_measured.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bench/launch/process.hpp"
#include "bench/output/points_json.hpp"
#include "bench/verbs/sweep_execution.hpp"
#include "bench/verbs/sweep_results.hpp"
#include "reports/scaling/framework_comparison.hpp"

namespace hbench {
namespace {

constexpr const char* kFlags[] = {"--workload", "--gpus", "--launches", "--db"};

/// A side's frameworks, each by default and with each of its settings.
std::vector<FrameworkChoice> choices_of(const MeasuredSide& side) {
  std::vector<FrameworkChoice> choices;
  for (const Framework* framework : frameworks()) {
    if (!framework->name.starts_with(side.frameworks)) continue;
    choices.push_back({framework});
    for (const FrameworkSetting& setting : framework->settings) choices.push_back({framework, &setting});
  }
  return choices;
}

/// As `hbench sweep` takes them. On one host the network between hosts, which the profile has, does not count.
std::vector<std::string> sweep_arguments(const ReadyComparison& asked, const MeasuredComparison& how) {
  std::vector<std::string> names;
  for (const MeasuredSide& side : asked.measured)
    for (const FrameworkChoice& choice : choices_of(side)) names.push_back(choice.text());
  return {"--evidence",
          "measured,simulated",
          "--calibrate",
          "--profile",
          "hkbu-10gbe",
          "--device",
          "cpu",
          "--algorithm",
          "ring",
          "--compressor",
          "none",
          "--executor",
          "shm",
          "--fusion",
          "horovod",
          "--budget",
          "2s",
          "--more-launches",
          "0",
          "--workload",
          how.workload,
          "--gpus",
          std::to_string(how.gpus),
          "--launches",
          std::to_string(how.launches),
          "--db",
          how.database,
          "--framework",
          fmt::format("{}", fmt::join(names, ","))};
}

/// Without one framework of a side there is no answer, whatever the others take.
void require_both_sides(const ReadyComparison& asked, const FoundFrameworks& found) {
  for (const MeasuredSide& side : asked.measured) {
    const std::vector<FrameworkChoice> choices = choices_of(side);
    const auto state = [&](const FrameworkChoice& choice) { return found.find(choice.text())->second.state; };
    if (std::ranges::any_of(choices, [&](const FrameworkChoice& choice) { return state(choice).available; })) continue;
    const Availability lacking = state(choices.front());
    throw Error(ExitCode::environment, fmt::format("{} cannot be measured: {}", side.title, lacking.reason),
                lacking.cure);
  }
}

}  // namespace

void MeasuredComparison::add_options(Arguments& app) {
  app.add_flag("--measured", wanted, "measure the frameworks that are installed here, in turn with hbench's ring");
  app.add_option(kFlags[0], workload, "model that is trained, with --measured");
  app.add_option(kFlags[1], gpus, "ranks on CPU cores, with --measured", in_range(2, 1024));
  app.add_option(kFlags[2], launches, "number of independent launches of each, with --measured", in_range(1, 1000));
  app.add_option(kFlags[3], database, "results database, with --measured");
}

void MeasuredComparison::check(const Arguments& app) const {
  for (const char* flag : kFlags)
    if (app.count(flag) > 0 && !wanted)
      throw Error(ExitCode::usage, fmt::format("{} says how frameworks are measured, and nothing is", flag),
                  "add --measured, or leave it out");
}

ExitCode compare_measured(const ReadyComparison& asked, const MeasuredComparison& how, const DocumentOutput& output,
                          const std::string& command) {
  if (!asked.can_be_measured())
    throw Error(ExitCode::usage, fmt::format("{} is simulated alone", asked.name),
                "leave out --measured; hbench compare horovod-tensorflow --measured measures frameworks");
  const Call call{sweep_arguments(asked, how), command};
  SweepOptions options = parse_sweep_options(call).value();
  options.verbosity = how.verbosity;
  SweepPreparation sweep = plan_sweep(call, std::move(options));
  look_around(sweep);
  require_both_sides(asked, sweep.machine.frameworks);
  Store store(sweep.options.database);
  catch_interrupts();
  ExitCode worst = ExitCode::good;
  Plan extension;
  {
    SweepExecution execution(sweep, store, [] {});
    execution.run();
    worst = execution.worst();
    extension = execution.extension();
  }
  const ReportInput input = planned_input(sweep, extension, store, planned_results(sweep, extension, store));
  Document answer = framework_comparison(input, asked.measured);
  if (output.for_terminal()) answer.title.clear();  // the first line answers
  output.deliver(answer, [&] { return points_json(input.points); });
  return interrupted() ? ExitCode::interrupted : worst;
}

}  // namespace hbench
