#include "bench/points_json.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

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

Json point_json(const Point& point) {
  const Case& asked = point.asked;
  const Strategy& strategy = asked.strategy;
  return {{"evidence", to_string(asked.evidence)},
          {"status", point.failed ? "failed" : "done"},
          {"failure", text(point.failure)},
          {"workload", text(asked.workload)},
          {"gpus", asked.gpus},
          {"strategy", strategy.label()},
          {"algorithm", strategy.algorithm},
          {"placement", text(strategy.placement)},
          {"servers", strategy.servers > 0 ? Json(strategy.servers) : Json(nullptr)},
          {"server_mode", text(strategy.server_mode)},
          {"compressor", text(strategy.compressor)},
          {"fusion", text(strategy.fusion)},
          {"overlap", strategy.overlap},
          {"profile", asked.profile},
          {"collective", text(asked.collective.name)},
          {"executor", text(asked.is_collective() ? asked.collective.executor : asked.training.executor)},
          {"device", text(asked.training.device)},
          {"precision", text(asked.training.precision)},
          {"bytes", asked.collective.bytes > 0 ? Json(asked.collective.bytes) : Json(nullptr)},
          {"type", text(asked.collective.data_type)},
          {"redop", text(asked.collective.operation)},
          {"throughput", stated(point.throughput)},
          {"throughput_per_gpu", stated(point.throughput_per_gpu)},
          {"throughput_unit", "samples/s"},
          {"efficiency", optional(point.efficiency)},
          {"efficiency_low", optional(point.efficiency_low)},
          {"efficiency_high", optional(point.efficiency_high)},
          {"interval", text(point.interval)},
          {"baseline", text(point.baseline)},
          {"step_seconds", stated(point.step_seconds)},
          {"throttled", share_of(point.throttled.throttled, point.throttled)},
          {"power_capped", share_of(point.throttled.power_capped, point.throttled)},
          {"throttling", text(throttling_text(point.throttled.reasons))},
          {"batch_per_gpu", asked.batch_per_gpu > 0 ? Json(asked.batch_per_gpu) : Json(nullptr)},
          {"image_size", asked.image_size > 0 ? Json(asked.image_size) : Json(nullptr)},
          {"samples", point.samples},
          {"implementation", text(asked.implementation)},
          {"source", text(asked.source)}};
}

std::string csv_cell(const Json& value) {
  if (value.is_null()) return "";
  if (!value.is_string()) return value.dump();
  std::string quoted = "\"";
  for (const char c : value.get_ref<const std::string&>()) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
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
