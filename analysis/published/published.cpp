#include "analysis/published/published.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <sstream>

#include "collectives/base/error.hpp"
#include "collectives/base/table.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

class Reader {
 public:
  Reader(std::string text, std::string_view file) : text_(std::move(text)), file_(file) {}

  std::vector<CsvRow> rows() {
    std::vector<CsvRow> all;
    if (text_.starts_with("\xFF\xFE") || text_.starts_with("\xFE\xFF")) fail(1, "it is UTF-16; save it as UTF-8");
    at_ = text_.size() - without_byte_order_mark(text_).size();
    while (at_ < text_.size()) {
      if (line_break()) continue;
      CsvRow row = this->row();
      if (!all.empty() && row.fields.size() != all.front().fields.size())
        fail(row.line, fmt::format("{} fields, but the header has {}", row.fields.size(), all.front().fields.size()));
      all.push_back(std::move(row));
    }
    return all;
  }

 private:
  [[noreturn]] void fail(std::size_t line, std::string_view what) const {
    throw Error(
        ExitCode::usage, fmt::format("{}:{}: {}", file_, line, what),
        "fields with commas, quotes or line breaks stand in double quotes, quotes within are doubled (RFC 4180)");
  }

  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  /// Consumes LF or CRLF.
  bool line_break() {
    if (text_.compare(at_, 2, "\r\n") == 0) ++at_;
    if (!take('\n')) return false;
    ++line_;
    return true;
  }

  CsvRow row() {
    CsvRow row{line_, {}};
    do row.fields.push_back(take('"') ? quoted() : plain());
    while (take(','));
    if (at_ < text_.size() && !line_break()) fail(line_, "text after a closing quote");
    return row;
  }

  std::string plain() {
    const std::size_t end = std::min(text_.find_first_of(",\r\n\"", at_), text_.size());
    std::string field = text_.substr(at_, end - at_);
    at_ = end;
    if (at_ < text_.size() && text_[at_] == '"') fail(line_, "a quote within an unquoted field");
    if (at_ < text_.size() && text_[at_] == '\r' && text_.compare(at_, 2, "\r\n") != 0)
      fail(line_, "a carriage return without a line feed");
    return field;
  }

  std::string quoted() {
    const std::size_t opened = line_;
    std::string field;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"' && !take('"')) return field;
      if (c == '\n') ++line_;
      field += c;
    }
    fail(opened, "a quoted field that begins here is never closed");
  }

  std::string text_;
  std::string_view file_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

enum Column {
  workload,
  profile,
  gpus,
  batch_per_gpu,
  algorithm,
  placement,
  server_mode,
  servers,
  compressor,
  fusion,
  overlap,
  throughput,
  efficiency,
  baseline_throughput,
  calibrated,
  year,
  source,
  note,
  preset,
  precision,
  method,
  accumulate,
  recompute
};
constexpr std::array<std::string_view, 23> kColumns{
    "workload",   "profile", "gpus",    "batch_per_gpu", "algorithm",  "placement",           "server_mode", "servers",
    "compressor", "fusion",  "overlap", "throughput",    "efficiency", "baseline_throughput", "calibrated",  "year",
    "source",     "note",    "preset",  "precision",     "method",     "accumulate",          "recompute"};
/// Of tables from before there were presets. What comes after these may be left out, the last first.
constexpr std::size_t kLeastColumns = 18;

/// A baseline that was disturbed makes more than 1 of it, but not much.
constexpr double kMostEfficiency = 1.2;

/// What `calibrated` may say: nothing was chosen with the row, something that is not named, or what it was.
constexpr std::array<std::string_view, 8> kChosen{"no",      "yes",   "lost-share", "preset",
                                                  "profile", "range", "fixed-part", "start"};

/// Revision of the reading of the table, not of its rows.
constexpr std::string_view kImplementation = "published/1";

/// A row with its place, for errors.
class Row {
 public:
  Row(const CsvRow& row, std::string_view file) : row_(row), file_(file) {}

  /// Empty in a column that the table does not have.
  std::string_view text(Column column) const {
    return column < row_.fields.size() ? std::string_view(row_.fields[column]) : std::string_view();
  }

  std::string required(Column column) const {
    if (text(column).empty()) fail(fmt::format("no {}", kColumns[column]));
    return std::string(text(column));
  }

  /// 0 when empty.
  double number(Column column) const {
    const std::string_view field = text(column);
    if (field.empty()) return 0;
    const double value = parse_number<double>(field).value_or(-1);
    if (!std::isfinite(value) || value < 0)
      fail(fmt::format("{} '{}' is not a number of at least 0", kColumns[column], field));
    return value;
  }

  int count(Column column, int least) const {
    const double value = number(column);
    if (value != std::floor(value) || value < least || value > 1e9)
      fail(fmt::format("{} '{}' is not a whole number of at least {}", kColumns[column], text(column), least));
    return static_cast<int>(value);
  }

  bool yes(Column column) const {
    if (text(column) != "yes" && text(column) != "no")
      fail(fmt::format("{} is '{}', but must be 'yes' or 'no'", kColumns[column], text(column)));
    return text(column) == "yes";
  }

  /// Empty for a row with which nothing was chosen.
  std::string chosen() const {
    const std::string_view what = text(calibrated);
    if (!what.empty() && std::ranges::find(kChosen, what) == kChosen.end())
      fail(fmt::format("calibrated is '{}', but must be one of {}", what, fmt::join(kChosen, ", ")));
    return what == "no" ? "" : std::string(what);
  }

  /// `rows.csv:3`
  std::string place() const { return fmt::format("{}:{}", file_, row_.line); }

  [[noreturn]] void fail(std::string_view what) const {
    throw Error(ExitCode::usage, fmt::format("{}: {}", place(), what), "guide/formats.md has the columns");
  }

 private:
  const CsvRow& row_;
  std::string_view file_;
};

void check_header(const CsvRow& header, std::string_view file) {
  const std::size_t count = std::clamp(header.fields.size(), kLeastColumns, kColumns.size());
  if (std::ranges::equal(header.fields, std::span(kColumns).first(count))) return;
  for (const std::string& name : header.fields)
    if (std::ranges::find(kColumns, name) == kColumns.end())
      throw Error(ExitCode::usage,
                  fmt::format("{}:{}: {}", file, header.line, unknown_name("column", name, kColumns).what()),
                  fmt::format("the columns are {}", fmt::join(kColumns, ",")));
  throw Error(ExitCode::usage, fmt::format("{}:{}: a column is missing or in another place", file, header.line),
              fmt::format("the columns are {}", fmt::join(kColumns, ",")));
}

std::string citation(const Row& row) {
  const std::string_view remark = row.text(note);
  return fmt::format("{} ({}{}{})", row.required(source), row.required(year), remark.empty() ? "" : "; ", remark);
}

Case case_of(const Row& row) {
  Case asked;
  asked.evidence = Evidence::published;
  asked.workload = row.required(workload);
  asked.gpus = row.count(gpus, 1);
  asked.strategy = {.algorithm = row.required(algorithm),
                    .placement = std::string(row.text(placement)),
                    .servers = row.count(servers, 0),
                    .server_mode = std::string(row.text(server_mode)),
                    .compressor = row.required(compressor),
                    .fusion = row.required(fusion),
                    .overlap = row.yes(overlap),
                    .preset = std::string(row.text(preset))};
  asked.strategy.method = row.text(method);
  asked.training.precision = row.text(precision);
  asked.profile = row.required(profile);
  asked.training.recompute = row.text(recompute);
  asked.batch_per_gpu = row.count(batch_per_gpu, 1);
  asked.accumulate = row.count(accumulate, 0);
  asked.implementation = kImplementation;
  asked.source = citation(row);
  return asked;
}

void add_sample(CaseResult& result, const Row& row, Column column, std::string_view unit) {
  if (row.text(column).empty()) return;
  const double value = row.number(column);
  if (column == efficiency && value > kMostEfficiency)
    row.fail(fmt::format("an efficiency of {} is impossible; it is a share, such as 0.9", row.text(column)));
  if (value <= 0) row.fail(fmt::format("{} must be more than 0, or empty where it is not stated", kColumns[column]));
  result.samples.push_back(Sample{.metric = std::string(kColumns[column]), .value = value, .unit = std::string(unit)});
}

CaseResult result_of(const Row& row) {
  CaseResult result;
  result.asked = case_of(row);
  result.origin = row.place();
  add_sample(result, row, throughput, "samples/s");
  add_sample(result, row, efficiency, "1");
  if (result.samples.empty()) row.fail("neither throughput nor efficiency");
  add_sample(result, row, baseline_throughput, "samples/s");
  return result;
}

struct PublishedRow {
  CaseResult result;
  std::string chosen;
};

std::vector<PublishedRow> read_rows(std::istream& in, std::string_view file_name) {
  const std::vector<CsvRow> rows = read_csv(in, file_name);
  if (rows.empty())
    throw Error(ExitCode::usage, fmt::format("{}: empty", file_name), "guide/formats.md has the columns");
  check_header(rows.front(), file_name);
  std::vector<PublishedRow> all;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const Row row(rows[i], file_name);
    all.push_back({result_of(row), row.chosen()});
  }
  return all;
}

std::vector<PublishedRow> own_rows(std::string_view table, std::string_view file_name) {
  std::istringstream in{std::string(table)};
  return read_rows(in, file_name);
}

std::vector<CaseResult> results_of(std::vector<PublishedRow> rows) {
  std::vector<CaseResult> results;
  for (PublishedRow& row : rows) results.push_back(std::move(row.result));
  return results;
}

/// Sources name a fusion policy without its parameters; a plan fills these in.
std::string key_with_fusion_by_name(Case published) {
  std::string& fusion = published.strategy.fusion;
  fusion = fusion.substr(0, fusion.find(':'));
  return published.key();
}

/// What was chosen with each row, by the key of its case.
std::map<std::string, std::string> choices() {
  std::map<std::string, std::string> chosen;
  for (const auto& rows : {own_rows(kPublishedTable, "published.csv"), own_rows(kMlperfTable, "mlperf.csv")})
    for (const PublishedRow& row : rows) chosen.emplace(key_with_fusion_by_name(row.result.asked), row.chosen);
  return chosen;
}

}  // namespace

std::vector<CsvRow> read_csv(std::istream& in, std::string_view file_name) {
  return Reader(std::string(std::istreambuf_iterator<char>(in), {}), file_name).rows();
}

std::vector<CaseResult> published_results(std::istream& in, std::string_view file_name) {
  return results_of(read_rows(in, file_name));
}

std::vector<CaseResult> published_results() { return results_of(own_rows(kPublishedTable, "published.csv")); }

std::vector<CaseResult> sharded_results() { return results_of(own_rows(kShardedTable, "sharded.csv")); }

std::vector<CaseResult> mlperf_results() { return results_of(own_rows(kMlperfTable, "mlperf.csv")); }

std::string chosen_with(const Case& published) {
  static const std::map<std::string, std::string> kChoices = choices();
  const auto known = kChoices.find(key_with_fusion_by_name(published));
  return known == kChoices.end() ? "" : known->second;
}

std::string publisher_of(std::string_view source) {
  std::istringstream address(std::string(source.substr(0, source.find(' '))));
  std::vector<std::string> parts;
  for (std::string part; std::getline(address, part, '/');)
    if (!part.empty() && !part.ends_with(':')) parts.push_back(part);
  if (parts.empty()) return {};
  if (parts.front() != "github.com" || parts.size() < 3) return parts.front();
  const std::string name = parts[1] + "/" + parts[2];
  const bool thread = parts.size() > 4 && (parts[3] == "issues" || parts[3] == "pull");
  return thread ? name + "#" + parts[4] : name;
}

std::span<const KnownBatch> known_batches() {
  static constexpr std::array kKnown{
      KnownBatch{"resnet50", 8192, "linear scaling of the learning rate, 5 epochs of warm-up",
                 "Goyal et al., Accurate, Large Minibatch SGD, arXiv:1706.02677, 2017"},
      KnownBatch{"resnet50", 32768, "LARS", "You et al., ImageNet Training in Minutes, ICPP 2018"},
      KnownBatch{"resnet50", 67456, "LARS, 76.2 % top-1 where 75.9 % are asked for",
                 "MLPerf Training v2.0, NVIDIA, dgxa100_n527_ngc22.04_mxnet"},
      KnownBatch{"bert_large", 65536, "LAMB; of sequences of 512 tokens 32768",
                 "You et al., Large Batch Optimization for Deep Learning, ICLR 2020"}};
  return kKnown;
}

std::string warn_of_batch(const Case& asked) {
  const auto samples = static_cast<std::int64_t>(asked.workers()) * asked.batch_per_gpu;
  const KnownBatch* largest = nullptr;
  for (const KnownBatch& known : known_batches())
    if (known.workload == asked.workload && (largest == nullptr || known.samples > largest->samples)) largest = &known;
  if (largest == nullptr || samples <= largest->samples) return "";
  return fmt::format("a step of {} samples; {} is known to converge with up to {} ({}: {})", samples, asked.workload,
                     largest->samples, largest->how, largest->source);
}

}  // namespace hbench
