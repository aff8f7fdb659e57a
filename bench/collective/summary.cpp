#include "bench/collective/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/base/units_text.hpp"
#include "reports/rows/fields.hpp"

namespace hbench {
namespace {

constexpr const char* kBestOfOurs = "the best of ours";

/// Times at one size: of the peers' best, and of each of ours.
struct AtSize {
  std::optional<double> peer;
  std::string peer_label;
  std::map<std::string, double> ours;
};

PeerComparison compare(int ranks, const std::string& label, const std::map<std::int64_t, AtSize>& sizes) {
  PeerComparison comparison{.ranks = ranks, .ours = label};
  double logarithms = 0;
  for (const auto& [bytes, at] : sizes) {
    const auto ours = label == kBestOfOurs
                          ? std::ranges::min_element(at.ours, {}, [](const auto& entry) { return entry.second; })
                          : at.ours.find(label);
    if (!at.peer || ours == at.ours.end()) continue;
    const double ratio = *at.peer / ours->second;
    logarithms += std::log(ratio);
    ++comparison.sizes;
    if (comparison.sizes > 1 && ratio >= comparison.worst) continue;
    comparison.worst = ratio;
    comparison.worst_bytes = bytes;
    comparison.worst_peer = at.peer_label;
  }
  if (comparison.sizes > 0) comparison.geometric_mean = std::exp(logarithms / static_cast<double>(comparison.sizes));
  return comparison;
}

std::string ratio_text(double ratio) { return fmt::format("{:.2f}", ratio); }

void add_timing(Row& row, const std::string& prefix, const CollectiveTiming& timing, const Case& asked) {
  std::optional<double> algbw, busbw;
  if (timing.seconds) {
    algbw = static_cast<double>(asked.collective.bytes) / *timing.seconds;
    busbw = *algbw * bus_factor(asked.collective.name, asked.gpus);
  }
  row.field(prefix + "_seconds", timing.seconds);
  row.field(prefix + "_algbw", algbw);
  row.field(prefix + "_busbw", busbw);
  row.field(prefix + "_wrong", timing.wrong, "elements; null: not checked");
  row.field(prefix + "_throttled", share_of(timing.throttled.throttled, timing.throttled), "share of the iterations");
  row.field(prefix + "_power_capped", share_of(timing.throttled.power_capped, timing.throttled),
            "share of the iterations");
}

/// The metric, the launch, whether it is a warm-up, and the rank; of these the values of the iterations, in order.
using Series = std::map<std::tuple<std::string, int, bool, int>, std::vector<double>>;

Series series_of(const CaseResult& result) {
  Series series;
  for (const Sample& sample : result.samples)
    series[{sample.metric, sample.launch, sample.warmup, sample.rank}].push_back(sample.value);
  return series;
}

void series_fields(Row& row, const Series::value_type& series) {
  const auto& [metric, launch, warmup, rank] = series.first;
  row.field("metric", metric);
  row.field("launch", launch);
  row.field("warmup", warmup);
  row.field("rank", rank);
  row.field("values", series.second, "of the iterations");
}

void result_fields(Row& row, const CollectiveRow& each) {
  collective_fields(row, each);
  row.rows("samples", series_of(each.result), series_fields);
}

void unit_fields(Row& row, int) {
  row.field("seconds", "s");
  row.field("algbw", "B/s");
  row.field("busbw", "B/s");
  row.field("break_even_bandwidth", "B/s");
}

}  // namespace

std::vector<CollectiveRow> collective_rows(const std::vector<CaseResult>& results) {
  std::vector<CollectiveRow> rows;
  for (const CaseResult& result : results)
    rows.push_back({result, collective_figures(result), candidate_label(result.asked)});
  // Cases of several process sets, such as MPICH's, belong beside the others of their size.
  const std::vector<std::string> order = candidates_of(rows);
  const auto place = [&](const CollectiveRow& row) {
    return std::tuple(row.asked().gpus, row.asked().collective.bytes,
                      std::ranges::find(order, row.label) - order.begin());
  };
  std::ranges::stable_sort(rows, {}, place);
  return rows;
}

std::vector<std::string> candidates_of(const std::vector<CollectiveRow>& rows) {
  std::vector<std::string> labels;
  for (const CollectiveRow& row : rows)
    if (std::ranges::find(labels, row.label) == labels.end()) labels.push_back(row.label);
  return labels;
}

std::vector<PeerComparison> compare_with_peers(const std::vector<CollectiveRow>& rows) {
  std::map<int, std::map<std::int64_t, AtSize>> worlds;
  for (const CollectiveRow& row : rows) {
    const std::optional<double> seconds = row.seconds();
    if (!seconds || *seconds <= 0) continue;
    AtSize& at = worlds[row.asked().gpus][row.asked().collective.bytes];
    if (!is_peer(row.asked())) {
      at.ours[row.label] = *seconds;
    } else if (!at.peer || *seconds < *at.peer) {
      at.peer = seconds;
      at.peer_label = row.label;
    }
  }
  std::vector<PeerComparison> all;
  for (const auto& [ranks, sizes] : worlds) {
    std::set<std::string> labels;
    for (const auto& [bytes, at] : sizes)
      for (const auto& [label, seconds] : at.ours) labels.insert(label);
    for (const std::string& label : candidates_of(rows))
      if (labels.contains(label)) all.push_back(compare(ranks, label, sizes));
    if (labels.size() > 1) all.push_back(compare(ranks, kBestOfOurs, sizes));
  }
  std::erase_if(all, [](const PeerComparison& comparison) { return comparison.sizes == 0; });
  return all;
}

std::vector<BoundShare> shares_of_bound(const std::vector<CollectiveRow>& rows) {
  std::vector<BoundShare> shares;
  for (const CollectiveRow& row : rows) {
    if (!row.figures.bound_seconds || !row.seconds()) continue;
    const BoundShare share{row.asked().gpus, row.label, row.asked().collective.bytes, *row.figures.bound_seconds,
                           *row.seconds()};
    const auto known = std::ranges::find_if(
        shares, [&](const BoundShare& other) { return other.ranks == share.ranks && other.ours == share.ours; });
    if (known == shares.end())
      shares.push_back(share);
    else
      *known = share;  // rows ascend: the largest stays
  }
  return shares;
}

std::vector<LinkShare> shares_of_link(const std::vector<CollectiveRow>& rows, BytesPerSecond link) {
  std::map<std::tuple<int, std::int64_t, bool>, LinkShare> fastest;
  for (const CollectiveRow& row : rows) {
    const std::optional<double> seconds = row.seconds();
    if (!seconds || *seconds <= 0) continue;
    const Case& asked = row.asked();
    LinkShare share{
        .ranks = asked.gpus, .bytes = asked.collective.bytes, .candidate = row.label, .peer = is_peer(asked)};
    share.busbw =
        BytesPerSecond(static_cast<double>(share.bytes) / *seconds * bus_factor(asked.collective.name, asked.gpus));
    share.share = share.busbw.value / link.value;
    LinkShare& best = fastest[{share.ranks, share.bytes, share.peer}];
    if (share.share > best.share) best = std::move(share);
  }
  std::vector<LinkShare> shares;
  for (auto& [key, share] : fastest) shares.push_back(std::move(share));
  return shares;
}

std::int64_t count_of(const Case& asked) {
  return asked.collective.bytes / static_cast<std::int64_t>(size_of(parse_data_type(asked.collective.data_type)));
}

void collective_fields(Row& row, const CollectiveRow& each) {
  const Case& asked = each.asked();
  const CollectiveTask& task = asked.collective;
  const CollectiveFigures& figures = each.figures;
  row.field("collective", task.name);
  row.field("candidate", each.label);
  row.field("peer", is_peer(asked), "whether it is another library's");
  row.field("ranks", asked.gpus);
  row.field("executor", task.executor);
  row.field("algorithm", asked.strategy.algorithm);
  row.field("compressor", asked.strategy.compressor);
  row.field("servers", if_positive(asked.strategy.servers));
  row.field("server_mode", if_stated(asked.strategy.server_mode));
  row.field("ranks_per_node", if_positive(task.ranks_per_node));
  row.field("segments", if_positive(task.segments));
  row.field("workload", if_stated(asked.workload), "whose tensors travel");
  row.field("fusion", if_stated(asked.strategy.fusion));
  row.field("size", task.bytes, "bytes");
  row.field("count", count_of(asked), "elements");
  row.field("type", task.data_type);
  row.field("redop", task.operation);
  row.field("status", each.result.status == CaseStatus::done ? "done" : "failed");
  row.field("failure", if_stated(each.result.failure));
  add_timing(row, "out_of_place", figures.out_of_place, asked);
  add_timing(row, "in_place", figures.in_place, asked);
  row.field("evidence", to_string(asked.evidence));
  row.field("profile", asked.profile);
  row.field("nodes", if_positive(asked.nodes));
  row.field("in_place_seconds_low", figures.low, "of the 90 % band of a simulated one");
  row.field("in_place_seconds_high", figures.high, "of the 90 % band of a simulated one");
  row.field("basis", if_stated(figures.basis), "of a simulated one");
  row.field("throttling",
            if_stated(throttling_text(figures.in_place.throttled.reasons | figures.out_of_place.throttled.reasons)));
  row.field("wire_bytes", figures.wire_bytes, "of the busiest rank");
  row.field("encode_seconds", figures.encode_seconds, "of the slowest rank");
  row.field("decode_seconds", figures.decode_seconds, "of the slowest rank");
  row.field("bits_per_element", figures.bits_per_element, "on the wire");
  row.field("relative_l2_error", figures.relative_error);
  row.field("cosine", figures.cosine);
  row.field("break_even_bandwidth", figures.break_even, "of a link below which compressing pays");
  row.field("bound_seconds", figures.bound_seconds, "that memory takes at least");
  row.field("nccl_transports", if_known(!figures.transports.empty(), figures.transports), "connections by transport");
}

void peer_fields(Row& row, const PeerComparison& each) {
  row.field("ranks", each.ranks).in("ranks");
  row.field("ours", each.ours).in("candidate");
  row.number("sizes", std::to_string(each.sizes), 1);
  row.field("geometric_mean", each.geometric_mean, "best peer's time / ours, over the sizes").in("mean", ratio_text);
  row.field("sizes", each.sizes, "that both have");
  row.field("worst", each.worst).in("worst", ratio_text);
  row.field("worst_size", each.worst_bytes, "bytes").in("at size (B)");
  row.field("worst_peer", each.worst_peer).in("against");
}

void bound_fields(Row& row, const BoundShare& each) {
  row.field("ranks", each.ranks).in("ranks");
  row.field("candidate", each.ours).in("candidate");
  row.field("size", each.bytes, "bytes").in("size (B)");
  row.number("time (us)", microseconds(each.seconds));
  row.field("bound_seconds", each.bound_seconds).in("bound (us)", microseconds);
  row.field("seconds", each.seconds);
  row.field("share", each.share(), "bound / time")
      .in("of bound", fmt::format("{:.0f} %{}", 100 * each.share(), each.exceeded() ? ", exceeded" : ""));
  row.field("exceeded", each.exceeded(), "the bound is wrong");
}

void link_fields(Row& row, const LinkShare& each) {
  row.field("ranks", each.ranks).in("ranks");
  row.field("size", each.bytes, "bytes").in("size (B)");
  row.field("candidate", each.candidate).in("candidate");
  row.field("peer", each.peer, "whether it is another library's");
  row.field("busbw", each.busbw.value).in("busbw", format(each.busbw));
  row.field("share", each.share, "of a link's rate").in("share", fmt::format("{:.1f} %", 100 * each.share));
}

std::string collective_json(const std::vector<CollectiveRow>& rows, const std::vector<Refusal>& refused, const Run& run,
                            const std::optional<BytesPerSecond>& link, Form form) {
  return object_text(form, "hbench collective --json, format 1", run, [&](Row& row, const Run&) {
    row.field("format", 1);
    row.field("command", run.command);
    row.field("version", run.version, "of hbench");
    row.field("started_at", run.started_at, "UTC");
    row.field("environment", run.environment, "facts about the machine");
    row.object("units", 0, unit_fields);
    row.rows("comparison", compare_with_peers(rows), peer_fields);
    row.rows("bound", shares_of_bound(rows), bound_fields);
    row.rows("link", link ? shares_of_link(rows, *link) : std::vector<LinkShare>(), link_fields);
    row.rows("refused", refused, refusal_fields);
    row.rows("results", rows, result_fields);
  });
}

std::string collective_csv(const std::vector<CollectiveRow>& rows) {
  std::vector<Json> objects;
  for (const CollectiveRow& row : rows) objects.push_back(json_of(Form::values, row, collective_fields));
  return csv_lines(objects);
}

}  // namespace hbench
