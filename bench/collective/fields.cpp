#include "bench/collective/fields.hpp"

#include <fmt/format.h>

#include "bench/collective/plan.hpp"
#include "collectives/arithmetic/data_type.hpp"
#include "collectives/base/units_text.hpp"
#include "reports/rows/fields.hpp"

namespace hbench {
namespace {

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

}  // namespace

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

}  // namespace hbench
