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

/// Candidates stand beside each other where they fit into a usual terminal.
constexpr std::size_t kWidest = 80;

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

/// A column of a table, as `Table` has them apart.
struct ColumnHead {
  std::string name;
  bool numeric = true;
  int priority = 0;
};

Table table_of(std::string caption, const std::vector<ColumnHead>& columns) {
  Table table{.caption = std::move(caption)};
  for (const ColumnHead& column : columns) {
    table.columns.push_back(column.name);
    table.numeric.push_back(column.numeric);
    table.priority.push_back(column.priority);
  }
  return table;
}

void append(Cells& cells, const Cells& more) { cells.insert(cells.end(), more.begin(), more.end()); }

std::vector<ColumnHead> timing_heads(const std::string& time) {
  return {{time}, {"algbw (GB/s)", true, 1}, {"busbw (GB/s)"}, {"#wrong"}};
}

Cells timing_cells(const CollectiveRow& row, const CollectiveTiming& timing) {
  const std::string wrong = timing.wrong ? std::to_string(*timing.wrong) : "N/A";
  if (!timing.seconds) return {timing.wrong.value_or(0) > 0 ? "-" : hole(row), "-", "-", wrong};
  const double algbw = static_cast<double>(row.asked().collective.bytes) / *timing.seconds;
  const double busbw = algbw * bus_factor(row.asked().collective.name, row.asked().gpus);
  return {time_text(timing), gigabytes(algbw), gigabytes(busbw), wrong};
}

std::string size_cell(const CollectiveRow& row) { return std::to_string(row.asked().collective.bytes); }

/// nccl-tests' table of one candidate.
Table single_table(std::string caption, const std::vector<const CollectiveRow*>& rows) {
  std::vector<ColumnHead> columns{{"size (B)"}, {"count", true, 2}, {"type", true, 4}, {"redop", true, 4}};
  for (const char* way : {"out of place (us)", "in place (us)"})
    for (ColumnHead& head : timing_heads(way)) columns.push_back(std::move(head));
  columns.push_back({"wire (B)", true, 3});
  Table table = table_of(std::move(caption), columns);
  for (const CollectiveRow* row : rows) {
    const CollectiveTask& task = row->asked().collective;
    Cells& cells = table.rows.emplace_back(
        Cells{size_cell(*row), std::to_string(count_of(row->asked())), task.data_type, task.operation});
    append(cells, timing_cells(*row, row->figures.out_of_place));
    append(cells, timing_cells(*row, row->figures.in_place));
    cells.push_back(maybe(row->figures.wire_bytes, whole));
  }
  return table;
}

/// The same of what is simulated, which has a band and no second way; a row per size, and candidate where there are
/// several.
Table simulated_table(std::string caption, const std::vector<const CollectiveRow*>& rows, bool several) {
  std::vector<ColumnHead> columns{{"size (B)"}};
  if (several) columns.push_back({"candidate", false});
  for (const ColumnHead& head : {ColumnHead{"count", true, 2},
                                 {"type", true, 4},
                                 {"redop", true, 4},
                                 {"time (us)"},
                                 {"algbw (GB/s)", true, 1},
                                 {"busbw (GB/s)", true, 1},
                                 {"90 % band (us)"}})
    columns.push_back(head);
  columns.push_back({"known by", false});
  Table table = table_of(std::move(caption), columns);
  for (const CollectiveRow* row : rows) {
    const CollectiveTask& task = row->asked().collective;
    Cells& cells = table.rows.emplace_back(Cells{size_cell(*row)});
    if (several) cells.push_back(row->label);
    append(cells, {std::to_string(count_of(row->asked())), task.data_type, task.operation});
    Cells timing = timing_cells(*row, row->figures.in_place);
    timing.pop_back();  // nothing was computed that could be wrong
    append(cells, timing);
    cells.push_back(
        fmt::format("{} - {}", maybe(row->figures.low, microseconds), maybe(row->figures.high, microseconds)));
    cells.push_back(row->figures.basis);
  }
  return table;
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

/// A row per size, a column per candidate.
Table beside_each_other(std::string caption, const std::vector<const CollectiveRow*>& rows, const Cells& labels) {
  std::vector<ColumnHead> columns{{"size (B)"}};
  for (const std::string& label : labels) columns.push_back({label});
  const bool ratios = has_both_sides(rows);
  if (ratios) columns.push_back({"best peer / ours"});
  Table table = table_of(std::move(caption), columns);
  for (const auto& size : by_size(rows)) {
    Cells& cells = table.rows.emplace_back(Cells{size_cell(*size.front())});
    for (const std::string& label : labels) {
      const auto row = std::ranges::find(size, label, &CollectiveRow::label);
      cells.push_back(row == size.end() ? "-" : (*row)->seconds() ? time_text((*row)->figures.in_place) : hole(**row));
    }
    if (ratios) cells.push_back(ratio_cell(size));
  }
  return table;
}

/// A row per size and candidate.
Table below_each_other(std::string caption, const std::vector<const CollectiveRow*>& rows) {
  std::vector<ColumnHead> columns{{"size (B)"}, {"candidate", false}};
  for (ColumnHead& head : timing_heads("time (us)")) columns.push_back(std::move(head));
  Table table = table_of(std::move(caption), columns);
  for (const auto& size : by_size(rows))
    for (const CollectiveRow* row : size) {
      Cells& cells = table.rows.emplace_back(Cells{size_cell(*row), row->label});
      append(cells, timing_cells(*row, row->figures.in_place));
    }
  return table;
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

bool is_compressed(const CollectiveRow* row) { return row->asked().strategy.compresses(); }

Table compression_table(const std::vector<const CollectiveRow*>& rows) {
  Table table = table_of(
      "Compression, in one collective: coding of the slowest rank, bytes of the busiest, error of the result. It pays "
      "on links slower than the break-even: bytes saved / seconds of coding.",
      {{"size (B)"},
       {"candidate", false},
       {"encode (us)"},
       {"decode (us)"},
       {"wire (B)", true, 2},
       {"bits per element", true, 1},
       {"relative L2 error"},
       {"cosine", true, 3},
       {"break-even"}});
  for (const CollectiveRow* row : rows) {
    if (!is_compressed(row)) continue;
    const CollectiveFigures& figures = row->figures;
    table.rows.push_back({size_cell(*row), row->label, maybe(figures.encode_seconds, microseconds),
                          maybe(figures.decode_seconds, microseconds), maybe(figures.wire_bytes, whole),
                          maybe(figures.bits_per_element, bits_text), maybe(figures.relative_error, scientific),
                          maybe(figures.cosine, cosine_text), maybe(figures.break_even, rate_text)});
  }
  return table;
}

bool is_simulated(const CollectiveRow* row) { return row->asked().evidence == Evidence::simulated; }

/// `2 nodes of aws-p5`, with each cluster once.
std::string clusters_of(const std::vector<const CollectiveRow*>& rows) {
  Cells clusters;
  for (const CollectiveRow* row : rows) {
    const int nodes = row->asked().nodes;
    std::string text = fmt::format("{} node{} of {}", nodes, nodes == 1 ? "" : "s", row->asked().profile);
    if (std::ranges::find(clusters, text) == clusters.end()) clusters.push_back(std::move(text));
  }
  return fmt::format("{}, simulated", fmt::join(clusters, "; "));
}

std::string title(const std::vector<const CollectiveRow*>& rows, const Cells& labels, const TableContext& context) {
  const Case& asked = rows.front()->asked();
  std::string text = fmt::format("{}, {} {}, {} rank{} on {}", asked.collective.name, asked.collective.data_type,
                                 asked.collective.operation, asked.gpus, asked.gpus == 1 ? "" : "s",
                                 is_simulated(rows.front()) ? clusters_of(rows) : context.machine);
  if (!asked.workload.empty())
    text += fmt::format("; the tensors of {}{}, one after another", asked.workload,
                        asked.strategy.fusion.empty() ? "" : fmt::format(" merged by {}", asked.strategy.fusion));
  if (labels.size() == 1) text += fmt::format("; {}", labels.front());
  if (asked.strategy.servers > 0)
    text += fmt::format("; {} {} servers", asked.strategy.servers, asked.strategy.server_mode);
  return text;
}

/// Each reason once, with the first case that it was.
std::vector<Block> failures(const std::vector<const CollectiveRow*>& rows) {
  Cells reasons;
  std::map<std::string, std::vector<const CollectiveRow*>> failed;
  for (const CollectiveRow* row : rows) {
    if (row->result.status != CaseStatus::failed) continue;
    std::vector<const CollectiveRow*>& same = failed[row->result.failure];
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
std::vector<Block> throttling_notes(const std::vector<const CollectiveRow*>& rows) {
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
std::vector<Block> transport_notes(const std::vector<const CollectiveRow*>& rows) {
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

void add_world(Document& document, const std::vector<const CollectiveRow*>& rows, const TableContext& context) {
  Cells labels;
  for (const CollectiveRow* row : rows)
    if (std::ranges::find(labels, row->label) == labels.end()) labels.push_back(row->label);
  const std::string what = title(rows, labels, context);
  if (is_simulated(rows.front())) {
    document.blocks.emplace_back(simulated_table(what + ".", rows, labels.size() > 1));
  } else if (!context.comparison) {
    document.blocks.emplace_back(
        single_table(what + ". Out of place: the input is copied, then the collective runs in place.", rows));
  } else {
    const std::string caption =
        what + ". Time in place (us): median over iterations of the slowest rank; candidates take turns (A B B A).";
    document.blocks.emplace_back(fit_beside_each_other(labels) ? beside_each_other(caption, rows, labels)
                                                               : below_each_other(caption, rows));
  }
  append(document, throttling_notes(rows));
  append(document, transport_notes(rows));
  append(document, failures(rows));
  if (Table compression = compression_table(rows); !compression.rows.empty())
    document.blocks.emplace_back(std::move(compression));
}

void add_peers(Document& document, const std::vector<CollectiveRow>& rows) {
  Table table = table_of(
      "Against the best peer: its time / ours, geometric mean over the sizes",
      {{"ranks"}, {"candidate", false}, {"sizes", true, 1}, {"mean"}, {"worst"}, {"at size (B)"}, {"against", false}});
  for (const PeerComparison& each : compare_with_peers(rows))
    table.rows.push_back({std::to_string(each.ranks), each.ours, std::to_string(each.sizes),
                          fmt::format("{:.2f}", each.geometric_mean), fmt::format("{:.2f}", each.worst),
                          std::to_string(each.worst_bytes), each.worst_peer});
  if (!table.rows.empty()) document.blocks.emplace_back(std::move(table));
}

void add_bounds(Document& document, const std::vector<CollectiveRow>& rows) {
  Table table = table_of(
      "The bound of shared memory: the bytes that the collective must read and write, at the rates at which all ranks "
      "together read and write memory with its kernels, measured in turn with it; the fastest pass counts.",
      {{"ranks"}, {"candidate", false}, {"size (B)"}, {"time (us)"}, {"bound (us)"}, {"of bound"}});
  for (const BoundShare& each : shares_of_bound(rows))
    table.rows.push_back({std::to_string(each.ranks), each.ours, std::to_string(each.bytes), microseconds(each.seconds),
                          microseconds(each.bound_seconds),
                          fmt::format("{:.0f} %{}", 100 * each.share(), each.exceeded() ? ", exceeded" : "")});
  if (table.rows.empty()) return;
  document.blocks.emplace_back(std::move(table));
  if (std::ranges::any_of(shares_of_bound(rows), &BoundShare::exceeded))
    document.blocks.emplace_back(
        Paragraph{"Bound exceeded: the bound is wrong there, since nothing is faster than one."});
}

void add_links(Document& document, const std::vector<CollectiveRow>& rows, BytesPerSecond link) {
  Table table = table_of(fmt::format("Bus bandwidth of the fastest, as a share of a link's {}", format(link)),
                         {{"ranks"}, {"size (B)"}, {"candidate", false}, {"busbw"}, {"share"}});
  for (const LinkShare& each : shares_of_link(rows, link))
    table.rows.push_back({std::to_string(each.ranks), std::to_string(each.bytes), each.candidate, format(each.busbw),
                          fmt::format("{:.1f} %", 100 * each.share)});
  document.blocks.emplace_back(std::move(table));
}

}  // namespace

Document collective_document(const std::vector<CollectiveRow>& rows, const TableContext& context) {
  Document document;
  for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) {
    std::vector<const CollectiveRow*> world;
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
