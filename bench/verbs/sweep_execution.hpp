#pragma once

/// A sweep while its cases run.
///
/// What a sweep has stored, as reports take it.

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "analysis/store/store.hpp"
#include "bench/output/console.hpp"
#include "bench/verbs/sweep_preparation.hpp"
#include "reports/report.hpp"

namespace hbench {

/// Runs what no earlier run has finished and stores each result when it is known: Ctrl-C and a crash lose one case at
/// most.
class SweepExecution {
 public:
  /// `sweep` and `store` outlive it. `early` is called once where minutes of measuring follow what was simulated.
  SweepExecution(const SweepPreparation& sweep, Store& store, std::function<void()> early);

  /// Simulates, measures, emulates, and predicts nodes like this machine. \throws Error.
  void run();

  /// Returns what the calibration added to the plan; empty without one.
  const Plan& extension() const { return extension_; }
  /// Returns the worst end of the launches of this run.
  ExitCode worst() const { return worst_; }

 private:
  using Cases = std::vector<const PlannedCase*>;

  /// Whether another run has answered: the same question, place and code.
  bool is_finished(const Case& asked) const { return finished_.contains(answer_key(asked, sweep_.run.producer())); }
  /// The cases of a plan that are not finished and that `chosen` takes.
  template <class Chosen>
  Cases left(const Plan& plan, Chosen chosen) const {
    Cases cases;
    for (const PlannedCase& each : plan.cases)
      if (!is_finished(each) && std::invoke(chosen, each.asked)) cases.push_back(&each);
    return cases;
  }
  void announce(std::size_t left);
  void note_refusals(const std::vector<Refusal>& refused);
  void simulate(const SweepPlan& plan, const Cases& cases);
  void measure(const Cases& cases);
  void emulate_all(const SweepPlan& plan, const Cases& cases);
  void extend();
  void emulate_extension();

  const SweepPreparation& sweep_;
  Store& store_;
  std::function<void()> early_;
  std::set<std::string> finished_;  ///< keys of answers
  Cases simulated_, emulated_, measured_;
  Progress progress_;
  std::int64_t run_ = 0;
  SweepPlan extension_;
  ExitCode worst_ = ExitCode::good;
};

/// Returns the results of the plan and of `extension` (what a calibration added), whichever run they come from.
std::vector<CaseResult> planned_results(const SweepPreparation& sweep, const Plan& extension, const Store& store);

/// Returns the points of such results, with the titles of their profiles and workloads.
ReportInput planned_input(const SweepPreparation& sweep, const Plan& extension, const Store& store,
                          const std::vector<CaseResult>& results);

}  // namespace hbench
