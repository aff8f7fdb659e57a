#include "reports/prediction/validated_rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "analysis/records/words.hpp"

namespace hbench {
namespace {

std::string signed_percent(double value) { return fmt::format("{:+.0f} %", 100 * value); }
std::string rate_text(double value) { return fmt::format("{:.4g}", value); }

void rate_fields(Row& row, const RateValidation& each) {
  row.field("gpu", each.gpu).in("GPU");
  row.field("workload", each.workload).in("workload");
  row.field("precision", each.measured.precision).in("precision");
  row.field("batch", each.measured.batch).in("batch");
  row.field("software", each.measured.software, "empty: what the rates of the workload stand for").in("software");
  row.field("measured_samples_per_second", each.measured.samples_per_second).in("measured", rate_text);
  row.field("modelled_samples_per_second", each.modelled.samples_per_second, "without the GPUs of this family")
      .in("modelled", rate_text);
  row.field("error", each.error(), "modelled over measured, less 1").in("error", signed_percent);
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
  return rows_text(form, "hbench validate --rates --json", all, rate_fields);
}

}  // namespace hbench
