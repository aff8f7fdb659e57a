#include "bench/collective/json.hpp"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "collectives/arithmetic/data_type.hpp"
#include "reports/formats/csv_field.hpp"
#include "reports/prediction/comparison.hpp"

namespace hbench {
namespace {

using Json = nlohmann::ordered_json;

Json optional(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }
Json text(const std::string& value) { return value.empty() ? Json(nullptr) : Json(value); }
Json positive(int value) { return value > 0 ? Json(value) : Json(nullptr); }

/// Null where nobody looked.
Json share_of(std::size_t iterations, const ThrottledShare& among) {
  if (among.iterations == 0) return nullptr;
  return static_cast<double>(iterations) / static_cast<double>(among.iterations);
}

void add_timing(Json& object, const std::string& prefix, const CollectiveTiming& timing, const Case& asked) {
  Json algbw, busbw;
  if (timing.seconds) {
    algbw = static_cast<double>(asked.collective.bytes) / *timing.seconds;
    busbw = algbw.get<double>() * bus_factor(asked.collective.name, asked.gpus);
  }
  object[prefix + "_seconds"] = optional(timing.seconds);
  object[prefix + "_algbw"] = algbw;
  object[prefix + "_busbw"] = busbw;
  object[prefix + "_wrong"] = timing.wrong ? Json(*timing.wrong) : Json(nullptr);
  object[prefix + "_throttled"] = share_of(timing.throttled.throttled, timing.throttled);
  object[prefix + "_power_capped"] = share_of(timing.throttled.power_capped, timing.throttled);
}

Json row_json(const CollectiveRow& row) {
  const Case& asked = row.asked();
  const CollectiveTask& task = asked.collective;
  const CollectiveFigures& figures = row.figures;
  Json object{{"collective", task.name},
              {"candidate", row.label},
              {"peer", is_peer(asked)},
              {"ranks", asked.gpus},
              {"executor", task.executor},
              {"algorithm", asked.strategy.algorithm},
              {"compressor", asked.strategy.compressor},
              {"servers", positive(asked.strategy.servers)},
              {"server_mode", text(asked.strategy.server_mode)},
              {"ranks_per_node", positive(task.ranks_per_node)},
              {"segments", positive(task.segments)},
              {"workload", text(asked.workload)},
              {"fusion", text(asked.strategy.fusion)},
              {"size", task.bytes},
              {"count", task.bytes / static_cast<std::int64_t>(size_of(parse_data_type(task.data_type)))},
              {"type", task.data_type},
              {"redop", task.operation},
              {"status", row.result.status == CaseStatus::done ? "done" : "failed"},
              {"failure", text(row.result.failure)}};
  add_timing(object, "out_of_place", figures.out_of_place, asked);
  add_timing(object, "in_place", figures.in_place, asked);
  object["evidence"] = std::string(to_string(asked.evidence));
  object["profile"] = asked.profile;
  object["nodes"] = positive(asked.nodes);
  object["in_place_seconds_low"] = optional(figures.low);
  object["in_place_seconds_high"] = optional(figures.high);
  object["basis"] = text(figures.basis);
  object["throttling"] =
      text(throttling_text(figures.in_place.throttled.reasons | figures.out_of_place.throttled.reasons));
  object["wire_bytes"] = optional(figures.wire_bytes);
  object["encode_seconds"] = optional(figures.encode_seconds);
  object["decode_seconds"] = optional(figures.decode_seconds);
  object["bits_per_element"] = optional(figures.bits_per_element);
  object["relative_l2_error"] = optional(figures.relative_error);
  object["cosine"] = optional(figures.cosine);
  object["break_even_bandwidth"] = optional(figures.break_even);
  object["bound_seconds"] = optional(figures.bound_seconds);
  object["nccl_transports"] = figures.transports.empty() ? Json(nullptr) : Json(figures.transports);
  return object;
}

/// `metric`, launch and rank: the values of the iterations, in order.
Json samples_json(const CaseResult& result) {
  std::map<std::tuple<std::string, int, bool, int>, Json> series;
  for (const Sample& sample : result.samples)
    series[{sample.metric, sample.launch, sample.warmup, sample.rank}].push_back(sample.value);
  Json array = Json::array();
  for (const auto& [key, values] : series)
    array.push_back({{"metric", std::get<0>(key)},
                     {"launch", std::get<1>(key)},
                     {"warmup", std::get<2>(key)},
                     {"rank", std::get<3>(key)},
                     {"values", values}});
  return array;
}

Json comparison_json(const std::vector<CollectiveRow>& rows) {
  Json array = Json::array();
  for (const PeerComparison& each : compare_with_peers(rows))
    array.push_back({{"ranks", each.ranks},
                     {"ours", each.ours},
                     {"geometric_mean", each.geometric_mean},
                     {"sizes", each.sizes},
                     {"worst", each.worst},
                     {"worst_size", each.worst_bytes},
                     {"worst_peer", each.worst_peer}});
  return array;
}

Json bound_json(const std::vector<CollectiveRow>& rows) {
  Json array = Json::array();
  for (const BoundShare& share : shares_of_bound(rows))
    array.push_back({{"ranks", share.ranks},
                     {"candidate", share.ours},
                     {"size", share.bytes},
                     {"bound_seconds", share.bound_seconds},
                     {"seconds", share.seconds},
                     {"share", share.share()},
                     {"exceeded", share.exceeded()}});
  return array;
}

Json link_json(const std::vector<CollectiveRow>& rows, const std::optional<BytesPerSecond>& link) {
  Json array = Json::array();
  if (!link) return array;
  for (const LinkShare& each : shares_of_link(rows, *link))
    array.push_back({{"ranks", each.ranks},
                     {"size", each.bytes},
                     {"candidate", each.candidate},
                     {"peer", each.peer},
                     {"busbw", each.busbw.value},
                     {"share", each.share}});
  return array;
}

std::string csv_cell(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_primitive() && !value.is_string()) return value.dump();
  return csv_field(value.is_string() ? value.get<std::string>() : value.dump());
}

}  // namespace

std::string collective_json(const std::vector<CollectiveRow>& rows, const std::vector<Refusal>& refused, const Run& run,
                            const std::optional<BytesPerSecond>& link) {
  Json document{{"format", 1},
                {"command", run.command},
                {"version", run.version},
                {"started_at", run.started_at},
                {"environment", run.environment},
                {"units", {{"seconds", "s"}, {"algbw", "B/s"}, {"busbw", "B/s"}, {"break_even_bandwidth", "B/s"}}},
                {"comparison", comparison_json(rows)},
                {"bound", bound_json(rows)},
                {"link", link_json(rows, link)},
                {"refused", Json::array()},
                {"results", Json::array()}};
  for (const Refusal& refusal : refused) document["refused"].push_back({{"what", refusal.what}, {"why", refusal.why}});
  for (const CollectiveRow& row : rows) {
    Json object = row_json(row);
    object["samples"] = samples_json(row.result);
    document["results"].push_back(std::move(object));
  }
  return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string collective_csv(const std::vector<CollectiveRow>& rows) {
  std::string lines;
  bool header = true;
  for (const CollectiveRow& row : rows) {
    std::string names, values;
    const Json object = row_json(row);
    for (const auto& [key, value] : object.items()) {
      const std::string comma = names.empty() ? "" : ",";
      names += comma + key;
      values += comma + csv_cell(value);
    }
    if (header) lines += names + "\n";
    header = false;
    lines += values + "\n";
  }
  return lines;
}

}  // namespace hbench
