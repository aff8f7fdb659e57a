#include "reports/fit/fits.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <set>

#include "analysis/records/words.hpp"
#include "analysis/statistics/statistics.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

/// Predicted over published throughputs, less 1, of logarithms of predicted over published seconds.
std::vector<double> throughput_errors(const std::vector<double>& log_errors) {
  std::vector<double> errors;
  for (const double error : log_errors) errors.push_back(std::exp(-error) - 1);
  return errors;
}

/// What puts steps together; they are left out together.
using GroupOf = std::string (*)(const Case& asked);

std::vector<double> left_out(const FittedProfile& fitted, const std::vector<std::string>& groups) {
  return throughput_errors(fitted.fit.left_out(groups));
}

std::vector<std::string> groups_by(const FittedProfile& fitted, GroupOf group_of) {
  std::vector<std::string> groups;
  for (const CaseResult& row : fitted.rows) groups.push_back(group_of(row.asked));
  return groups;
}

/// How far throughputs of the steps are off, in the order of the rows.
struct FitErrors {
  std::vector<double> before, after;
  std::vector<double> without;  ///< each with figures that are fitted to all other steps
};

FitErrors errors_of(const FittedProfile& fitted) {
  return {throughput_errors(fitted.fit.before), throughput_errors(fitted.fit.after),
          throughput_errors(fitted.left_out)};
}

/// A figure of a profile before and after its fit.
struct FittedFigure {
  std::string key, before, after;
  FittedParameter parameter;
};

std::vector<FittedFigure> figures_of(const FittedProfile& fitted) {
  std::vector<FittedFigure> figures;
  for (std::size_t i = 0; i < fitted.fit.priors.size(); ++i) {
    const Prior& prior = fitted.fit.priors[i];
    figures.push_back(
        {prior.name, figure_text(fitted.base, prior), figure_text(fitted.profile, prior), fitted.fit.parameters[i]});
  }
  return figures;
}

std::vector<FittedFigure> figures_of(const CurveFit& fitted) {
  std::vector<FittedFigure> figures;
  for (std::size_t i = 0; i < fitted.figures.size(); ++i)
    figures.push_back(
        {fitted.figures[i].key, fitted.figures[i].before, fitted.figures[i].after, fitted.fit.parameters[i]});
  return figures;
}

void add_figure(Row& row, const FittedFigure& each) {
  row.field("figure", each.key, "of the profile's file").in("figure");
  row.field("before", each.before).in_number("before", 1);
  row.field("fitted", each.after).in_number("fitted");
}

void profile_figure_fields(Row& row, const FittedFigure& each) {
  const double factor = each.parameter.factor();
  add_figure(row, each);
  row.field("log_factor", each.parameter.log_factor, "fitted / before, as a logarithm");
  row.field("deviation", each.parameter.deviation, "of log_factor");
  row.number("90 % range", fmt::format("x {:.2f} to {:.2f}", 1 / factor, factor));
  row.field("determined", each.parameter.determined, "whether the steps say more of it than was known")
      .in("determined by the steps", determined_text(each.parameter));
}

void curve_figure_fields(Row& row, const FittedFigure& each) {
  add_figure(row, each);
  row.field("factor", each.parameter.factor(), "by which it may be off with 90 %")
      .in("90 % range", fmt::format("x/ {:.2f}", each.parameter.factor()));
  row.field("determined", each.parameter.determined, "whether the curve says more of it than was known")
      .in("determined", determined_text(each.parameter));
}

Table error_table(const FittedProfile& fitted, const FitErrors& errors) {
  Table table{.caption = "Errors of predicted throughputs",
              .columns = {"profile", numbers("mean"), numbers("median"), numbers("largest")}};
  const auto add = [&](std::string_view what, const std::vector<double>& some) {
    const ErrorSizes sizes = error_sizes(some);
    table.rows.push_back({std::string(what), percent(sizes.mean), percent(sizes.median), percent(sizes.largest)});
  };
  add("before", errors.before);
  add("fitted", errors.after);
  add("fitted without the step", errors.without);
  static constexpr std::array<std::pair<std::string_view, GroupOf>, 3> kGroupings{{
      {"fitted without steps of its strategy", [](const Case& asked) { return asked.strategy.label(); }},
      {"fitted without steps of its workload", [](const Case& asked) { return asked.workload; }},
      {"fitted without steps of its number of GPUs", [](const Case& asked) { return std::to_string(asked.gpus); }},
  }};
  for (const auto& [what, group_of] : kGroupings) {
    const std::vector<std::string> groups = groups_by(fitted, group_of);
    // With one group there is nothing to fit without it.
    if (std::set(groups.begin(), groups.end()).size() > 1) add(what, left_out(fitted, groups));
  }
  return table;
}

/// One step that was fitted, and how far its throughput is off.
struct StepErrors {
  Case asked;
  double before = 0, after = 0, without = 0;
};

std::vector<StepErrors> steps_of(const FittedProfile& fitted, const FitErrors& errors) {
  std::vector<StepErrors> steps;
  for (std::size_t i = 0; i < fitted.rows.size(); ++i)
    steps.push_back({fitted.rows[i].asked, errors.before[i], errors.after[i], errors.without[i]});
  return steps;
}

void fitted_step_fields(Row& row, const StepErrors& step) {
  row.field("workload", step.asked.workload).in("workload");
  row.field("gpus", step.asked.gpus).in("GPUs");
  row.field("strategy", step.asked.strategy.label()).in("strategy");
  row.field("throughput_error_before", step.before, "predicted / measured - 1").in("before", signed_percent);
  row.field("throughput_error_fitted", step.after).in("fitted", signed_percent);
  row.field("throughput_error_left_out", step.without, "fitted to all other steps").in("left out", signed_percent);
}

std::string what_would_determine(const FittedProfile& fitted) {
  std::string text;
  for (std::size_t i = 0; i < fitted.fit.priors.size(); ++i)
    if (fitted.fit.parameters[i].log_factor == 0 && !fitted.fit.parameters[i].determined)
      text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", fitted.fit.priors[i].name,
                          determined_by(fitted.fit.priors[i]));
  return text.empty()
             ? "The steps determine all of these figures."
             : fmt::format("The steps hardly determine these, which stay what they were; in brackets what would: {}.",
                           text);
}

std::string next_in_words(const NextRow& next) {
  return fmt::format(
      "The next step to measure is {} on {} GPUs: {} would be known within a factor of {:.2f}, and is within {:.2f}. "
      "Steps on the most, on a middling number of and on the fewest GPUs tell most together.",
      next.workload, next.gpus, next.figure, next.after, next.before);
}

void next_fields(Row& row, const NextRow& next) {
  row.field("workload", next.workload);
  row.field("gpus", next.gpus);
  row.field("figure", next.figure, "of which it tells most");
  row.field("factor_before", next.before, "within which the figure is known with 90 %");
  row.field("factor_after", next.after, "the same with that step");
}

/// Those of the caller, then those of the fit.
std::vector<std::string> all_notes(const CurveFit& fitted, std::vector<std::string> notes) {
  notes.insert(notes.end(), fitted.notes.begin(), fitted.notes.end());
  return notes;
}

}  // namespace

Document fit_document(const FittedProfile& fitted, const std::string& file, bool each) {
  Document document{.title = fmt::format("{} fitted to {} steps of {}", fitted.base.name, fitted.rows.size(), file)};
  const FitErrors errors = errors_of(fitted);
  document.blocks.emplace_back(
      table_of(figures_of(fitted), profile_figure_fields, {.caption = "Figures of the profile"}));
  document.blocks.emplace_back(error_table(fitted, errors));
  if (each)
    document.blocks.emplace_back(table_of(steps_of(fitted, errors), fitted_step_fields, {.caption = "Each step"}));
  document.blocks.emplace_back(Paragraph{fmt::format(
      "The mean error is {} before, {} after, and about {} for steps that the fit does not know (by an estimate "
      "that takes the model as linear around the fit).",
      percent(error_sizes(errors.before).mean), percent(error_sizes(errors.after).mean),
      percent(error_sizes(errors.without).mean))});
  document.blocks.emplace_back(Paragraph{what_would_determine(fitted)});
  if (fitted.next) document.blocks.emplace_back(Paragraph{next_in_words(*fitted.next)});
  return document;
}

std::string fit_json(const FittedProfile& fitted, const std::string& written_to, Form form) {
  return object_text(form, "hbench calibrate --from ROWS --json", fitted, [&](Row& row, const FittedProfile&) {
    row.field("profile", fitted.base.name);
    row.field("written_to", written_to);
    row.rows("figures", figures_of(fitted), profile_figure_fields);
    row.rows("steps", steps_of(fitted, errors_of(fitted)), fitted_step_fields);
    row.object("next_step", fitted.next, next_fields, "that would tell most; null: none tells much more");
  });
}

Document curve_fit_document(const CurveFit& fitted, const std::vector<std::string>& notes) {
  const MeasuredCurve& curve = fitted.curve;
  Document document;
  document.blocks.emplace_back(table_of(
      figures_of(fitted), curve_figure_fields,
      {.caption = fmt::format("{} fitted to {} of {} GPUs on {} node{}, {} to {}", fitted.base.name,
                              to_string(curve.collective), curve.ranks, curve.nodes, curve.nodes == 1 ? "" : "s",
                              exact_text(Bytes(static_cast<double>(curve.points.front().bytes))),
                              exact_text(Bytes(static_cast<double>(curve.points.back().bytes))))}));
  document.blocks.emplace_back(Paragraph{fmt::format(
      "The model without the curve is {} off on average (mean |ln|), {} before; for other numbers of GPUs it is used. "
      "{}Uncertainty of the profile: {:.2g}, {:.2g} before.",
      logarithm_text(fitted.after().mean_size()), logarithm_text(fitted.before().mean_size()),
      fitted.kept ? fmt::format("For these {}, the curve is. ", curve.ranks) : "", fitted.profile.uncertainty,
      fitted.base.uncertainty)});
  for (const std::string& note : all_notes(fitted, notes)) document.blocks.emplace_back(Paragraph{note});
  return document;
}

std::string curve_fit_json(const CurveFit& fitted, const std::vector<std::string>& notes, const std::string& written_to,
                           Form form) {
  return object_text(form, "hbench calibrate --from CURVE --json", fitted, [&](Row& row, const CurveFit&) {
    row.field("collective", to_string(fitted.curve.collective));
    row.field("ranks", fitted.curve.ranks);
    row.field("nodes", fitted.curve.nodes);
    row.rows("figures", figures_of(fitted), curve_figure_fields);
    row.field("mean_error_before", fitted.before().mean_size(), "mean |ln| of modelled / measured");
    row.field("mean_error_after", fitted.after().mean_size());
    row.field("uncertainty_before", fitted.base.uncertainty, "of the profile");
    row.field("uncertainty", fitted.profile.uncertainty);
    row.field("notes", all_notes(fitted, notes));
    row.field("written_to", written_to);
  });
}

}  // namespace hbench
