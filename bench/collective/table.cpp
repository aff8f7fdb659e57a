#include "bench/collective/table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "bench/collective/plan.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

/// Candidates stand beside each other where they fit into a usual terminal.
constexpr std::size_t kWidest = 80;

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

/// Of a time that was measured while a GPU was held back; `throttling_notes` says what it means.
const char* throttling_mark(const CollectiveTiming& timing) {
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

std::string time_text(const CollectiveTiming& timing) {
  return microseconds(*timing.seconds) + throttling_mark(timing);
}

using Cells = std::vector<std::string>;
using Rows = std::vector<const CollectiveRow*>;

void add_size(Row& row, const CollectiveRow& each) {
  row.number("size (B)", std::to_string(each.asked().collective.bytes));
}

/// nccl-tests' columns of one way, without those of wrong elements.
void add_timing(Row& row, std::string_view title, const CollectiveRow& each, const CollectiveTiming& timing,
                int busbw_priority = 0) {
  const bool known = timing.seconds.has_value();
  // A rank alone moves nothing.
  const double algbw =
      known && *timing.seconds > 0 ? static_cast<double>(each.asked().collective.bytes) / *timing.seconds : 0;
  const double busbw = known ? algbw * bus_factor(each.asked().collective.name, each.asked().gpus) : 0;
  row.number(title, known ? time_text(timing) : timing.wrong.value_or(0) > 0 ? "-" : hole(each));
  row.number("algbw (GB/s)", known ? gigabytes(algbw) : "-", 1);
  row.number("busbw (GB/s)", known ? gigabytes(busbw) : "-", busbw_priority);
}

void add_wrong(Row& row, const CollectiveTiming& timing) {
  row.number("#wrong", timing.wrong ? std::to_string(*timing.wrong) : "N/A");
}

void add_elements(Row& row, const CollectiveRow& each) {
  const CollectiveTask& task = each.asked().collective;
  row.number("count", std::to_string(count_of(each.asked())), 2);
  row.number("type", task.data_type, 4);
  row.number("redop", task.operation, 4);
}

/// nccl-tests' table of one candidate.
void single_columns(Row& row, const CollectiveRow& each) {
  add_size(row, each);
  add_elements(row, each);
  add_timing(row, "out of place (us)", each, each.figures.out_of_place);
  add_wrong(row, each.figures.out_of_place);
  add_timing(row, "in place (us)", each, each.figures.in_place);
  add_wrong(row, each.figures.in_place);
  row.number("wire (B)", maybe(each.figures.wire_bytes, whole), 3);
}

/// The same of what is simulated, which has a band and no second way, and where nothing is computed that could be
/// wrong; the candidate where there are several.
void simulated_columns(Row& row, const CollectiveRow& each, bool several) {
  const CollectiveFigures& figures = each.figures;
  add_size(row, each);
  if (several) row.words("candidate", each.label);
  add_elements(row, each);
  add_timing(row, "time (us)", each, figures.in_place, 1);
  row.number("90 % band (us)",
             fmt::format("{} - {}", maybe(figures.low, microseconds), maybe(figures.high, microseconds)));
  row.words("known by", figures.basis);
}

/// Ratio of the best peer's time to the best of ours, among rows of one size.
std::string ratio_cell(const Rows& rows) {
  std::optional<double> ours, peer;
  for (const CollectiveRow* row : rows) {
    std::optional<double>& best = is_peer(row->asked()) ? peer : ours;
    if (row->seconds() && (!best || *row->seconds() < *best)) best = row->seconds();
  }
  return ours && peer ? fmt::format("{:.2f}", *peer / *ours) : "-";
}

std::vector<Rows> by_size(const Rows& rows) {
  std::vector<Rows> sizes;
  for (const CollectiveRow* row : rows) {
    if (sizes.empty() || sizes.back().front()->asked().collective.bytes != row->asked().collective.bytes)
      sizes.emplace_back();
    sizes.back().push_back(row);
  }
  return sizes;
}

bool has_both_sides(const Rows& rows) {
  const auto peer = [](const CollectiveRow* row) { return is_peer(row->asked()); };
  return std::ranges::any_of(rows, peer) && !std::ranges::all_of(rows, peer);
}

/// A row per size, a column per candidate.
Table beside_each_other(std::string caption, const Rows& rows, const Cells& labels) {
  const bool ratios = has_both_sides(rows);
  const auto columns = [&](Row& row, const Rows& size) {
    add_size(row, *size.front());
    for (const std::string& label : labels) {
      const auto each = std::ranges::find(size, label, &CollectiveRow::label);
      row.number(label, each == size.end()   ? "-"
                        : (*each)->seconds() ? time_text((*each)->figures.in_place)
                                             : hole(**each));
    }
    if (ratios) row.number("best peer / ours", ratio_cell(size));
  };
  return table_of(by_size(rows), columns, {.caption = std::move(caption)});
}

/// Of a row per size and candidate.
void candidate_columns(Row& row, const CollectiveRow& each) {
  add_size(row, each);
  row.words("candidate", each.label);
  add_timing(row, "time (us)", each, each.figures.in_place);
  add_wrong(row, each.figures.in_place);
}

/// The longest word of a head or the width of a usual time, and a gap.
std::size_t width_beside(const std::string& label) {
  constexpr std::size_t kUsualTime = 7, kGap = 2;
  std::size_t widest = kUsualTime, word = 0;
  for (const char c : label) {
    word = c == ' ' ? 0 : word + 1;
    widest = std::max(widest, word);
  }
  return widest + kGap;
}

bool fit_beside_each_other(const Cells& labels) {
  constexpr std::size_t kSizeAndRatio = 22;
  std::size_t width = kSizeAndRatio;
  for (const std::string& label : labels) width += width_beside(label);
  return width <= kWidest;
}

void compression_columns(Row& row, const CollectiveRow& each) {
  const CollectiveFigures& figures = each.figures;
  add_size(row, each);
  row.words("candidate", each.label);
  row.number("encode (us)", maybe(figures.encode_seconds, microseconds));
  row.number("decode (us)", maybe(figures.decode_seconds, microseconds));
  row.number("wire (B)", maybe(figures.wire_bytes, whole), 2);
  row.number("bits per element", maybe(figures.bits_per_element, bits_text), 1);
  row.number("relative L2 error", maybe(figures.relative_error, scientific));
  row.number("cosine", maybe(figures.cosine, cosine_text), 3);
  row.number("break-even", maybe(figures.break_even, rate_text));
}

Table compression_table(Rows rows) {
  std::erase_if(rows, [](const CollectiveRow* row) { return !row->asked().strategy.compresses(); });
  return table_of(rows, compression_columns,
                  {.caption = "Compression, in one collective: coding of the slowest rank, bytes of the busiest, error "
                              "of the result. It pays on links slower than the break-even: bytes saved / seconds of "
                              "coding."});
}

/// `2 nodes of aws-p5`, with each cluster once.
std::string clusters_of(const Rows& rows) {
  Cells clusters;
  for (const CollectiveRow* row : rows) {
    const int nodes = row->asked().nodes;
    std::string text = fmt::format("{} node{} of {}", nodes, nodes == 1 ? "" : "s", row->asked().profile);
    if (std::ranges::find(clusters, text) == clusters.end()) clusters.push_back(std::move(text));
  }
  return fmt::format("{}, simulated", fmt::join(clusters, "; "));
}

std::string title(const Rows& rows, const Cells& labels, const TableContext& context) {
  const Case& asked = rows.front()->asked();
  std::string text = fmt::format("{}, {} {}, {} rank{} on {}", asked.collective.name, asked.collective.data_type,
                                 asked.collective.operation, asked.gpus, asked.gpus == 1 ? "" : "s",
                                 rows.front()->asked().is_predicted() ? clusters_of(rows) : context.machine);
  if (!asked.workload.empty())
    text += fmt::format("; the tensors of {}{}, one after another", asked.workload,
                        asked.strategy.fusion.empty() ? "" : fmt::format(" merged by {}", asked.strategy.fusion));
  if (labels.size() == 1) text += fmt::format("; {}", labels.front());
  if (asked.strategy.servers > 0)
    text += fmt::format("; {} {} servers", asked.strategy.servers, asked.strategy.server_mode);
  return text;
}

/// Each reason once, with the first case that it was.
std::vector<Block> failures(const Rows& rows) {
  Cells reasons;
  std::map<std::string, Rows> failed;
  for (const CollectiveRow* row : rows) {
    if (row->result.status != CaseStatus::failed) continue;
    Rows& same = failed[row->result.failure];
    if (same.empty()) reasons.push_back(row->result.failure);
    same.push_back(row);
  }
  std::vector<Block> blocks;
  for (const std::string& reason : reasons) {
    const auto& same = failed[reason];
    blocks.emplace_back(
        Paragraph{fmt::format("{} of {} B{}: {}", same.front()->label, same.front()->asked().collective.bytes,
                              same.size() > 1 ? fmt::format(" and {} more", same.size() - 1) : "", reason)});
  }
  return blocks;
}

/// What the marks mean, where there are any.
std::vector<Block> throttling_notes(const Rows& rows) {
  std::uint64_t throttled = 0;
  bool capped = false;
  for (const CollectiveRow* row : rows)
    for (const CollectiveTiming* timing : {&row->figures.in_place, &row->figures.out_of_place}) {
      if (!timing->seconds) continue;
      if (timing->throttled.worst() == Throttling::throttled) throttled |= timing->throttled.reasons;
      capped = capped || timing->throttled.worst() == Throttling::power_cap;
    }
  std::vector<Block> blocks;
  if (throttled != 0)
    blocks.emplace_back(
        Paragraph{fmt::format("!: measured while a GPU was throttled: {}", throttling_text(throttled))});
  if (capped)
    blocks.emplace_back(Paragraph{"^: measured while a GPU was at its power cap, as large ones are under load"});
  return blocks;
}

/// What NCCL says it went by, of the case with the most connections.
std::vector<Block> transport_notes(const Rows& rows) {
  std::map<std::string, int> transports;
  for (const CollectiveRow* row : rows)
    for (const auto& [transport, connections] : row->figures.transports)
      transports[transport] = std::max(transports[transport], connections);
  if (transports.empty()) return {};
  Cells words;
  for (const auto& [transport, connections] : transports)
    words.push_back(fmt::format("{} ({} connection{})", transport, connections, connections == 1 ? "" : "s"));
  return {Paragraph{fmt::format("NCCL went by {}", fmt::join(words, ", "))}};
}

void append(Document& document, std::vector<Block> blocks) {
  std::ranges::move(blocks, std::back_inserter(document.blocks));
}

void add_world(Document& document, const Rows& rows, const TableContext& context) {
  Cells labels;
  for (const CollectiveRow* row : rows)
    if (std::ranges::find(labels, row->label) == labels.end()) labels.push_back(row->label);
  const std::string what = title(rows, labels, context);
  if (rows.front()->asked().is_predicted()) {
    const auto columns = [&](Row& row, const CollectiveRow& each) { simulated_columns(row, each, labels.size() > 1); };
    document.blocks.emplace_back(table_of(rows, columns, {.caption = what + "."}));
  } else if (!context.comparison) {
    document.blocks.emplace_back(
        table_of(rows, single_columns,
                 {.caption = what + ". Out of place: the input is copied, then the collective runs in place."}));
  } else {
    const std::string caption =
        what + ". Time in place (us): median over iterations of the slowest rank; candidates take turns (A B B A).";
    document.blocks.emplace_back(fit_beside_each_other(labels)
                                     ? beside_each_other(caption, rows, labels)
                                     : table_of(rows, candidate_columns, {.caption = caption}));
  }
  append(document, throttling_notes(rows));
  append(document, transport_notes(rows));
  append(document, failures(rows));
  document.add_table(compression_table(rows));
}

void add_peers(Document& document, const std::vector<CollectiveRow>& rows) {
  document.add_table(table_of(compare_with_peers(rows), peer_fields,
                              {.caption = "Against the best peer: its time / ours, geometric mean over the sizes"}));
}

void add_bounds(Document& document, const std::vector<CollectiveRow>& rows) {
  const std::vector<BoundShare> shares = shares_of_bound(rows);
  if (shares.empty()) return;
  document.blocks.emplace_back(table_of(
      shares, bound_fields,
      {.caption = "The bound of shared memory: the bytes that the collective must read and write, at the rates at "
                  "which all ranks together read and write memory with its kernels, measured in turn with it; the "
                  "fastest pass counts."}));
  if (std::ranges::any_of(shares, &BoundShare::exceeded))
    document.blocks.emplace_back(
        Paragraph{"Bound exceeded: the bound is wrong there, since nothing is faster than one."});
}

void add_links(Document& document, const std::vector<CollectiveRow>& rows, BytesPerSecond link) {
  document.add_table(
      table_of(shares_of_link(rows, link), link_fields,
               {.caption = fmt::format("Bus bandwidth of the fastest, as a share of a link's {}", format(link))}));
}

}  // namespace

Document collective_document(const std::vector<CollectiveRow>& rows, const TableContext& context) {
  Document document;
  for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    Rows world;
    while (end < rows.size() && rows[end].asked().gpus == rows[begin].asked().gpus) world.push_back(&rows[end++]);
    add_world(document, world, context);
  }
  add_peers(document, rows);
  add_bounds(document, rows);
  if (context.link) add_links(document, rows, *context.link);
  for (const std::string& note : context.notes) document.blocks.emplace_back(Paragraph{note});
  return document;
}

}  // namespace hbench
