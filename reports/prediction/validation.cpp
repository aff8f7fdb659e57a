#include "reports/prediction/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "analysis/records/words.hpp"
#include "analysis/statistics/statistics.hpp"

namespace hbench {
namespace {

using Selection = std::vector<const Validation*>;

/// An error within which a prediction is of use to somebody who compares networks.
constexpr double kSmallError = 0.15;

/// How far the predictions of a selection are off.
struct Errors {
  ErrorSizes sizes;
  double small = 0;  ///< share within `kSmallError`
  double held = 0;   ///< share within their bands
};

Errors errors_of(const Selection& some) {
  Errors errors;
  std::vector<double> signed_errors;
  for (const Validation* each : some) {
    signed_errors.push_back(each->error());
    errors.small += std::fabs(each->error()) <= kSmallError ? 1 : 0;
    errors.held += holds(kModelError, each->residual) ? 1 : 0;
  }
  const auto count = static_cast<double>(some.size());
  errors.small /= count;
  errors.held /= count;
  errors.sizes = error_sizes(std::move(signed_errors));
  return errors;
}

/// A row for each group of figures with one name; those that calibrated something apart.
Table table_by(std::string name, const Selection& all, const std::function<std::string(const Case&)>& name_of) {
  Table table{.caption = fmt::format("By {}", name),
              .columns = {std::move(name), "calibrated with them", "figures", "mean error", "median", "largest",
                          "within 15 %", "in the band"},
              .numeric = {false, false, true, true, true, true, true, true},
              .priority = {0, 0, 0, 0, 2, 0, 1, 0}};
  std::map<std::pair<bool, std::string>, Selection> groups;
  for (const Validation* each : all) groups[{each->calibrated, name_of(each->asked)}].push_back(each);
  for (const auto& [group, some] : groups) {
    const Errors errors = errors_of(some);
    table.rows.push_back({group.second, group.first ? "yes" : "no", std::to_string(some.size()),
                          percent(errors.sizes.mean), percent(errors.sizes.median), percent(errors.sizes.largest),
                          percent(errors.small), percent(errors.held)});
  }
  return table;
}

/// One figure beside its prediction.
void figure_fields(Row& row, const Validation& each) {
  const Case& asked = each.asked;
  const double samples = asked.batch_per_gpu * asked.gpus;
  const auto samples_per_second = [samples](double seconds) { return fmt::format("{:.4g}", samples / seconds); };
  row.field("workload", asked.workload).in("workload");
  row.field("cluster", asked.profile, "its profile").in("cluster");
  row.field("gpus", asked.gpus).in("GPUs");
  row.field("strategy", asked.strategy.label()).in("strategy");
  row.field("published_step_seconds", each.published).in("published", samples_per_second, 1);
  row.field("predicted_step_seconds", each.predicted).in("predicted", samples_per_second, 1);
  row.field("profile_low_seconds", each.residual.low, "with the better figures of its profile");
  row.field("profile_high_seconds", each.residual.high, "with the worse figures of its profile");
  row.field("communication_share", each.residual.communication, "of the step, with a collective in flight");
  row.field("throughput_error", each.error(), "predicted / published - 1").in("error", signed_percent);
  row.field("in_band", holds(kModelError, each.residual), "of 90 %").in("in the band");
  row.field("calibrated", each.calibrated, "whether the model has used it").in("calibrated with it", 2);
  row.field("source", asked.source).in("source", 3);
}

Selection selected(const std::vector<Validation>& all, bool calibrated) {
  Selection some;
  for (const Validation& each : all)
    if (each.calibrated == calibrated) some.push_back(&each);
  return some;
}

std::vector<Residual> residuals_of(const std::vector<Validation>& all) {
  std::vector<Residual> residuals;
  for (const Validation& each : all) residuals.push_back(each.residual);
  return residuals;
}

/// Clusters on which the width of bands can be tried: with one there is no other.
bool several_clusters(const std::vector<Validation>& all) {
  return std::ranges::any_of(all, [&](const Validation& each) { return each.asked.profile != all[0].asked.profile; });
}

std::string errors_in_words(const Selection& some) {
  const Errors errors = errors_of(some);
  return fmt::format("mean error {}, median {}, {} within 15 %; {} lie in their {:.0f} % band",
                     percent(errors.sizes.mean), percent(errors.sizes.median), percent(errors.small),
                     percent(errors.held), 100 * kBandLevel);
}

std::string verdict(const std::vector<Validation>& all) {
  std::string text;
  for (const bool calibrated : {false, true})
    if (const Selection some = selected(all, calibrated); !some.empty())
      text += fmt::format("{} figure{} {} the model: {}. ", some.size(), some.size() == 1 ? "" : "s",
                          calibrated ? "that calibrated" : "that did not calibrate", errors_in_words(some));
  if (several_clusters(all))
    text += fmt::format(
        "On a cluster of which nothing is published a band holds {} of the figures: those of each cluster here, with "
        "bands as wide as the other clusters ask for, clusters counting alike.",
        percent(coverage_elsewhere(residuals_of(all))));
  return text;
}

}  // namespace

Document validation_document(const std::vector<Validation>& all, bool each) {
  Selection in_order = selected(all, false);
  std::ranges::copy(selected(all, true), std::back_inserter(in_order));
  Document document{.title = "Predictions beside published figures"};
  document.blocks.emplace_back(table_by("cluster", in_order, [](const Case& asked) { return asked.profile; }));
  document.blocks.emplace_back(
      table_by("strategy", in_order, [](const Case& asked) { return asked.strategy.label(); }));
  if (each) document.blocks.emplace_back(table_of(in_order, figure_fields, {.caption = "Each figure"}));
  document.blocks.emplace_back(Paragraph{verdict(all)});
  const ModelError fitted = fit_model_error(residuals_of(all));
  document.blocks.emplace_back(Paragraph{fmt::format(
      "Beyond the profile's uncertainty the band of a step is wide enough for {:.0f} % of these figures with {:.3f} of "
      "the step, and {:.3f} of the time with a collective in flight; predictions use {} and {}.",
      100 * kBandLevel, fitted.compute, fitted.communication, kModelError.compute, kModelError.communication)});
  return document;
}

std::string validation_json(const std::vector<Validation>& all, Form form) {
  return rows_text(form, "hbench validate --json", all, figure_fields);
}

}  // namespace hbench
