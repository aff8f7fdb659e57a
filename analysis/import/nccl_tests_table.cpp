#include "analysis/import/nccl_tests_table.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "analysis/import/words.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// What nccl-tests and rccl-tests call the types of elements.
constexpr std::array<std::string_view, 20> kNcclTypes{
    "int8", "char",  "uint8",   "int32",  "int",     "uint32",   "int64",  "uint64", "half",     "float16",
    "fp16", "float", "float32", "double", "float64", "bfloat16", "f8e4m3", "f8e5m2", "fp8_e4m3", "fp8_e5m2"};

/// Every time column is of its own way of timing.
constexpr std::size_t kWays = 2;

using Field = NcclTestsColumn::Field;
using Columns = std::vector<NcclTestsColumn>;
using Words = std::vector<std::string_view>;

bool is_whole_number(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

/// The digits at the end of a word that a label is glued to: `[0]:1024`.
std::string_view digits_at_end(std::string_view word) {
  const std::size_t last = word.find_last_not_of("0123456789");
  if (last == word.npos) return word;
  return std::isalnum(static_cast<unsigned char>(word[last])) != 0 ? "" : word.substr(last + 1);
}

/// The position of the word for a type of which `before` columns stand before it; none where there is no row.
std::optional<std::size_t> type_position(const std::vector<std::string_view>& words, std::size_t before) {
  for (std::size_t i = before; i < words.size(); ++i) {
    if (std::ranges::find(kNcclTypes, words[i]) == kNcclTypes.end()) continue;
    bool numbers = true;
    for (std::size_t k = 1; k < before; ++k) numbers = numbers && finite_number(words[i - k]);
    if (numbers && !digits_at_end(words[i - before]).empty()) return i;
  }
  return std::nullopt;
}

std::optional<double> unit_of(std::string_view text) {
  if (text == "GB/s") return 1e9;
  if (text == "MB/s") return 1e6;
  const auto unit = measured_unit(text);
  return unit && !unit->is_rate ? std::optional(unit->factor) : std::nullopt;
}

/// Takes the unit that a table states of a column. Returns what is wrong with it, or nothing.
std::string take_unit(NcclTestsColumn& column, std::string_view stated) {
  const auto unit = column.unit == 1 ? std::optional(1.0) : unit_of(stated);
  const bool alike = unit && (*unit >= 1e6) == (column.unit >= 1e6);
  if (!alike || (column.field == Field::size && stated != "B"))
    return fmt::format("its column '{}' is in '{}'", column.name, stated);
  column.unit = *unit;
  return "";
}

bool is_bracketed(std::string_view word) { return word.starts_with('(') && word.ends_with(')'); }
std::string_view inside(std::string_view bracketed) { return bracketed.substr(1, bracketed.size() - 2); }

Field field_of(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, Field>, 12> kNames{{{"size", Field::size},
                                                                              {"count", Field::count},
                                                                              {"type", Field::type},
                                                                              {"redop", Field::redop},
                                                                              {"root", Field::root},
                                                                              {"time", Field::time},
                                                                              {"algbw", Field::algbw},
                                                                              {"busbw", Field::busbw},
                                                                              {"#wrong", Field::wrong},
                                                                              {"wrong", Field::wrong},
                                                                              {"error", Field::wrong},
                                                                              {"#bitdiff", Field::bits}}};
  for (const auto& [known, field] : kNames)
    if (name == known) return field;
  return name == "cputime" ? Field::time : Field::other;
}

double usual_unit(Field field) {
  if (field == Field::time) return 1e-6;
  return field == Field::algbw || field == Field::busbw ? 1e9 : 1;
}

Columns columns_of(const Words& names) {
  Columns columns;
  for (const std::string_view name : names) {
    const Field field = field_of(name);
    columns.push_back({.field = field, .name = std::string(name), .unit = usual_unit(field)});
  }
  return columns;
}

/// Returns whether a word stands for a figure that there is none of; others that are no figures break a row.
bool is_no_figure(std::string_view text) {
  const auto number = parse_number<double>(text);
  return text == "N/A" || (number && (!std::isfinite(*number) || *number == 0));
}

/// Reads the words of one row into the fields of its columns.
class RowReader {
 public:
  explicit RowReader(const Columns& columns)
      : columns_(columns),
        has_times_(std::ranges::find(columns, Field::time, &NcclTestsColumn::field) != columns.end()) {}

  /// Returns why the words are no row; nothing where they are.
  std::string read(Words words) {
    const auto last = std::ranges::find_if(columns_.rbegin(), columns_.rend(),
                                           [](const NcclTestsColumn& column) { return column.field != Field::other; });
    auto word = words.begin();
    for (auto column = columns_.begin(); column != last.base(); ++column) {
      if (word == words.end()) return "it is cut off";
      // rccl-tests leaves a way that it does not time blank, but for one N/A.
      const auto blanks = (last.base() - column) - (words.end() - word);
      if (column->field == Field::time && *word == "N/A" && blanks > 0)
        word = words.insert(word, static_cast<std::size_t>(blanks), *word);
      // Older versions leave the operation blank where nothing is reduced.
      const bool blank = column->field == Field::redop && finite_number(*word);
      if (blank) row_.redop = "";
      if (blank || column->field == Field::other) {
        word += blank ? 0 : 1;
        continue;
      }
      const std::string_view text = column == columns_.begin() ? digits_at_end(*word) : *word;
      ++word;
      if (std::string fault = read_field(*column, text); !fault.empty()) return fault;
    }
    return "";
  }

  /// \pre the words are a row.
  NcclTestsRow take(bool in_place_only) && {
    if (faults_[0].empty()) (in_place_only ? row_.in_place : row_.out_of_place) = std::move(ways_[0]);
    if (has_both() && !in_place_only && faults_[1].empty()) row_.in_place = std::move(ways_[1]);
    return std::move(row_);
  }

  /// Why a way of timing cannot be used; empty where both can.
  std::string fault_of_ways() const {
    if (!has_both() || (!faults_[0].empty() && !faults_[1].empty())) return faults_[0];
    if (!faults_[0].empty()) return "out of place: " + faults_[0];
    return faults_[1].empty() ? "" : "in place: " + faults_[1];
  }

 private:
  bool has_both() const {
    return std::max(seen_[static_cast<std::size_t>(Field::time)], seen_[static_cast<std::size_t>(Field::busbw)]) > 1;
  }

  std::string read_field(const NcclTestsColumn& column, std::string_view text) {
    const std::size_t way = seen_[static_cast<std::size_t>(column.field)]++;
    if (way >= kWays) return fmt::format("it has more than two of {}", column.name);
    switch (column.field) {
      case Field::type:
        row_.type = text;
        return "";
      case Field::redop:
        row_.redop = operation_of(text);
        return "";
      case Field::wrong:
        // An asterisk marks what exceeds a threshold.
        ways_[way].wrong = text.substr(0, text.find('*'));
        return text == "N/A" || finite_number(ways_[way].wrong) ? "" : fmt::format("'{}' is no count", text);
      case Field::bits:
        ways_[way].bits = finite_number(text).value_or(0);
        return "";
      case Field::size:
      case Field::count:
      case Field::root:
        return read_whole(column, text);
      default:
        std::string fault = read_measured(column, text, ways_[way]);
        if (!is_no_figure(text)) return fault;
        if (faults_[way].empty()) faults_[way] = std::move(fault);
        return "";
    }
  }

  std::string read_whole(const NcclTestsColumn& column, std::string_view text) {
    constexpr std::int64_t kMost = 1'000'000'000'000'000, kMostRanks = 1'000'000;
    const auto whole = parse_number<std::int64_t>(text);
    if (!whole || *whole < -1 || *whole > kMost) return fmt::format("'{}' is no {}", text, column.name);
    if (column.field == Field::size) row_.bytes = *whole;
    if (column.field == Field::count) row_.count = *whole;
    if (column.field == Field::root) row_.root = static_cast<int>(std::min(*whole, kMostRanks));
    return "";
  }

  std::string read_measured(const NcclTestsColumn& column, std::string_view text, NcclTestsTiming& timing) const {
    const auto number = PrintedNumber::of(text);
    if (!number && parse_number<double>(text)) return fmt::format("its {} is {}", column.name, text);
    if (!number) return fmt::format("'{}' is no {}", text, column.name);
    constexpr double kShortest = 1e-15;
    if (column.field == Field::time && !(number->value * column.unit > kShortest))
      return fmt::format("its time is {}", text);
    PrintedNumber& figure = column.field == Field::time    ? timing.seconds
                            : column.field == Field::algbw ? timing.algbw
                                                           : timing.busbw;
    // A table without times has those of its bus bandwidth.
    if (column.field == Field::busbw && !has_times_ && !(number->value > 0))
      return fmt::format("its busbw is {}", text);
    figure = *number * column.unit;
    return "";
  }

  const Columns& columns_;
  bool has_times_;
  NcclTestsRow row_;
  std::array<NcclTestsTiming, kWays> ways_;
  std::array<std::string, kWays> faults_;                                       ///< of each way
  std::array<std::size_t, static_cast<std::size_t>(Field::other) + 1> seen_{};  ///< of each field, its columns
};

}  // namespace

std::optional<PrintedNumber> PrintedNumber::of(std::string_view word) {
  const auto value = finite_number(word);
  if (!value) return std::nullopt;
  const std::string_view mantissa = word.substr(0, word.find_first_of("eE"));
  const std::size_t point = mantissa.find('.');
  const auto decimals = point == mantissa.npos ? 0.0 : static_cast<double>(mantissa.size() - point - 1);
  std::string_view exponent = word.substr(std::min(mantissa.size() + 1, word.size()));
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  return PrintedNumber{.value = *value, .slack = 0.51 * std::pow(10, finite_number(exponent).value_or(0) - decimals)};
}

std::optional<double> NcclTestsTiming::wrong_elements() const {
  const auto count = finite_number(wrong);
  if (!count) return std::nullopt;
  return *count >= 1 ? *count : 0;
}

std::vector<const NcclTestsTiming*> NcclTestsRow::timings() const {
  std::vector<const NcclTestsTiming*> all;
  for (const auto* timing : {&out_of_place, &in_place})
    if (timing->has_value()) all.push_back(&**timing);
  return all;
}

std::string operation_of(std::string_view redop) { return redop == "none" ? "" : std::string(redop); }

// NCCL_VERSION_CODE is 10000 X + 100 Y + Z since 2.9, and was 1000 X + 100 Y + Z before.
std::string nccl_version_text(std::string_view code) {
  const auto number = finite_number(code);
  if (!number || *number < 2000 || *number > 999999) return "";
  const int whole = static_cast<int>(*number), major = whole < 10000 ? 1000 : 10000;
  return fmt::format("{}.{}.{}", whole / major, whole % major / 100, whole % 100);
}

bool is_wrapped_head(std::string_view line, std::string_view below) {
  const auto has = [&](std::string_view name) { return line.find(name) != line.npos; };
  if (!has("size") || !has("type") || below.find("size") != below.npos) return false;
  const std::string joined = fmt::format("{}{}", line.substr(0, line.find_last_not_of('\r') + 1), below);
  const Words words = words_of(joined), before = words_of(line);
  if (words_of(below).empty() || !NcclTestsTable::of_names(joined, "")) return false;
  // The last name of the line may be cut in two.
  return std::all_of(words.begin() + std::ssize(before) - 1, words.end(),
                     [](std::string_view word) { return field_of(word) != Field::other; });
}

std::optional<NcclTestsTable> NcclTestsTable::of_names(std::string_view line, std::string_view above) {
  Words words, units;  // what stands in brackets behind a name is its unit
  for (const std::string_view word : words_of(line))
    if (is_bracketed(word) && !words.empty())
      units.back() = inside(word);
    else
      words.push_back(word), units.emplace_back();
  const auto has = [&](std::string_view name) { return std::ranges::find(words, name) != words.end(); };
  if (!has("size") || !has("type") || !has("busbw")) return std::nullopt;
  // The names stand together, and end with the line.
  auto first = words.end();
  for (auto word = words.begin(); word != words.end(); ++word)
    if (first == words.end() && field_of(*word) != Field::other) first = word;
  NcclTestsTable table;
  table.label_ = label_before(line, static_cast<std::size_t>(first->data() - line.data()));
  table.columns_ = columns_of({first, words.end()});
  auto unit = units.begin() + (first - words.begin());
  for (NcclTestsColumn& column : table.columns_)
    if (const std::string_view stated = *unit++; !stated.empty() && table.fault_.empty())
      table.fault_ = take_unit(column, stated);
  table.cpu_times_ = has("cputime");
  table.in_place_only_ = above.find("in-place") != above.npos && above.find("out-of-place") == above.npos;
  return table;
}

std::string NcclTestsTable::read_units(std::string_view line) {
  const Words words = words_of(line);
  auto word = std::ranges::find(words, std::string_view("(B)"));
  const auto is_unit = [&](auto at) { return at != words.end() && is_bracketed(*at); };
  for (NcclTestsColumn& column : columns_) {
    if (column.field != Field::size && column.field != Field::count && column.field != Field::time &&
        column.field != Field::algbw && column.field != Field::busbw && !column.name.starts_with("i_"))
      continue;
    if (!is_unit(word)) return "";
    std::string fault = take_unit(column, inside(*word));
    // The unit of a column of times that was taken out may still stand there.
    while (!fault.empty() && !has(Field::time) && is_unit(std::next(word)))
      if (take_unit(column, inside(*++word)).empty()) fault.clear();
    if (!fault.empty()) return fault;
    ++word;
  }
  return "";
}

/// Of a row without names: whether it has an operation and a root follows from the number of its words.
NcclTestsTable::Columns NcclTestsTable::columns_for(const Words& words, std::size_t type) const {
  if (!columns_.empty()) return columns_;
  static constexpr std::size_t kTimings = 8;
  const std::size_t left = words.size() - type - 1;
  Words names{"size", "count", "type"};
  if (left > kTimings && !finite_number(words[type + 1])) names.emplace_back("redop");
  if (left - (names.size() - 3) == kTimings + 1) names.emplace_back("root");
  for (std::size_t way = 0; way < kWays; ++way)
    for (const char* name : {"time", "algbw", "busbw", "#wrong"}) names.emplace_back(name);
  return columns_of(names);
}

std::optional<NcclTestsTable::Read> NcclTestsTable::read_words(const Words& words) const {
  const auto is_type = [](const NcclTestsColumn& column) { return column.field == Field::type; };
  const auto before = columns_.empty()
                          ? std::size_t{2}
                          : static_cast<std::size_t>(std::ranges::find_if(columns_, is_type) - columns_.begin());
  const auto type = type_position(words, before);
  if (!type) return std::nullopt;
  const Words row(words.begin() + static_cast<std::ptrdiff_t>(*type - before), words.end());
  const Columns columns = columns_for(row, before);
  if (columns_.empty() && row.size() < columns.size()) return Read{{}, "it is cut off"};
  RowReader reader(columns);
  if (std::string fault = reader.read(row); !fault.empty()) return Read{{}, std::move(fault)};
  std::string fault = reader.fault_of_ways();
  return Read{.row = std::move(reader).take(in_place_only_), .fault = std::move(fault)};
}

/// Why a line is no row that begins with a size and a count, or with a size and nothing; empty for other lines.
std::string NcclTestsTable::fault_of_beginning(std::string_view line) const {
  const Words words = words_of(without_label(line, label_));
  if (columns_.empty() || columns_[0].field != Field::size || columns_[1].field != Field::count || words.empty() ||
      !is_whole_number(words[0]) || (words.size() > 1 && !is_whole_number(words[1])))
    return "";
  return words.size() < columns_.size() ? "it is cut off" : fmt::format("'{}' is no type of elements", words[2]);
}

std::optional<NcclTestsTable::Read> NcclTestsTable::read(std::string_view line) const {
  std::optional<Read> read = read_words(words_of(line));
  if (read && read->fault.empty()) return read;
  // Pieces of a line may have a label each, of which a collector's part stands at the front only.
  for (const std::string_view label :
       {std::string_view(label_), std::string_view(label_).substr(label_.rfind(' ') + 1)}) {
    if (label.empty()) continue;
    const std::string pieces = without_labels(line, label);
    if (std::optional<Read> whole = read_words(words_of(pieces)); whole && whole->fault.empty()) return whole;
  }
  if (const std::string fault = fault_of_beginning(line); !read && !fault.empty()) read = Read{{}, fault};
  return read;
}

}  // namespace hbench
