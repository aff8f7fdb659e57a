#include "bench/output/points_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "analysis/records/case_fields.hpp"
#include "reports/formats/csv_field.hpp"

namespace hbench {
namespace {

using Json = nlohmann::ordered_json;

/// 0 stands for "not stated" in stored points.
Json stated(double value) { return value > 0 ? Json(value) : Json(nullptr); }
Json optional(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }
Json text(const std::string& value) { return value.empty() ? Json(nullptr) : Json(value); }

/// Null where nobody looked.
Json share_of(std::size_t iterations, const ThrottledShare& among) {
  if (among.iterations == 0) return nullptr;
  return static_cast<double>(iterations) / static_cast<double>(among.iterations);
}

/// Null where a field is not set; a choice between yes and no is always one.
Json field_json(const FieldValue& value) {
  if (is_unset(value) && !std::holds_alternative<bool>(value)) return nullptr;
  return std::visit([](const auto& held) { return Json(held); }, value);
}

Json labels_json(const std::map<std::string, std::string>& labels) { return labels.empty() ? Json() : Json(labels); }

Json point_json(const Point& point) {
  Json object{{"evidence", to_string(point.asked.evidence)},
              {"status", point.failed ? "failed" : "done"},
              {"failure", text(point.failure)}};
  for (const CaseField& field : case_fields()) object[std::string(field.name)] = field_json(field.get(point.asked));
  object.update({{"strategy", point.asked.strategy.label()},
                 {"throughput", stated(point.throughput)},
                 {"throughput_per_gpu", stated(point.throughput_per_gpu)},
                 {"throughput_unit", "samples/s"},
                 {"efficiency", optional(point.efficiency)},
                 {"efficiency_low", optional(point.efficiency_low)},
                 {"efficiency_high", optional(point.efficiency_high)},
                 {"interval", text(point.interval)},
                 {"warnings", text(fmt::format("{}", fmt::join(point.warnings, "; ")))},
                 {"emulation", text(point.emulation)},
                 {"baseline", text(point.baseline)},
                 {"no_baseline", text(point.no_baseline)},
                 {"step_seconds", stated(point.step_seconds)},
                 {"throttled", share_of(point.throttled.throttled, point.throttled)},
                 {"power_capped", share_of(point.throttled.power_capped, point.throttled)},
                 {"throttling", text(throttling_text(point.throttled.reasons))},
                 {"samples", point.samples},
                 {"machine_in_words", text(point.machine_in_words)},
                 {"version", text(point.producer.version)},
                 {"run", point.producer.run > 0 ? Json(point.producer.run) : Json()},
                 {"labels", labels_json(point.producer.labels)}});
  return object;
}

/// `branch=main commit=abc`
std::string pairs_text(const Json& object) {
  std::string pairs;
  for (const auto& [key, value] : object.items())
    pairs += fmt::format("{}{}={}", pairs.empty() ? "" : " ", key, value.get<std::string>());
  return pairs;
}

std::string csv_cell(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_object()) return csv_field(pairs_text(value));
  return value.is_string() ? csv_field(value.get_ref<const std::string&>()) : value.dump();
}

}  // namespace

std::string points_json(const std::vector<Point>& points) {
  Json array = Json::array();
  for (const Point& point : points) array.push_back(point_json(point));
  return array.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string points_csv(const std::vector<Point>& points) {
  std::string header, rows;
  const Json keys = point_json(Point{});
  for (const auto& [key, value] : keys.items()) {
    if (!header.empty()) header += ',';
    header += key;
  }
  for (const Point& point : points) {
    const Json object = point_json(point);
    std::string row;
    for (const auto& [key, value] : object.items()) {
      if (!row.empty()) row += ',';
      row += csv_cell(value);
    }
    rows += row + "\n";
  }
  return header + "\n" + rows;
}

}  // namespace hbench
