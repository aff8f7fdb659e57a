#include "reports/prediction/fits.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "analysis/fit/explained.hpp"
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

/// Every step by itself.
std::vector<std::string> single_steps(const FittedProfile& fitted) {
  std::vector<std::string> groups;
  for (std::size_t i = 0; i < fitted.rows.size(); ++i) groups.push_back(std::to_string(i));
  return groups;
}

/// How far throughputs of the steps are off, in the order of the rows.
struct FitErrors {
  std::vector<double> before, after;
  std::vector<double> without;  ///< each with figures that are fitted to all other steps
};

FitErrors errors_of(const FittedProfile& fitted) {
  return {throughput_errors(fitted.fit.before), throughput_errors(fitted.fit.after),
          left_out(fitted, single_steps(fitted))};
}

Table figure_table(const FittedProfile& fitted) {
  Table table{.caption = "Figures of the profile",
              .columns = {"figure", "before", "fitted", "90 % range", "determined by the steps"},
              .numeric = {false, true, true, true, false},
              .priority = {0, 1, 0, 0, 0}};
  for (std::size_t i = 0; i < fitted.fit.priors.size(); ++i) {
    const Prior& prior = fitted.fit.priors[i];
    const FittedParameter& parameter = fitted.fit.parameters[i];
    const double factor = parameter.factor();
    table.rows.push_back({prior.name, figure_text(fitted.base, prior), figure_text(fitted.profile, prior),
                          fmt::format("x {:.2f} to {:.2f}", 1 / factor, factor), determined_text(parameter)});
  }
  return table;
}

Table error_table(const FittedProfile& fitted, const FitErrors& errors) {
  Table table{.caption = "Errors of predicted throughputs",
              .columns = {"profile", "mean", "median", "largest"},
              .numeric = {false, true, true, true}};
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

Table each_step(const FittedProfile& fitted, const FitErrors& errors) {
  Table table{.caption = "Each step",
              .columns = {"workload", "GPUs", "strategy", "before", "fitted", "left out"},
              .numeric = {false, true, false, true, true, true}};
  for (std::size_t i = 0; i < fitted.rows.size(); ++i) {
    const Case& asked = fitted.rows[i].asked;
    table.rows.push_back({asked.workload, std::to_string(asked.gpus), asked.strategy.label(),
                          signed_percent(errors.before[i]), signed_percent(errors.after[i]),
                          signed_percent(errors.without[i])});
  }
  return table;
}

std::string what_would_determine(const FittedProfile& fitted) {
  std::string text;
  for (std::size_t i = 0; i < fitted.fit.priors.size(); ++i)
    if (fitted.fit.parameters[i].log_factor == 0 && !fitted.fit.parameters[i].determined)
      text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", fitted.fit.priors[i].name,
                          determined_by(fitted.fit.priors[i]));
  return text.empty() ? "The steps determine all of these figures."
                      : fmt::format(
                            "The steps hardly determine these, which stay what they were; in brackets what "
                            "would: {}.",
                            text);
}

std::string logarithm(double value) { return fmt::format("{:.3f}", value); }

/// Those of the caller, then those of the fit.
std::vector<std::string> all_notes(const CurveFit& fitted, std::vector<std::string> notes) {
  notes.insert(notes.end(), fitted.notes.begin(), fitted.notes.end());
  return notes;
}

}  // namespace

Document fit_document(const FittedProfile& fitted, const std::string& file, bool each) {
  Document document{.title = fmt::format("{} fitted to {} steps of {}", fitted.base.name, fitted.rows.size(), file)};
  const FitErrors errors = errors_of(fitted);
  document.blocks.emplace_back(figure_table(fitted));
  document.blocks.emplace_back(error_table(fitted, errors));
  if (each) document.blocks.emplace_back(each_step(fitted, errors));
  document.blocks.emplace_back(Paragraph{fmt::format(
      "The mean error is {} before, {} after, and about {} for steps that the fit does not know (by an estimate "
      "that takes the model as linear around the fit).",
      percent(error_sizes(errors.before).mean), percent(error_sizes(errors.after).mean),
      percent(error_sizes(errors.without).mean))});
  document.blocks.emplace_back(Paragraph{what_would_determine(fitted)});
  return document;
}

std::string fit_json(const FittedProfile& fitted, const std::string& written_to) {
  using Json = nlohmann::ordered_json;
  Json figures = Json::array(), steps = Json::array();
  for (std::size_t i = 0; i < fitted.fit.priors.size(); ++i) {
    const FittedParameter& parameter = fitted.fit.parameters[i];
    figures.push_back({{"figure", fitted.fit.priors[i].name},
                       {"before", figure_text(fitted.base, fitted.fit.priors[i])},
                       {"fitted", figure_text(fitted.profile, fitted.fit.priors[i])},
                       {"log_factor", parameter.log_factor},
                       {"deviation", parameter.deviation},
                       {"determined", parameter.determined}});
  }
  const FitErrors errors = errors_of(fitted);
  for (std::size_t i = 0; i < fitted.rows.size(); ++i) {
    const Case& asked = fitted.rows[i].asked;
    steps.push_back({{"workload", asked.workload},
                     {"gpus", asked.gpus},
                     {"strategy", asked.strategy.label()},
                     {"throughput_error_before", errors.before[i]},
                     {"throughput_error_fitted", errors.after[i]},
                     {"throughput_error_left_out", errors.without[i]}});
  }
  const Json json{{"profile", fitted.base.name}, {"written_to", written_to}, {"figures", figures}, {"steps", steps}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Document curve_fit_document(const CurveFit& fitted, const std::vector<std::string>& notes) {
  const MeasuredCurve& curve = fitted.curve;
  Document document;
  Table table{.caption = fmt::format("{} fitted to {} of {} GPUs on {} node{}, {} to {}", fitted.base.name,
                                     to_string(curve.collective), curve.ranks, curve.nodes, curve.nodes == 1 ? "" : "s",
                                     exact_text(Bytes(static_cast<double>(curve.points.front().bytes))),
                                     exact_text(Bytes(static_cast<double>(curve.points.back().bytes)))),
              .columns = {"figure", "before", "fitted", "90 % range", "determined"},
              .numeric = {false, true, true, true, false},
              .priority = {0, 0, 0, 0, 0}};
  for (std::size_t i = 0; i < fitted.figures.size(); ++i) {
    const FittedParameter& parameter = fitted.fit.parameters[i];
    table.rows.push_back({fitted.figures[i].key, fitted.figures[i].before, fitted.figures[i].after,
                          fmt::format("x/ {:.2f}", parameter.factor()), determined_text(parameter)});
  }
  document.blocks.emplace_back(std::move(table));
  document.blocks.emplace_back(Paragraph{fmt::format(
      "The model without the curve is {} off on average (mean |ln|), {} before; for other numbers of GPUs it is used. "
      "{}Uncertainty of the profile: {:.2g}, {:.2g} before.",
      logarithm(fitted.after().mean_size()), logarithm(fitted.before().mean_size()),
      fitted.kept ? fmt::format("For these {}, the curve is. ", curve.ranks) : "", fitted.profile.uncertainty,
      fitted.base.uncertainty)});
  for (const std::string& note : all_notes(fitted, notes)) document.blocks.emplace_back(Paragraph{note});
  return document;
}

std::string curve_fit_json(const CurveFit& fitted, const std::vector<std::string>& notes,
                           const std::string& written_to) {
  nlohmann::ordered_json figures = nlohmann::ordered_json::array();
  for (std::size_t i = 0; i < fitted.figures.size(); ++i)
    figures.push_back({{"figure", fitted.figures[i].key},
                       {"before", fitted.figures[i].before},
                       {"fitted", fitted.figures[i].after},
                       {"factor", fitted.fit.parameters[i].factor()},
                       {"determined", fitted.fit.parameters[i].determined}});
  return nlohmann::ordered_json{{"collective", std::string(to_string(fitted.curve.collective))},
                                {"ranks", fitted.curve.ranks},
                                {"nodes", fitted.curve.nodes},
                                {"figures", figures},
                                {"mean_error_before", fitted.before().mean_size()},
                                {"mean_error_after", fitted.after().mean_size()},
                                {"uncertainty_before", fitted.base.uncertainty},
                                {"uncertainty", fitted.profile.uncertainty},
                                {"notes", all_notes(fitted, notes)},
                                {"written_to", written_to}}
             .dump(1) +
         "\n";
}

}  // namespace hbench
