#include "bench/output/points_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/records/case_fields.hpp"
#include "reports/rows/fields.hpp"

namespace hbench {
namespace {

void case_field(Row& row, const CaseField& field, const Case& asked) {
  const FieldValue value = field.get(asked);
  std::visit(
      [&]<class Held>(const Held& held) {
        // A choice between yes and no is always one.
        if constexpr (std::same_as<Held, bool>)
          row.field(field.name, held, field.text);
        else
          row.field(field.name, if_known(!is_unset(value), held), field.text);
      },
      value);
}

void point_fields(Row& row, const Point& point) {
  const auto stated = [](double value) { return if_positive(value); };
  row.field("evidence", to_string(point.asked.evidence), "measured, emulated, simulated or published");
  row.field("status", point.failed ? "failed" : "done");
  row.field("failure", if_stated(point.failure));
  for (const CaseField& field : case_fields())
    if (field.name != "evidence") case_field(row, field, point.asked);
  row.field("strategy", point.asked.strategy.label());
  row.field("throughput", stated(point.throughput), "of all GPUs");
  row.field("throughput_per_gpu", stated(point.throughput_per_gpu));
  row.field("throughput_unit", "samples/s");
  row.field("efficiency", point.efficiency);
  row.field("efficiency_low", point.efficiency_low);
  row.field("efficiency_high", point.efficiency_high);
  row.field("interval", if_stated(point.interval), "what low and high are");
  const auto& narrowed = point.narrowed;
  const Narrowed known = narrowed.value_or(Narrowed());
  row.field("narrowed_condition", if_stated(std::string(known.condition())),
            "under which what makes most of a wide band costs nothing: for you to know");
  row.field("narrowed_efficiency", if_known(narrowed.has_value(), known.band.stated), "under it");
  row.field("narrowed_efficiency_low", if_known(narrowed.has_value(), known.band.low));
  row.field("narrowed_efficiency_high", if_known(narrowed.has_value(), known.band.high));
  row.field("warnings", if_stated(fmt::format("{}", fmt::join(point.warnings, "; "))));
  row.field("emulation", if_stated(point.emulation));
  row.field("baseline", if_stated(point.baseline), "in words");
  row.field("no_baseline", if_stated(point.no_baseline), "why there is none");
  row.field("step_seconds", stated(point.step_seconds));
  const auto part_of = [](const std::map<std::string, double>& parts, const std::string& name) {
    const auto found = parts.find(name);
    return if_known(found != parts.end(), found == parts.end() ? 0 : found->second);
  };
  row.field("memory_bytes", point.whole_memory(),
            "of a prediction: what a step keeps on each GPU, the sum of these four");
  row.field("weight_bytes", part_of(point.memory, "weights"));
  row.field("gradient_bytes", part_of(point.memory, "gradients"));
  row.field("optimizer_bytes", part_of(point.memory, "optimizer"), "its state");
  row.field("activation_bytes", part_of(point.memory, "activations"));
  row.field("staleness", part_of(point.staleness, "mean"),
            "gradients of others that servers have applied and a rank has not seen, mean");
  row.field("staleness_p95", part_of(point.staleness, "p95"));
  row.field("staleness_largest", part_of(point.staleness, "largest"));
  row.field(
      "consensus_distance", point.consensus_distance,
      "root mean square of the distance of a parameter from the mean of all ranks', where they average with some");
  row.field("sent_within_bytes", part_of(point.sent, "within"),
            "of a prediction: what all send inside nodes in a step, for each GPU");
  row.field("sent_between_bytes", part_of(point.sent, "between"), "the same between nodes");
  row.field("idle_share", point.idle_share, "of a predicted step, for which stages of a pipeline wait for others");
  row.field("throttled", share_of(point.throttled.throttled, point.throttled), "share of the iterations");
  row.field("power_capped", share_of(point.throttled.power_capped, point.throttled), "share of the iterations");
  row.field("throttling", if_stated(throttling_text(point.throttled.reasons)));
  row.field("samples", point.samples);
  row.field("machine_in_words", if_stated(point.machine_in_words));
  row.field("version", if_stated(point.producer.version), "of hbench");
  row.field("run", if_positive(point.producer.run), "in its database");
  row.field("labels", if_known(!point.producer.labels.empty(), point.producer.labels));
}

}  // namespace

std::string points_json(const std::vector<Point>& points, Form form) {
  return rows_text(form, "hbench export --json and hbench sweep --json", points, point_fields);
}

std::string points_csv(const std::vector<Point>& points) {
  if (points.empty()) {
    const std::string header = points_csv({Point{}});
    return header.substr(0, header.find('\n') + 1);
  }
  std::vector<Json> objects;
  for (const Point& point : points) objects.push_back(json_of(Form::values, point, point_fields));
  return csv_lines(objects);
}

}  // namespace hbench
