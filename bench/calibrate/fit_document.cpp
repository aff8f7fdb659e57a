#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "analysis/statistics.hpp"
#include "bench/calibrate/fit_profile.hpp"

namespace hbench {
namespace {

constexpr double kNinetyPercent = 1.645;

/// Predicted over published throughput, less 1, of a logarithm of predicted over published seconds.
double throughput_error(double log_error) { return std::exp(-log_error) - 1; }

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }
std::string signed_percent(double share) { return fmt::format("{:+.1f} %", 100 * share); }

double mean_size(const std::vector<double>& log_errors) {
  double sum = 0;
  for (const double error : log_errors) sum += std::fabs(throughput_error(error));
  return sum / static_cast<double>(log_errors.size());
}

Table figure_table(const FittedProfile& fitted) {
  Table table{.caption = "Figures of the profile",
              .columns = {"figure", "before", "fitted", "90 % range", "determined by the steps"},
              .numeric = {false, true, true, true, false},
              .priority = {0, 1, 0, 0, 0}};
  for (std::size_t i = 0; i < fitted.fit.priors.size(); ++i) {
    const Prior& prior = fitted.fit.priors[i];
    const FittedParameter& parameter = fitted.fit.parameters[i];
    const double factor = std::exp(kNinetyPercent * parameter.deviation);
    table.rows.push_back({prior.name, figure_text(fitted.base, prior), figure_text(fitted.profile, prior),
                          fmt::format("x {:.2f} to {:.2f}", 1 / factor, factor),
                          parameter.determined ? "yes" : "hardly"});
  }
  return table;
}

/// What puts steps together; they are left out together.
struct Grouping {
  std::string_view what;
  std::function<std::string(const Case&)> name_of;
};

std::vector<Grouping> groupings() {
  return {{"fitted without the step", [n = 0](const Case&) mutable { return std::to_string(n++); }},
          {"fitted without steps of its strategy", [](const Case& asked) { return asked.strategy.label(); }},
          {"fitted without steps of its workload", [](const Case& asked) { return asked.workload; }},
          {"fitted without steps of its number of GPUs", [](const Case& asked) { return std::to_string(asked.gpus); }}};
}

std::vector<double> left_out(const FittedProfile& fitted, const Grouping& grouping) {
  std::vector<std::string> groups;
  const auto name_of = grouping.name_of;
  for (const CaseResult& row : fitted.rows) groups.push_back(name_of(row.asked));
  return fitted.fit.left_out(groups);
}

std::vector<double> each_left_out(const FittedProfile& fitted) { return left_out(fitted, groupings().front()); }

/// With one group there is nothing to fit without it.
bool has_several(const FittedProfile& fitted, const Grouping& grouping) {
  std::set<std::string> groups;
  const auto name_of = grouping.name_of;
  for (const CaseResult& row : fitted.rows) groups.insert(name_of(row.asked));
  return groups.size() > 1;
}

Table error_table(const FittedProfile& fitted) {
  Table table{.caption = "Errors of predicted throughputs",
              .columns = {"profile", "mean", "median", "largest"},
              .numeric = {false, true, true, true}};
  const auto add = [&](std::string_view what, const std::vector<double>& log_errors) {
    std::vector<double> sizes;
    for (const double error : log_errors) sizes.push_back(std::fabs(throughput_error(error)));
    table.rows.push_back({std::string(what), percent(mean_size(log_errors)), percent(median(sizes)),
                          percent(*std::ranges::max_element(sizes))});
  };
  add("before", fitted.fit.before);
  add("fitted", fitted.fit.after);
  for (const Grouping& grouping : groupings())
    if (has_several(fitted, grouping)) add(grouping.what, left_out(fitted, grouping));
  return table;
}

Table each_step(const FittedProfile& fitted) {
  Table table{.caption = "Each step",
              .columns = {"workload", "GPUs", "strategy", "before", "fitted", "left out"},
              .numeric = {false, true, false, true, true, true}};
  const std::vector<double> out = each_left_out(fitted);
  for (std::size_t i = 0; i < fitted.rows.size(); ++i) {
    const Case& asked = fitted.rows[i].asked;
    table.rows.push_back({asked.workload, std::to_string(asked.gpus), asked.strategy.label(),
                          signed_percent(throughput_error(fitted.fit.before[i])),
                          signed_percent(throughput_error(fitted.fit.after[i])),
                          signed_percent(throughput_error(out[i]))});
  }
  return table;
}

std::string what_would_settle(const FittedProfile& fitted) {
  std::string text;
  for (std::size_t i = 0; i < fitted.fit.priors.size(); ++i)
    if (!fitted.fit.parameters[i].determined)
      text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", fitted.fit.priors[i].name,
                          settled_by(fitted.fit.priors[i]));
  return text.empty() ? "The steps determine all of these figures."
                      : fmt::format(
                            "The steps hardly determine these, which stay near what they were; in brackets what "
                            "would: {}.",
                            text);
}

}  // namespace

Document fit_document(const FittedProfile& fitted, const std::string& file, bool each) {
  Document document{.title = fmt::format("{} fitted to {} steps of {}", fitted.base.name, fitted.rows.size(), file)};
  document.blocks.emplace_back(figure_table(fitted));
  document.blocks.emplace_back(error_table(fitted));
  if (each) document.blocks.emplace_back(each_step(fitted));
  document.blocks.emplace_back(Paragraph{fmt::format(
      "The mean error is {} before, {} after, and about {} for steps that the fit does not know (by an estimate "
      "that takes the model as linear around the fit).",
      percent(mean_size(fitted.fit.before)), percent(mean_size(fitted.fit.after)),
      percent(mean_size(each_left_out(fitted))))});
  document.blocks.emplace_back(Paragraph{what_would_settle(fitted)});
  return document;
}

std::string fit_json(const FittedProfile& fitted) {
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
  const std::vector<double> out = each_left_out(fitted);
  for (std::size_t i = 0; i < fitted.rows.size(); ++i) {
    const Case& asked = fitted.rows[i].asked;
    steps.push_back({{"workload", asked.workload},
                     {"gpus", asked.gpus},
                     {"strategy", asked.strategy.label()},
                     {"throughput_error_before", throughput_error(fitted.fit.before[i])},
                     {"throughput_error_fitted", throughput_error(fitted.fit.after[i])},
                     {"throughput_error_left_out", throughput_error(out[i])}});
  }
  return Json{{"profile", fitted.base.name}, {"figures", figures}, {"steps", steps}}.dump(
             1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

}  // namespace hbench
