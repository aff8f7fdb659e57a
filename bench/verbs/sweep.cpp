#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>

#include "bench/command/program.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/console.hpp"
#include "bench/output/points.hpp"
#include "bench/output/reporting.hpp"
#include "bench/verbs/sweep_execution.hpp"
#include "bench/verbs/sweep_preparation.hpp"
#include "reports/formats/formats.hpp"
#include "reports/formats/text_table.hpp"
#include "reports/report.hpp"

namespace hbench {
namespace {

/// The report and the answer on the terminal, of what is stored by now.
class SweepAnswer {
 public:
  SweepAnswer(const SweepPreparation& sweep, const Store& store) : sweep_(sweep), store_(store) {}

  /// Before the `last` time, only a person is answered. Returns the worst end of all that is shown.
  ExitCode publish(bool last) {
    const std::vector<CaseResult> results = planned_results(sweep_, store_);
    const ReportInput input = planned_input(sweep_, store_, results);
    const Document report = kScalingReport.build(input);
    write_report_folder(report, sweep_.options.report);
    if (!sweep_.options.json) {
      print(summary(input.points, report));
      if (!last) std::fflush(stdout);  // the last time run_program does, and says what has failed
    } else if (last) {
      fmt::print("{}", points_json(input.points));
    }
    ExitCode worst = ExitCode::good;
    for (const CaseResult& result : results)
      if (result.status == CaseStatus::failed) worst = std::max(worst, static_cast<ExitCode>(result.exit_code));
    return worst;
  }

 private:
  /// All of it the first time, then what has come since.
  void print(Document answer) {
    const Document whole = answer;
    std::erase_if(answer.blocks,
                  [&](const Block& block) { return printed_.contains(text_of({.blocks = {block}}, kAnyWidth)); });
    for (const Block& block : whole.blocks) printed_.insert(text_of({.blocks = {block}}, kAnyWidth));
    fmt::print("{}", terminal_text(answer, sweep_.options.wide));
    fmt::print("\nReport: {}\nResults: {}\n", (sweep_.options.report / "index.html").string(),
               sweep_.options.database.string());
  }

  const SweepPreparation& sweep_;
  const Store& store_;
  std::set<std::string> printed_;  ///< blocks of the answer, as text
};

ExitCode report_interruption(const SweepOptions& options) {
  inform(
      "hbench: interrupted; every finished case is in {} and in the report\n  the same command with --resume "
      "does the rest\n",
      options.database.string());
  return ExitCode::interrupted;
}

ExitCode run_sweep(const Call& call) {
  auto options = parse_sweep_options(call);
  if (!options) return ExitCode::good;
  SweepPreparation sweep = plan_sweep(call, std::move(*options));
  if (sweep.options.dry_run) {
    fmt::print("{}", plan_in_words(sweep));
    return ExitCode::good;
  }
  check_report_folder(sweep.options.report);
  Store store(sweep.options.database);
  catch_interrupts();
  SweepAnswer answer(sweep, store);
  ExitCode worst = run_cases(sweep, store, [&] { answer.publish(false); });
  worst = std::max(worst, answer.publish(true));
  return interrupted() ? report_interruption(sweep.options) : worst;
}

}  // namespace

extern const Verb kSweep;
constinit const Verb kSweep{
    .name = "sweep",
    .summary = "sweep GPU counts: measure here, simulate the rest, compare with what was published",
    .place = 1,
    .starts_ranks = true,
    .run = run_sweep,
};

}  // namespace hbench
