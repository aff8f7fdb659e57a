#include "reports/learn/learning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "analysis/records/words.hpp"
#include "collectives/base/units_text.hpp"
#include "reports/rows/fields.hpp"

namespace hbench {
namespace {

/// `93.1 % (92.6 to 93.6)`; one launch has no interval.
std::string band_text(const LaunchMean& mean, double units, fmt::format_string<double> number, std::string_view unit) {
  const auto text = [&](double value) { return fmt::format(number, value * units); };
  return fmt::format("{}{}{}", text(mean.value), unit,
                     mean.low < mean.high ? fmt::format(" ({} to {})", text(mean.low), text(mean.high)) : "");
}

std::string seconds_band(const LaunchMean& mean) {
  if (mean.value < 120) return band_text(mean, 1, "{:.3g}", " s");
  return mean.value < 7200 ? band_text(mean, 1.0 / 60, "{:.3g}", " min") : band_text(mean, 1.0 / 3600, "{:.3g}", " h");
}

std::string accuracy_band(const LaunchMean& mean) { return band_text(mean, 100, "{:.1f}", " %"); }

std::string points_band(const LaunchMean& mean) { return band_text(mean, 100, "{:+.1f}", ""); }

std::string kept_text(const Learning& learning, const LearnedCase& learned) {
  if (learned.kept) return std::string(to_string(*learned.kept));
  return learned.difference ? "one launch" : learning.reference(learned.asked) == &learned ? "reference" : "-";
}

std::string label_of(const LearnedCase& learned) {
  return learned.asked.strategy.communicates() ? learned.asked.strategy.label() : "alone";
}

/// `ring on 4 ranks`
std::string who_is(const LearnedCase& learned) {
  const int ranks = learned.asked.workers();
  return learned.asked.strategy.communicates() ? fmt::format("{} on {} ranks", label_of(learned), ranks)
                                               : "one rank alone";
}

std::string wanted_text(double accuracy) { return fmt::format("{:.4g} %", 100 * accuracy); }

void mean_fields(Row& row, const LaunchMean& mean) {
  row.field("mean", mean.value);
  row.field("low", mean.low, "95 % over launches");
  row.field("high", mean.high);
}

void elsewhere_fields(Row& row, const LearnedElsewhere& there) {
  row.field("profile", there.profile);
  row.object("step_seconds", there.step, mean_fields, "simulated; the ends are those of the 90 % band");
  row.object("seconds_to_target", there.seconds, mean_fields, "measured steps, each as long");
}

/// The network on which steps are simulated as well; empty where there is none.
std::string network_of(const Learning& learning) {
  for (const LearnedCase& each : learning.cases)
    if (each.elsewhere) return each.elsewhere->profile;
  return "";
}

void elsewhere_columns(Row& row, const LearnedCase& learned, const Learning& learning) {
  const std::string network = network_of(learning);
  if (network.empty()) return;
  const auto& there = learned.elsewhere;
  row.number(fmt::format("step on {}", network), there ? format(Seconds(there->step.value)) : "-", 1);
  if (learning.wanted > 0)
    row.number(fmt::format("to {} there", wanted_text(learning.wanted)),
               there && there->seconds ? seconds_band(*there->seconds) : "-", 1);
}

/// ` On NAME (simulated) ring + topk:0.01 is 1.9 times as fast per step as ring, and 0.7 times to 90 %.`: the quickest
/// step there beside that of synchronous training; empty where nothing is simulated.
std::string verdict_elsewhere(const Learning& learning) {
  const LearnedCase* quickest = nullptr;
  for (const LearnedCase& each : learning.cases) {
    const bool other = each.elsewhere && learning.reference(each.asked) != &each && each.difference;
    if (other && (quickest == nullptr || each.elsewhere->step.value < quickest->elsewhere->step.value))
      quickest = &each;
  }
  const LearnedCase* reference = quickest != nullptr ? learning.reference(quickest->asked) : nullptr;
  if (reference == nullptr || !reference->elsewhere) return "";
  const LearnedElsewhere &there = *quickest->elsewhere, &as = *reference->elsewhere;
  std::string text = fmt::format(" On {} (simulated) {} is {:.2g} times as fast per step as {}", there.profile,
                                 label_of(*quickest), as.step.value / there.step.value, label_of(*reference));
  if (there.seconds && as.seconds)
    text +=
        fmt::format(", and {:.2g} times to {}", as.seconds->value / there.seconds->value, wanted_text(learning.wanted));
  else if (learning.wanted > 0 && as.seconds)
    text += fmt::format(", and does not reach {} in every launch", wanted_text(learning.wanted));
  return text + ".";
}

void epoch_fields(Row& row, const LearnedEpoch& epoch) {
  row.field("seconds", epoch.seconds, "since the first step");
  row.field("steps", epoch.steps);
  row.field("accuracy", epoch.accuracy, "of samples that it was not trained on");
  row.field("loss", epoch.loss);
}

void case_fields_of(Row& row, const LearnedCase& learned, const Learning& learning) {
  const auto launches = static_cast<int>(learned.launches.size());
  const auto when_reached = [&](const Field<std::optional<LaunchMean>>& field, const std::string& title,
                                std::string (*text)(const LaunchMean&), int priority, const std::string& absent = "-") {
    if (learning.wanted > 0) field.in(title, text, priority, absent);
  };
  row.field("strategy", label_of(learned)).in("strategy");
  row.field("workload", learned.asked.workload);
  row.field("data", learned.asked.training.data);
  row.field("ranks", learned.asked.workers()).in("ranks");
  row.field("batch_per_rank", learned.asked.batch_per_gpu);
  row.field("launches", launches).in("launches", 3);
  row.field("samples_per_second", learned.samples_per_second, "median step")
      .in(
          "samples/s", [](double rate) { return fmt::format("{:.0f}", rate); }, 2);
  row.field("reached", learned.reached, "launches that were as accurate as wanted");
  when_reached(row.object("seconds_to_target", learned.seconds, mean_fields, "where all launches reached it"),
               "time to " + wanted_text(learning.wanted), seconds_band, 0,
               fmt::format("{} of {} launches", learned.reached, launches));
  when_reached(
      row.object("epochs_to_target", learned.epochs, mean_fields), "epochs",
      [](const LaunchMean& mean) { return fmt::format("{:.3g}", mean.value); }, 1);
  when_reached(
      row.object("bytes_to_target", learned.bytes, mean_fields, "that a worker sends"), "bytes",
      [](const LaunchMean& mean) { return format(Bytes(mean.value)); }, 2);
  row.object("accuracy", learned.accuracy, mean_fields, "in the end").in("accuracy", accuracy_band);
  row.object("difference", learned.difference, mean_fields, "to synchronous training, launch by launch")
      .in("points", points_band, 1, "-");
  row.field("kept", kept_text(learning, learned), "the accuracy of synchronous training, within a point")
      .in("accuracy is");
  row.object("elsewhere", learned.elsewhere, elsewhere_fields, "as many steps on another network");
  elsewhere_columns(row, learned, learning);
  const std::vector<LearnedEpoch> curve = learned.curve();
  row.rows("epochs", curve, epoch_fields, "means over launches");
}

std::string job_in_words(const Learning& learning) {
  const Case& asked = learning.cases.front().asked;
  return fmt::format("{} on {}, {}, {} epochs", asked.workload, asked.training.data, batch_in_words(asked),
                     asked.training.epochs);
}

/// ` Lost: ring + topk:0.01; ring + sign and 2 more.`: cases whose accuracy is so; empty where there are none.
std::string all_that(const Learning& learning, AccuracyKept kept, std::string_view title) {
  std::vector<std::string> labels;
  for (const LearnedCase& each : learning.cases)
    if (each.kept == kept) labels.push_back(label_of(each));
  return labels.empty() ? "" : fmt::format(" {}: {}.", title, some_of(labels, 3, "; "));
}

std::string verdict(const Learning& learning) {
  const LearnedCase& first = learning.cases.front();
  std::string text = job_in_words(learning) + ": ";
  const std::string who = who_is(first);
  if (learning.wanted > 0 && !first.seconds)
    text += fmt::format("nothing is {} accurate in every launch; the nearest is {}: {}.", wanted_text(learning.wanted),
                        who, accuracy_band(first.accuracy));
  else if (learning.wanted > 0)
    text += fmt::format("{} is {} accurate first, after {}.", who, wanted_text(learning.wanted),
                        seconds_band(*first.seconds));
  else
    text += fmt::format("{} is the most accurate: {}.", who, accuracy_band(first.accuracy));
  const LearnedCase* reference = learning.reference(first.asked);
  if (first.seconds && reference != nullptr && reference != &first)
    text += reference->seconds ? fmt::format(" Synchronous {} takes {:.2g} times as long.", label_of(*reference),
                                             reference->seconds->value / first.seconds->value)
                               : fmt::format(" Synchronous {} is so in {} of {} launches.", label_of(*reference),
                                             reference->reached, reference->launches.size());
  return text + verdict_elsewhere(learning) + all_that(learning, AccuracyKept::lost, "Accuracy is lost by") +
         all_that(learning, AccuracyKept::not_known, "Not known");
}

Chart curves(const Learning& learning, const std::string& id, const std::string& x_title,
             const std::function<double(const LearnedCase&, const LearnedEpoch&)>& x) {
  Chart chart{.id = "accuracy-" + id,
              .title = "Accuracy over " + x_title,
              .x_title = x_title,
              .y_title = "accuracy",
              .y_percent = true,
              .end_labels = true};
  for (const LearnedCase& each : learning.cases) {
    Series series{.label = who_is(each), .mark = Mark::measured};
    for (const LearnedEpoch& epoch : each.curve()) series.points.push_back({.x = x(each, epoch), .y = epoch.accuracy});
    if (!series.points.empty() && series.points.back().x > 0) chart.series.push_back(std::move(series));
  }
  if (learning.wanted > 0)
    chart.lines.push_back({.label = "at least " + wanted_text(learning.wanted), .at = learning.wanted});
  return chart;
}

}  // namespace

Document learning_document(const Learning& learning) {
  Document document{.title = "What is learned, how fast"};
  document.blocks.emplace_back(Verdict{verdict(learning)});
  document.blocks.emplace_back(
      curves(learning, "time", "seconds", [](const LearnedCase&, const LearnedEpoch& epoch) { return epoch.seconds; }));
  document.blocks.emplace_back(
      curves(learning, "bytes", "MB that a rank has sent", [](const LearnedCase& learned, const LearnedEpoch& epoch) {
        return epoch.steps * learned.step_bytes.value_or(0) / 1e6;
      }));
  const auto fields = [&](Row& row, const LearnedCase& learned) { case_fields_of(row, learned, learning); };
  document.blocks.emplace_back(table_of(learning.cases, fields, {.caption = "The quickest first"}));
  const std::string network = network_of(learning);
  const std::string elsewhere =
      network.empty() ? ""
                      : fmt::format(
                            " On {} nothing is measured: as many steps as here, each as long as it is simulated "
                            "of nodes like this machine on that network.",
                            network);
  document.blocks.emplace_back(Paragraph{
      "Measured. Each launch has parameters and an order of samples of its own, the same for all strategies. Ranges "
      "are 95 % intervals of the mean over launches. Looking at the accuracy is not timed. Kept: all of the interval "
      "of the difference to synchronous training is above -1 point; lost: it is below 0 and reaches further; not "
      "known: more launches would tell (--launches)." +
      elsewhere});
  return document;
}

std::string learning_json(const Learning& learning, Form form) {
  return object_text(form, "hbench learn --json", learning, [](Row& row, const Learning& of) {
    row.field("wanted_accuracy", if_positive(of.wanted));
    row.rows("cases", of.cases, [&](Row& each, const LearnedCase& learned) { case_fields_of(each, learned, of); });
  });
}

std::vector<ToolFigure> learned_figures(const Learning& learning) {
  std::vector<ToolFigure> figures;
  for (const LearnedCase& learned : learning.cases) {
    Launch accuracies, seconds;
    for (const LearnedLaunch& launch : learned.launches) {
      accuracies.push_back(launch.accuracy);
      const LearnedEpoch* there = launch.first_with(learning.wanted);
      if (learned.seconds && there != nullptr) seconds.push_back(there->seconds);
    }
    const std::string who = fmt::format("{} {}", learned.asked.workload, who_is(learned));
    figures.push_back({who + " accuracy", "accuracy", false, std::move(accuracies)});
    if (!seconds.empty())
      figures.push_back({fmt::format("{} to {}", who, wanted_text(learning.wanted)), "s", true, std::move(seconds)});
  }
  return figures;
}

}  // namespace hbench
