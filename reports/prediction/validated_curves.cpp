#include "reports/prediction/validated_curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/records/words.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

std::string logarithm(double value) { return fmt::format("{:.3f}", value); }

double share_held(const CurveValidation& validation) {
  const auto held = std::ranges::count_if(validation.sizes, &CurveValidation::Size::is_held);
  return static_cast<double>(held) / static_cast<double>(validation.sizes.size());
}

Table overview(const std::vector<CurveValidation>& all) {
  Table table{.caption = fmt::format("Logarithms of simulated / measured times, {} to {}",
                                     exact_text(Bytes(kLeastGradient)), exact_text(Bytes(kMostGradient))),
              .columns = {"cluster", "collective", "ranks", "nodes", "sizes", "mean |ln|", "largest", "in the band",
                          "between sizes"},
              .numeric = {false, false, true, true, true, true, true, true, true},
              .priority = {0, 1, 0, 0, 2, 0, 0, 0, 0}};
  for (const CurveValidation& each : all)
    table.rows.push_back({each.profile, std::string(to_string(each.curve.collective)), std::to_string(each.curve.ranks),
                          std::to_string(each.curve.nodes), std::to_string(each.sizes.size()),
                          logarithm(each.model.mean_size()), logarithm(each.model.worst()), percent(share_held(each)),
                          logarithm(each.interpolation.mean_size())});
  return table;
}

Table table_of_sizes(const CurveValidation& validation) {
  Table table{
      .caption = fmt::format("{}: {}, {} ranks ({})", validation.profile, to_string(validation.curve.collective),
                             validation.curve.ranks, validation.curve.source),
      .columns = {"size", "measured (us)", "simulated (us)", "90 % band (us)", "ln"},
      .numeric = {true, true, true, true, true},
      .priority = {0, 0, 0, 0, 0}};
  for (const CurveValidation::Size& size : validation.sizes)
    table.rows.push_back({exact_text(Bytes(static_cast<double>(size.bytes))), microseconds(size.measured),
                          microseconds(size.simulated),
                          fmt::format("{} - {}", microseconds(size.low), microseconds(size.high)),
                          logarithm(std::log(size.simulated / size.measured))});
  return table;
}

/// Curves count alike, however many sizes each has.
template <class Value>
double mean_over(const std::vector<CurveValidation>& all, Value value) {
  double sum = 0;
  for (const CurveValidation& each : all) sum += value(each);
  return sum / static_cast<double>(all.size());
}

double mean_of(CurveErrors CurveValidation::*errors, const std::vector<CurveValidation>& all) {
  return mean_over(all, [&](const CurveValidation& each) { return (each.*errors).mean_size(); });
}

std::string verdict(const std::vector<CurveValidation>& all) {
  return fmt::format(
      "{} curves, counting alike: the model is {} off on average (mean |ln|), and {} of the sizes lie in its 90 % "
      "band. Where a curve is used, sizes that were left out of it are {} off.",
      all.size(), logarithm(mean_of(&CurveValidation::model, all)), percent(mean_over(all, share_held)),
      logarithm(mean_of(&CurveValidation::interpolation, all)));
}

}  // namespace

Document curves_document(const std::vector<CurveValidation>& all, bool each) {
  Document document;
  document.blocks.emplace_back(overview(all));
  if (each)
    for (const CurveValidation& validation : all) document.blocks.emplace_back(table_of_sizes(validation));
  document.blocks.emplace_back(Paragraph{verdict(all)});
  return document;
}

std::string curves_json(const std::vector<CurveValidation>& all) {
  nlohmann::ordered_json array = nlohmann::ordered_json::array();
  for (const CurveValidation& each : all) {
    nlohmann::ordered_json sizes = nlohmann::ordered_json::array();
    for (const CurveValidation::Size& size : each.sizes)
      sizes.push_back({{"bytes", size.bytes},
                       {"measured_seconds", size.measured},
                       {"simulated_seconds", size.simulated},
                       {"low_seconds", size.low},
                       {"high_seconds", size.high}});
    array.push_back({{"profile", each.profile},
                     {"collective", std::string(to_string(each.curve.collective))},
                     {"algorithm", each.curve.algorithm},
                     {"ranks", each.curve.ranks},
                     {"nodes", each.curve.nodes},
                     {"source", each.curve.source},
                     {"mean_error", each.model.mean_size()},
                     {"interpolation_error", each.interpolation.mean_size()},
                     {"sizes", sizes}});
  }
  return array.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace hbench
