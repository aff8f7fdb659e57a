#include "bench/collective/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "bench/collective/plan.hpp"
#include "collectives/arithmetic/data_type.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

/// Wider tables are cut off on usual terminals.
constexpr std::size_t kWidest = 120;

std::int64_t count_of(const Case& asked) {
  return asked.collective.bytes / static_cast<std::int64_t>(size_of(parse_data_type(asked.collective.data_type)));
}

std::string gigabytes(double bytes_per_second) {
  const double value = bytes_per_second / 1e9;
  return value >= 0.01 || value == 0 ? fmt::format("{:.2f}", value) : fmt::format("{:.4f}", value);
}

std::string maybe(const std::optional<double>& value, std::string (*text)(double)) {
  return value ? text(*value) : "-";
}

std::string whole(double value) { return fmt::format("{:.0f}", value); }
std::string scientific(double value) { return value == 0 ? "0" : fmt::format("{:.1e}", value); }
std::string cosine_text(double value) { return fmt::format("{:.6f}", value); }
std::string bits_text(double value) { return fmt::format("{:.4g}", value); }
std::string rate_text(double value) { return format(BytesPerSecond(value)); }

/// Why there is no time.
std::string hole(const CollectiveRow& row) {
  if (row.result.status != CaseStatus::failed) return "-";
  return row.result.exit_code == static_cast<int>(ExitCode::wrong_data) ? "wrong"
         : row.result.exit_code == static_cast<int>(ExitCode::usage)    ? "n/a"
                                                                        : "lost";
}

/// Of a time that was measured while a GPU was held back; `throttling_lines` says what it means.
const char* mark(const CollectiveTiming& timing) {
  switch (timing.throttled.worst()) {
    case Throttling::none:
      return "";
    case Throttling::power_cap:
      return "^";
    case Throttling::throttled:
      return "!";
  }
  return "";
}

std::string time_text(const CollectiveTiming& timing) { return microseconds(*timing.seconds) + mark(timing); }

std::string timing_cells(const CollectiveRow& row, const CollectiveTiming& timing) {
  const std::string wrong = timing.wrong ? std::to_string(*timing.wrong) : "N/A";
  if (!timing.seconds)
    return fmt::format("  {:>9} {:>7} {:>7} {:>6}", timing.wrong.value_or(0) > 0 ? "-" : hole(row), "-", "-", wrong);
  const double algbw = static_cast<double>(row.asked().collective.bytes) / *timing.seconds;
  const double busbw = algbw * bus_factor(row.asked().collective.name, row.asked().gpus);
  return fmt::format("  {:>9} {:>7} {:>7} {:>6}", time_text(timing), gigabytes(algbw), gigabytes(busbw), wrong);
}

std::string row_head(const Case& asked) {
  return fmt::format("{:>12} {:>11} {:>8} {:>7}", asked.collective.bytes, count_of(asked), asked.collective.data_type,
                     asked.collective.operation);
}

/// nccl-tests' table of one contender.
std::string single_table(const std::vector<const CollectiveRow*>& rows) {
  std::string text = fmt::format("#{:>40}  {:^31}  {:^31}\n", "", "out of place", "in place");
  text += fmt::format("#{:>11} {:>11} {:>8} {:>7}", "size", "count", "type", "redop");
  for (int i = 0; i < 2; ++i) text += fmt::format("  {:>9} {:>7} {:>7} {:>6}", "time", "algbw", "busbw", "#wrong");
  text += fmt::format("  {:>10}\n", "wire");
  text += fmt::format("#{:>11} {:>11} {:>8} {:>7}", "(B)", "(elements)", "", "");
  for (int i = 0; i < 2; ++i) text += fmt::format("  {:>9} {:>7} {:>7} {:>6}", "(us)", "(GB/s)", "(GB/s)", "");
  text += fmt::format("  {:>10}\n", "(B)");
  for (const CollectiveRow* row : rows)
    text += fmt::format("{}{}{}  {:>10}\n", row_head(row->asked()), timing_cells(*row, row->figures.out_of_place),
                        timing_cells(*row, row->figures.in_place), maybe(row->figures.wire_bytes, whole));
  return text;
}

/// The words of a contender on two lines: algorithm and executor.
std::pair<std::string, std::string> column_head(const std::string& label) {
  const std::size_t by = label.rfind(" by ");
  return by == std::string::npos ? std::pair(label, std::string())
                                 : std::pair(label.substr(0, by), label.substr(by + 4));
}

/// Ratio of the best peer's time to the best of ours, among rows of one size.
std::string ratio_cell(const std::vector<const CollectiveRow*>& rows) {
  std::optional<double> ours, peer;
  for (const CollectiveRow* row : rows) {
    std::optional<double>& best = is_peer(row->asked()) ? peer : ours;
    if (row->seconds() && (!best || *row->seconds() < *best)) best = row->seconds();
  }
  return ours && peer ? fmt::format("{:.2f}", *peer / *ours) : "-";
}

std::vector<std::vector<const CollectiveRow*>> by_size(const std::vector<const CollectiveRow*>& rows) {
  std::vector<std::vector<const CollectiveRow*>> sizes;
  for (const CollectiveRow* row : rows) {
    if (sizes.empty() || sizes.back().front()->asked().collective.bytes != row->asked().collective.bytes)
      sizes.emplace_back();
    sizes.back().push_back(row);
  }
  return sizes;
}

bool has_both_sides(const std::vector<const CollectiveRow*>& rows) {
  const auto peer = [](const CollectiveRow* row) { return is_peer(row->asked()); };
  return std::ranges::any_of(rows, peer) && !std::ranges::all_of(rows, peer);
}

/// A row per size, a column per contender.
std::string wide_table(const std::vector<const CollectiveRow*>& rows, const std::vector<std::string>& labels) {
  std::string first = fmt::format("#{:>11}", "size"), second = fmt::format("#{:>11}", "(B)");
  std::vector<std::size_t> widths;
  for (const std::string& label : labels) {
    const auto [algorithm, executor] = column_head(label);
    widths.push_back(std::max({algorithm.size(), executor.size(), std::size_t{9}}) + 2);
    first += fmt::format("{:>{}}", algorithm, widths.back());
    second += fmt::format("{:>{}}", executor, widths.back());
  }
  const bool ratios = has_both_sides(rows);
  if (ratios) first += fmt::format("{:>11}", "best peer"), second += fmt::format("{:>11}", "/ ours");
  if (second.size() > kWidest) return {};
  std::string text = first + "\n" + second + "\n";
  for (const auto& size : by_size(rows)) {
    text += fmt::format("{:>12}", size.front()->asked().collective.bytes);
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const auto row = std::ranges::find_if(size, [&](const CollectiveRow* each) { return each->label == labels[i]; });
      const std::string cell = row == size.end()   ? "-"
                               : (*row)->seconds() ? time_text((*row)->figures.in_place)
                                                   : hole(**row);
      text += fmt::format("{:>{}}", cell, widths[i]);
    }
    if (ratios) text += fmt::format("{:>11}", ratio_cell(size));
    text += "\n";
  }
  return text;
}

/// A row per size and contender, for more contenders than there is room for.
std::string long_table(const std::vector<const CollectiveRow*>& rows) {
  std::size_t width = 9;
  for (const CollectiveRow* row : rows) width = std::max(width, row->label.size());
  std::string text = fmt::format("#{:>11}  {:<{}}  {:>9} {:>7} {:>7} {:>7}\n", "size", "contender", width, "time",
                                 "algbw", "busbw", "#wrong");
  text += fmt::format("#{:>11}  {:<{}}  {:>9} {:>7} {:>7}\n", "(B)", "", width, "(us)", "(GB/s)", "(GB/s)");
  for (const auto& size : by_size(rows))
    for (const CollectiveRow* row : size)
      text += fmt::format("{:>12}  {:<{}}{}\n", row->asked().collective.bytes, row->label, width,
                          timing_cells(*row, row->figures.in_place));
  return text;
}

bool is_compressed(const CollectiveRow& row) { return row.asked().strategy.compressor != "none"; }

std::string compression_table(const std::vector<const CollectiveRow*>& rows) {
  std::vector<const CollectiveRow*> compressed;
  std::ranges::copy_if(rows, std::back_inserter(compressed),
                       [](const CollectiveRow* row) { return is_compressed(*row); });
  if (compressed.empty()) return {};
  std::size_t width = 10;
  for (const CollectiveRow* row : compressed) width = std::max(width, row->label.size());
  std::string text =
      "# Compression, in one collective: coding of the slowest rank, bytes of the busiest, error of the result;\n"
      "# it pays on links slower than the break-even: bytes saved / seconds of coding.\n";
  text += fmt::format("#{:>11}  {:<{}} {:>10} {:>10} {:>11} {:>9} {:>9} {:>9} {:>12}\n", "size", "contender", width,
                      "encode", "decode", "wire", "bits per", "relative", "cosine", "break-even");
  text += fmt::format("#{:>11}  {:<{}} {:>10} {:>10} {:>11} {:>9} {:>9} {:>9} {:>12}\n", "(B)", "", width, "(us)",
                      "(us)", "(B)", "element", "L2 error", "", "");
  for (const CollectiveRow* row : compressed) {
    const CollectiveFigures& figures = row->figures;
    text += fmt::format("{:>12}  {:<{}} {:>10} {:>10} {:>11} {:>9} {:>9} {:>9} {:>12}\n", row->asked().collective.bytes,
                        row->label, width, maybe(figures.encode_seconds, microseconds),
                        maybe(figures.decode_seconds, microseconds), maybe(figures.wire_bytes, whole),
                        maybe(figures.bits_per_element, bits_text), maybe(figures.relative_error, scientific),
                        maybe(figures.cosine, cosine_text), maybe(figures.break_even, rate_text));
  }
  return text;
}

std::string title(const std::vector<const CollectiveRow*>& rows, const std::vector<std::string>& labels,
                  const TableContext& context) {
  const Case& asked = rows.front()->asked();
  std::string text = fmt::format("# {}, {} {}, {} rank{} on {}", asked.collective.name, asked.collective.data_type,
                                 asked.collective.operation, asked.gpus, asked.gpus == 1 ? "" : "s", context.machine);
  if (!asked.workload.empty())
    text += fmt::format("\n# the tensors of {}{}, one after another", asked.workload,
                        asked.strategy.fusion.empty() ? "" : fmt::format(" merged by {}", asked.strategy.fusion));
  if (labels.size() == 1) text += fmt::format("\n# {}", labels.front());
  if (asked.strategy.servers > 0)
    text += fmt::format("\n# {} {} servers", asked.strategy.servers, asked.strategy.server_mode);
  return text + "\n";
}

/// Each reason once, with the first case that it was.
std::string failures(const std::vector<const CollectiveRow*>& rows) {
  std::vector<std::string> reasons;
  std::map<std::string, std::vector<const CollectiveRow*>> failed;
  for (const CollectiveRow* row : rows) {
    if (row->result.status != CaseStatus::failed) continue;
    std::vector<const CollectiveRow*>& same = failed[row->result.failure];
    if (same.empty()) reasons.push_back(row->result.failure);
    same.push_back(row);
  }
  std::string text;
  for (const std::string& reason : reasons) {
    const auto& same = failed[reason];
    text += fmt::format("# {} of {} B{}: {}\n", same.front()->label, same.front()->asked().collective.bytes,
                        same.size() > 1 ? fmt::format(" and {} more", same.size() - 1) : "", reason);
  }
  return text;
}

/// What the marks mean, where there are any.
std::string throttling_lines(const std::vector<const CollectiveRow*>& rows) {
  std::uint64_t throttled = 0;
  bool capped = false;
  for (const CollectiveRow* row : rows)
    for (const CollectiveTiming* timing : {&row->figures.in_place, &row->figures.out_of_place}) {
      if (!timing->seconds) continue;
      if (timing->throttled.worst() == Throttling::throttled) throttled |= timing->throttled.reasons;
      capped = capped || timing->throttled.worst() == Throttling::power_cap;
    }
  std::string text;
  if (throttled != 0) text += fmt::format("# !: measured while a GPU was throttled: {}\n", throttling_text(throttled));
  if (capped) text += "# ^: measured while a GPU was at its power cap, as large ones are under load\n";
  return text;
}

/// What NCCL says it went by, of the case with the most connections.
std::string transport_lines(const std::vector<const CollectiveRow*>& rows) {
  std::map<std::string, int> transports;
  for (const CollectiveRow* row : rows)
    for (const auto& [transport, connections] : row->figures.transports)
      transports[transport] = std::max(transports[transport], connections);
  if (transports.empty()) return {};
  std::vector<std::string> words;
  for (const auto& [transport, connections] : transports)
    words.push_back(fmt::format("{} ({} connection{})", transport, connections, connections == 1 ? "" : "s"));
  return fmt::format("# NCCL went by {}\n", fmt::join(words, ", "));
}

std::string world_table(const std::vector<const CollectiveRow*>& rows, const TableContext& context) {
  std::vector<std::string> labels;
  for (const CollectiveRow* row : rows)
    if (std::ranges::find(labels, row->label) == labels.end()) labels.push_back(row->label);
  std::string text = title(rows, labels, context);
  if (!context.comparison) {
    text += "# out of place: the input is copied, then the collective runs in place\n" + single_table(rows);
  } else {
    text += "# time in place, us: median over iterations of the slowest rank; contenders take turns (A B B A)\n";
    const std::string wide = wide_table(rows, labels);
    text += wide.empty() ? long_table(rows) : wide;
  }
  text += throttling_lines(rows) + transport_lines(rows);
  text += failures(rows);
  const std::string compression = compression_table(rows);
  return compression.empty() ? text : text + "\n" + compression;
}

std::string peer_lines(const std::vector<CollectiveRow>& rows) {
  const std::vector<PeerComparison> all = compare_with_peers(rows);
  if (all.empty()) return {};
  std::size_t width = 9;
  for (const PeerComparison& each : all) width = std::max(width, each.ours.size());
  std::string text = "# How fast against the best peer: its time / ours, geometric mean over the sizes\n";
  text += fmt::format("#{:>5}  {:<{}} {:>6} {:>8} {:>8} {:>12}  {}\n", "ranks", "contender", width, "sizes", "mean",
                      "worst", "at size", "against");
  for (const PeerComparison& each : all)
    text += fmt::format("{:>6}  {:<{}} {:>6} {:>8.2f} {:>8.2f} {:>12}  {}\n", each.ranks, each.ours, width, each.sizes,
                        each.geometric_mean, each.worst, each.worst_bytes, each.worst_peer);
  return text;
}

std::string bound_lines(const std::vector<CollectiveRow>& rows) {
  const std::vector<BoundShare> all = shares_of_bound(rows);
  if (all.empty()) return {};
  std::size_t width = 9;
  for (const BoundShare& each : all) width = std::max(width, each.ours.size());
  std::string text =
      "# The bound of shared memory: every buffer is read once and written once. All ranks doing that to their own at\n"
      "# the same time, and nothing else, was measured in turn with the collective\n";
  text += fmt::format("#{:>5}  {:<{}} {:>12} {:>10} {:>10} {:>10}\n", "ranks", "contender", width, "size (B)",
                      "time (us)", "bound (us)", "of bound");
  for (const BoundShare& each : all)
    text += fmt::format("{:>6}  {:<{}} {:>12} {:>10} {:>10} {:>8.0f} %\n", each.ranks, each.ours, width, each.bytes,
                        microseconds(each.seconds), microseconds(each.bound_seconds),
                        100 * each.bound_seconds / each.seconds);
  return text;
}

std::string link_lines(const std::vector<CollectiveRow>& rows, const std::optional<BytesPerSecond>& link) {
  if (!link) return {};
  const std::vector<LinkShare> all = shares_of_link(rows, *link);
  std::size_t width = 9;
  for (const LinkShare& each : all) width = std::max(width, each.contender.size());
  std::string text = fmt::format("# Bus bandwidth of the fastest, as a share of a link's {}\n", format(*link));
  text +=
      fmt::format("#{:>5}  {:>12}  {:<{}} {:>14} {:>8}\n", "ranks", "size (B)", "contender", width, "busbw", "share");
  for (const LinkShare& each : all)
    text += fmt::format("{:>6}  {:>12}  {:<{}} {:>14} {:>6.1f} %\n", each.ranks, each.bytes, each.contender, width,
                        format(each.busbw), 100 * each.share);
  return text;
}

std::string closing(const std::vector<CollectiveRow>& rows, const TableContext& context) {
  std::string text;
  for (const std::string& part : {peer_lines(rows), bound_lines(rows), link_lines(rows, context.link)})
    if (!part.empty()) text += (text.empty() ? "" : "\n") + part;
  return text;
}

}  // namespace

std::string microseconds(double seconds) {
  const double us = seconds * 1e6;
  return us < 100 ? fmt::format("{:.2f}", us) : us < 1000 ? fmt::format("{:.1f}", us) : fmt::format("{:.0f}", us);
}

std::string collective_table(const std::vector<CollectiveRow>& rows, const TableContext& context) {
  std::string text;
  for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    std::vector<const CollectiveRow*> world;
    while (end < rows.size() && rows[end].asked().gpus == rows[begin].asked().gpus) world.push_back(&rows[end++]);
    if (!text.empty()) text += "\n";
    text += world_table(world, context);
  }
  const std::string end = closing(rows, context);
  return end.empty() ? text : text + "\n" + end;
}

}  // namespace hbench
