#include "reports/validate/validated_curves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "analysis/records/words.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

std::string rounded_percent(double value) { return fmt::format("{:+.0f} %", 100 * value); }
std::string busbw_text(double value) { return fmt::format("{:.4g}", value); }

void rate_fields(Row& row, const RateValidation& each) {
  row.field("gpu", each.gpu).in("GPU");
  row.field("workload", each.workload).in("workload");
  row.field("precision", each.measured.precision).in("precision");
  row.field("batch", each.measured.batch).in("batch");
  row.field("software", each.measured.software, "empty: what the rates of the workload stand for").in("software");
  row.field("measured_samples_per_second", each.measured.samples_per_second).in("measured", busbw_text);
  row.field("modelled_samples_per_second", each.modelled.samples_per_second, "without the GPUs of this family")
      .in("modelled", busbw_text);
  row.field("error", each.error(), "modelled over measured, less 1").in("error", rounded_percent);
  row.field("factor", each.modelled.factor, "the model's 90 % band: the rate may be higher or lower by it");
  row.field("held", each.is_held(), "the band holds the measured rate").in("in the band");
  row.field("source", each.measured.source);
}

/// The errors of rows that have something in common.
struct Group {
  std::string name;
  int rates = 0;
  double error = 0;  ///< sum of magnitudes
  double bias = 0;   ///< sum of logarithms
  double largest = 0;
  int held = 0;

  void add(const RateValidation& each) {
    ++rates;
    error += std::abs(each.error());
    bias += std::log1p(each.error());
    largest = std::max(largest, std::abs(each.error()));
    held += each.is_held() ? 1 : 0;
  }
  double mean() const { return error / rates; }
  double share_held() const { return static_cast<double>(held) / rates; }
};

using NameOf = std::function<std::string(const RateValidation&)>;

std::vector<Group> groups(const std::vector<RateValidation>& all, const NameOf& name_of) {
  std::map<std::string, Group> by_name;
  for (const RateValidation& each : all) by_name[name_of(each)].add(each);
  std::vector<Group> groups;
  for (auto& [name, group] : by_name) {
    group.name = name;
    groups.push_back(group);
  }
  return groups;
}

Block group_table(const std::vector<RateValidation>& all, const std::string& what, const NameOf& name_of) {
  return table_of(groups(all, name_of),
                  [&](Row& row, const Group& group) {
                    row.field("name", group.name).in(what);
                    row.number("rates", std::to_string(group.rates));
                    row.number("mean error", percent(group.mean()));
                    row.number("model is", fmt::format("{:.2f}x", std::exp(group.bias / group.rates)));
                    row.number("largest", percent(group.largest));
                    row.number("in the band", percent(group.share_held()));
                  },
                  {.caption = fmt::format("Rates of one GPU that the model gives without it, by {}", what)});
}

std::string verdict(const std::vector<RateValidation>& all) {
  Group whole;
  for (const RateValidation& each : all) whole.add(each);
  return fmt::format(
      "{} measured rates: without the GPUs of its family, the model is {} off on average, and its 90 % band holds {}.",
      whole.rates, percent(whole.mean()), percent(whole.share_held()));
}

double share_held(const CurveValidation& validation) {
  const auto held = std::ranges::count_if(validation.sizes, &CurveValidation::Size::is_held);
  return static_cast<double>(held) / static_cast<double>(validation.sizes.size());
}

void curve_size_fields(Row& row, const CurveValidation::Size& size) {
  row.field("bytes", size.bytes).in("size", exact_text(Bytes(static_cast<double>(size.bytes))));
  row.field("measured_seconds", size.measured).in("measured (us)", microseconds);
  row.field("simulated_seconds", size.simulated).in("simulated (us)", microseconds);
  row.field("low_seconds", size.low, "of the 90 % band");
  row.field("high_seconds", size.high, "of the 90 % band");
  row.number("90 % band (us)", fmt::format("{} - {}", microseconds(size.low), microseconds(size.high)));
  row.number("ln", logarithm_text(std::log(size.simulated / size.measured)));
}

void curve_fields(Row& row, const CurveValidation& each) {
  row.field("profile", each.profile).in("cluster");
  row.field("collective", to_string(each.curve.collective)).in("collective", 1);
  row.field("algorithm", each.curve.algorithm);
  row.field("ranks", each.curve.ranks).in("ranks");
  row.field("nodes", each.curve.nodes).in("nodes");
  row.field("source", each.curve.source);
  row.number("sizes", std::to_string(each.sizes.size()), 2);
  row.field("mean_error", each.model.mean_size(), "mean |ln| of simulated / measured").in("mean |ln|", logarithm_text);
  row.number("largest", logarithm_text(each.model.worst()));
  row.number("in the band", percent(share_held(each)));
  row.field("interpolation_error", each.interpolation.mean_size(), "the same of sizes left out of the curve")
      .in("between sizes", logarithm_text);
  row.rows("sizes", each.sizes, curve_size_fields);
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

void class_fields(Row& row, const ClassErrors& errors) {
  row.field("size", errors.name).in("size");
  row.field("sizes", errors.sizes).in("sizes");
  row.field("curves", errors.curves).in("curves");
  row.field("sources", errors.sources).in("sources");
  row.field("mean_error", errors.mean).in("mean |ln|", logarithm_text);
  row.field("in_band", errors.held).in("in the band", percent);
  row.field("in_band_elsewhere", errors.held_elsewhere).in("as wide as others ask for", percent, 1);
  row.field("width", errors.width).in("high / low", [](double width) { return fmt::format("{:.2f}", width); });
}

std::string verdict(const std::vector<CurveValidation>& all) {
  return fmt::format(
      "{} curves, counting alike: the model is {} off on average (mean |ln|), and {} of the sizes lie in its 90 % "
      "band. Where a curve is used, sizes that were left out of it are {} off.",
      all.size(), logarithm_text(mean_of(&CurveValidation::model, all)), percent(mean_over(all, share_held)),
      logarithm_text(mean_of(&CurveValidation::interpolation, all)));
}

}  // namespace

Document rates_document(const std::vector<RateValidation>& all, bool each) {
  Document document;
  document.blocks.emplace_back(Paragraph{verdict(all)});
  document.blocks.push_back(group_table(all, "GPU", [](const RateValidation& rate) { return rate.gpu; }));
  document.blocks.push_back(group_table(all, "workload", [](const RateValidation& rate) { return rate.workload; }));
  document.blocks.push_back(
      group_table(all, "kind of model", [](const RateValidation& rate) { return std::string(to_string(rate.kind)); }));
  if (each)
    document.blocks.emplace_back(
        table_of(all, rate_fields, {.caption = "Samples/s of one GPU, measured and modelled"}));
  return document;
}

std::string rates_json(const std::vector<RateValidation>& all, Form form) {
  return rows_text(form, "hbench validate rates --json", all, rate_fields);
}

Document curves_document(const std::vector<CurveValidation>& all, bool each) {
  Document document;
  document.blocks.emplace_back(table_of(all, curve_fields, {.caption = "Logarithms of simulated / measured times"}));
  if (each)
    for (const auto& [profile, curve, sizes, model, interpolation] : all)
      document.blocks.emplace_back(table_of(
          sizes, curve_size_fields,
          {.caption =
               fmt::format("{}: {}, {} ranks ({})", profile, to_string(curve.collective), curve.ranks, curve.source)}));
  document.blocks.emplace_back(
      table_of(class_errors(all), class_fields, {.caption = "By size, sources counting alike"}));
  document.blocks.emplace_back(Paragraph{verdict(all)});
  return document;
}

std::string curves_json(const std::vector<CurveValidation>& all, Form form) {
  return rows_text(form, "hbench validate collectives --json", all, curve_fields);
}

}  // namespace hbench
