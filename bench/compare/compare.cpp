// `hbench compare NAME --measured`: a comparison of frameworks, answered by measuring those that are installed here.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "analysis/compare/compare.hpp"
#include "bench/command/arguments.hpp"
#include "bench/command/common_options.hpp"
#include "bench/command/program.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/document_output.hpp"
#include "bench/output/feature.hpp"
#include "bench/output/points.hpp"
#include "bench/sweep/prediction_options.hpp"
#include "bench/verbs/sweep_execution.hpp"
#include "collectives/base/text.hpp"
#include "reports/compare/comparison.hpp"

namespace hbench {
namespace {

/// How it is measured: the arguments of the sweep.
struct MeasuredComparison {
  bool wanted = false;
  std::string workload = "resnet18";
  int gpus = 2;  ///< ranks, on CPU cores
  int launches = 5;
  std::string database = "hbench.db";
  Verbosity verbosity = Verbosity::usual;

  /// Adds `--measured` and the flags that go with it.
  void add_options(Arguments& app);
  /// \throws Error (usage) where one of these was given without `--measured`; after `app.parse`.
  void check(const Arguments& app) const;
};

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
  const auto same = words_of(
      "--evidence measured,simulated --calibrate --profile hkbu-10gbe --device cpu --algorithm ring --compressor none "
      "--executor shm --fusion horovod --budget 2s --more-launches 0");
  std::vector<std::string> arguments(same.begin(), same.end());
  for (const auto& [flag, value] : {std::pair("--workload", how.workload),
                                    {"--gpus", std::to_string(how.gpus)},
                                    {"--launches", std::to_string(how.launches)},
                                    {"--db", how.database},
                                    {"--framework", fmt::format("{}", fmt::join(names, ","))}})
    arguments.insert(arguments.end(), {flag, value});
  return arguments;
}

/// Returns the side of which nothing is installed here; none where both can be compared. \throws Error (environment)
/// where neither can.
std::optional<Refusal> missing_side(const ReadyComparison& asked, const FoundFrameworks& found) {
  std::optional<Refusal> missing;
  std::string reasons, cures;
  for (const MeasuredSide& side : asked.measured) {
    const std::vector<FrameworkChoice> choices = choices_of(side);
    const auto state = [&](const FrameworkChoice& choice) { return found.find(choice.text())->second.state; };
    if (std::ranges::any_of(choices, [&](const FrameworkChoice& choice) { return state(choice).available; })) continue;
    const Availability lacking = state(choices.front());
    const char* between = missing ? "; " : "";
    reasons += fmt::format("{}{} cannot be measured: {}", between, side.title, lacking.reason);
    cures += fmt::format("{}for {}: {}", between, side.title, lacking.cure);
    if (missing) throw Error(ExitCode::environment, reasons, cures);
    missing = {std::string(side.title), lacking.in_words()};
  }
  return missing;
}

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

/// Measures all frameworks of both sides and hbench's ring in turn, simulates their presets on nodes like this machine,
/// and delivers the answer. Results are stored as those of a sweep. \throws Error (usage) for a comparison that cannot
/// be measured, (environment) where nothing of either side is installed.
ExitCode compare_measured(const ReadyComparison& asked, const MeasuredComparison& how, const DocumentOutput& output,
                          const std::string& command) {
  if (!asked.can_be_measured())
    throw Error(ExitCode::usage, fmt::format("{} is simulated alone", asked.name),
                "leave out --measured; hbench compare horovod-tensorflow --measured measures frameworks");
  const Call call{sweep_arguments(asked, how), command};
  SweepOptions options = parse_sweep_options(call).value();
  options.verbosity = how.verbosity;
  SweepPreparation sweep = plan_sweep(call, std::move(options));
  const std::optional<Refusal> missing = missing_side(asked, sweep.machine.frameworks);
  if (missing && how.verbosity != Verbosity::quiet)
    inform("hbench: {} is not measured: {}\n", missing->what, missing->why);
  Store store(sweep.options.database);
  catch_interrupts();
  const ExitCode worst = run_cases(sweep, store, {});
  const ReportInput input = planned_input(sweep, store, planned_results(sweep, store));
  Document answer = framework_comparison(input, asked.measured, missing);
  if (output.for_terminal()) answer.title.clear();  // the first line answers
  output.deliver(answer, [&] { return points_json(input.points); });
  return interrupted() ? ExitCode::interrupted : worst;
}

ExitCode run_compare(const Call& call) {
  std::string name;
  DocumentOutput output;
  MeasuredComparison measured;
  Arguments app(
      "Answers a comparison that is often asked for, by simulation, beside what was published of it, or by measuring "
      "frameworks on this machine.",
      "hbench compare");
  std::string footer = "Comparisons:\n";
  for (const ReadyComparison& each : ready_comparisons())
    footer += fmt::format("  {:20} {}\n", each.name, each.summary);
  app.footer(footer +
             "Examples:\n  hbench compare horovod-tensorflow\n  hbench compare v100-25-100 --out v100.html\n"
             "Frameworks measured here, in turn with hbench's ring: hbench compare horovod-tensorflow --measured");
  app.add_option("comparison", name, "which one: hbench list comparisons");
  measured.add_options(app);
  output.add_options(app);
  add_verbosity(app, measured.verbosity);
  if (app.parse(call)) return ExitCode::good;
  if (name.empty()) {
    fmt::print("{}", app.help());
    return ExitCode::good;
  }
  const ReadyComparison& asked = find_comparison(name);
  measured.check(app);
  output.check();
  if (measured.wanted) return compare_measured(asked, measured, output, call.command);
  const ComparisonAnswer answer = predicted(
      measured.verbosity, [&](const Data& data, const SimulationMeans& means) { return compare(asked, data, means); });
  output.deliver(comparison_document(answer), [&] { return comparison_json(answer); });
  return ExitCode::good;
}

/// An answer with what its description looks up.
ComparisonAnswer described_comparison() {
  ComparisonAnswer answer;
  answer.asked = &ready_comparisons().front();
  answer.labels[""] = "";
  return answer;
}

Table comparison_table(const Data&) {
  return table_of(ready_comparisons(), [](Row& row, const ReadyComparison& entry) {
    row.words("comparison", entry.name);
    row.words("what", entry.summary);
    row.words("frameworks", entry.presets);
    row.words("workloads", entry.workloads);
    row.words("GPUs", entry.gpus);
  });
}

constexpr Verb kCompare{
    .name = "compare", .summary = "answer a comparison that is often asked for", .place = 6, .run = run_compare};
constexpr std::array kCompareVerbs{&kCompare};
constexpr std::array kCompareSchemas{
    PublishedSchema{"compare-1", [] { return comparison_json(described_comparison(), Form::schema); }},
};
constexpr std::array kCompareListings{
    Listing{"comparisons", "questions that hbench compare answers", comparison_table}};

}  // namespace

extern const Feature kCompareFeature;
constinit const Feature kCompareFeature{
    .verbs = kCompareVerbs, .schemas = kCompareSchemas, .listings = kCompareListings};

}  // namespace hbench
