#include "reports/recover/recovery.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "analysis/records/words.hpp"
#include "collectives/base/text.hpp"
#include "collectives/base/units_text.hpp"
#include "reports/rows/fields.hpp"

namespace hbench {
namespace {

std::string name_of(const RecoveryRun& run) {
  return run.policy ? std::string(to_string(*run.policy)) : "nothing is lost";
}

std::string share_text(double share) { return fmt::format("{:.0f} %", 100 * share); }
std::string seconds_text(double seconds) { return format(Seconds(seconds)); }

std::string faults_text(const std::vector<PlantedFault>& faults) {
  std::vector<std::string> texts;
  for (const PlantedFault& fault : faults) texts.push_back(fault.text());
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string end_text(const Recovery& recovery, const RecoveryRun& run) {
  if (!run.failure.empty()) return "lost";
  const std::optional<bool> same = recovery.same_bits(run);
  if (!same) return run.policy ? "ended" : "reference";
  return *same ? "same bits" : "other parameters";
}

void loss_fields(Row& row, const Loss& loss) {
  row.field("reason", loss.reason);
  row.field("at", loss.at, "seconds since the first start, of the last step before");
  row.field("steps_done", loss.done, "by then");
  row.field("steps_resumed", loss.resumed, "with which it goes on");
  row.field("ranks", loss.ranks, "that go on");
  row.field("seconds", loss.seconds, "until the next step was done");
}

void checkpoint_fields(Row& row, const KeptCheckpoint& checkpoint) {
  row.field("bytes", checkpoint.bytes, "of a rank");
  row.field("stall_seconds", checkpoint.stall, "for which a rank trained nothing");
  row.field("writing_seconds", checkpoint.writing, "to the disk, beside training");
}

void recovery_fields(Row& row, const Recovery& recovery, const RecoveryRun& run) {
  const bool lost = !run.losses.empty();
  row.field("on_failure", name_of(run)).in("on failure");
  row.field("step_seconds", run.step_before(), "median before a loss").in("step", seconds_text, 2);
  row.field("steps_lost", run.steps_lost(), "that were done again").in("steps again", [&](int steps) {
    return lost ? fmt::format("{}", steps) : "-";
  });
  row.field("seconds_lost", run.seconds_lost(), "from the last step before a loss to the next one, in all")
      .in("until the next step", [&](double seconds) { return seconds > 0 ? seconds_text(seconds) : "-"; });
  row.field("speed_after", recovery.speed_after(run), "samples/s, as a share of the undisturbed training's")
      .in("speed after", share_text, 0, "-");
  const std::optional<KeptCheckpoint> checkpoint = run.checkpoint();
  row.object("checkpoint", checkpoint, checkpoint_fields, "mean over all of all ranks")
      .in(
          "checkpoint stalls", [](const KeptCheckpoint& each) { return seconds_text(each.stall); }, 1, "-");
  row.field("checkpoints_damaged", run.damaged, "that were found so");
  row.field("ends", end_text(recovery, run), "beside the undisturbed training").in("ends");
  row.field("failure", if_stated(run.failure));
  row.rows("losses", run.losses, loss_fields);
}

/// `3.1 s and 11 steps by restart, to the same bits`
std::string cost_text(const Recovery& recovery, const RecoveryRun& run) {
  if (!run.failure.empty()) return fmt::format("all of it by {}", name_of(run));
  std::string text =
      fmt::format("{} and {} by {}", seconds_text(run.seconds_lost()), counted(run.steps_lost(), "step"), name_of(run));
  if (const std::optional<bool> same = recovery.same_bits(run))
    text += *same ? ", to the same bits" : ", to other parameters than undisturbed";
  else if (const std::optional<double> speed = recovery.speed_after(run))
    text += fmt::format(", then {} of the speed", share_text(*speed));
  return text;
}

std::string verdict(const Recovery& recovery) {
  const Case& asked = recovery.asked;
  std::string text = fmt::format("{}, {} on {} ranks, a checkpoint each {} steps: ", asked.workload,
                                 asked.strategy.label(), asked.workers(), recovery.every);
  std::vector<std::string> costs;
  for (const RecoveryRun& run : recovery.runs)
    if (run.policy && !run.losses.empty()) costs.push_back(cost_text(recovery, run));
  if (costs.empty()) return text + "no rank was lost.";
  return text + fmt::format("a lost rank costs {} (measured, faults on purpose).", fmt::join(costs, "; "));
}

/// Enough of the steps to see how they went: some of many, and those before and after a loss.
std::vector<ChartPoint> drawn_steps(const std::vector<StepSeen>& seen) {
  constexpr std::size_t kMost = 40;
  const std::size_t stride = seen.size() / kMost + 1;
  std::vector<ChartPoint> points{{.x = 0, .y = 0}};
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const bool ends = i + 1 == seen.size() || seen[i + 1].steps < seen[i].steps;
    const bool begins = i > 0 && seen[i].steps < seen[i - 1].steps;
    if (i % stride == 0 || ends || begins) points.push_back({.x = seen[i].at, .y = static_cast<double>(seen[i].steps)});
  }
  return points;
}

Chart progress_of(const Recovery& recovery) {
  Chart chart{.id = "recovery",
              .title = "Steps done over time",
              .x_title = "seconds since the ranks were started",
              .y_title = "steps done",
              .y_min = 0,
              .end_labels = true};
  for (const RecoveryRun& run : recovery.runs)
    chart.series.push_back({.label = name_of(run), .mark = Mark::measured, .points = drawn_steps(run.seen)});
  return chart;
}

/// What the figures are good for: `hbench choose`.
std::string next_step(const Recovery& recovery) {
  for (const RecoveryRun& run : recovery.runs)
    if (const auto checkpoint = run.checkpoint(); checkpoint && run.seconds_lost() > 0)
      return fmt::format(
          " What failures cost a long job: hbench choose --mtbf 50000h --checkpoint-time {:.3g}s --restart-time "
          "{:.3g}s.",
          std::max(checkpoint->stall, 0.001), run.seconds_lost() / static_cast<double>(run.losses.size()));
  return "";
}

}  // namespace

Document recovery_document(const Recovery& recovery) {
  Document document{.title = "What a lost rank costs"};
  document.blocks.emplace_back(Verdict{verdict(recovery)});
  std::vector<std::string> failures;
  for (const RecoveryRun& run : recovery.runs) {
    if (!run.failure.empty()) failures.push_back(fmt::format("{}: {}", name_of(run), run.failure));
    if (run.damaged > 0)
      failures.push_back(
          fmt::format("{}: {} damaged, and left for older ones", name_of(run), counted(run.damaged, "checkpoint")));
  }
  if (!failures.empty()) document.blocks.emplace_back(Warnings{failures});
  document.blocks.emplace_back(progress_of(recovery));
  const auto fields = [&](Row& row, const RecoveryRun& run) { recovery_fields(row, recovery, run); };
  document.blocks.emplace_back(table_of(recovery.runs, fields));
  std::string text = fmt::format(
      "Measured, with faults on purpose: {}. One training each. Until the next step: from the last step before the "
      "loss, as it was seen by hbench, with the end and the new start of all ranks. Speed: samples/s beside the "
      "undisturbed training, which has no checkpoints. Same bits: the parameters in the end are those of the "
      "undisturbed training{}.",
      faults_text(recovery.faults),
      recovery.repeatable ? "" : "; here they differ from run to run (--fusion byteps is the same each time)");
  document.blocks.emplace_back(Paragraph{text + next_step(recovery)});
  return document;
}

std::string recovery_json(const Recovery& recovery, Form form) {
  return object_text(form, "hbench recover --json", recovery, [](Row& row, const Recovery& of) {
    row.field("workload", of.asked.workload);
    row.field("strategy", of.asked.strategy.label());
    row.field("ranks", of.asked.workers());
    row.field("checkpoint_every", of.every, "steps");
    row.field("faults", faults_text(of.faults), "on purpose");
    row.rows("runs", of.runs, [&](Row& each, const RecoveryRun& run) { recovery_fields(each, of, run); });
  });
}

}  // namespace hbench
