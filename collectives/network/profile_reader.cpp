#include "collectives/network/profile_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

/// No figure is assumed so wildly that it says nothing.
constexpr double kMostAssumed = 100;

struct Value {
  std::string text;
  std::optional<double> number;
  std::string source;
  double assumed = 1;
  bool is_flag = false;
};

std::optional<Value> plain_value(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return Value{.text = *text};
  if (const auto whole = node.value_exact<std::int64_t>())
    return Value{.text = fmt::format("{}", *whole), .number = static_cast<double>(*whole)};
  if (const auto number = node.value_exact<double>())
    return Value{.text = fmt::format("{}", *number), .number = *number};
  if (const auto flag = node.value_exact<bool>()) return Value{.text = *flag ? "true" : "false", .is_flag = true};
  return std::nullopt;
}

/// `assumed = true`, or the factor by which the figure may be off.
double read_assumed(const TomlReader& read, const toml::node& node, std::string_view key) {
  const auto flag = node.value_exact<bool>();
  if (flag && *flag) return kAssumedFactor;
  const auto factor = flag ? std::optional<double>() : node.value<double>();
  if (factor && *factor > 1 && *factor <= kMostAssumed) return *factor;
  read.fail(node, fmt::format("'assumed' of '{}' is neither true nor a factor above 1", key),
            fmt::format("write assumed = true, or the factor (at most {}) by which the figure may be off; leave it out "
                        "for a figure that its source states",
                        kMostAssumed));
}

Value read_value(const TomlReader& read, const toml::node& node, std::string_view key) {
  if (auto value = plain_value(node)) return *value;
  const toml::table& table = read.table(node, fmt::format("'{}' must be a figure", key),
                                        "write a number, a text with a unit, or { value = ..., source = \"...\" }");
  read.check_keys(table, std::array<std::string_view, 3>{"value", "source", "assumed"}, "",
                  fmt::format(" in '{}'", key));
  const toml::node* inner = table.get("value");
  auto value = inner != nullptr ? plain_value(*inner) : std::nullopt;
  if (!value) read.fail(node, fmt::format("'{}' has no value", key));
  if (const toml::node* source = table.get("source"))
    value->source = read.text(*source, fmt::format("the source of '{}' must be text", key), kSourceHelp);
  if (const toml::node* assumed = table.get("assumed")) value->assumed = read_assumed(read, *assumed, key);
  return *value;
}

constexpr double kMostPrice = 1e9;

void read_amount(std::string_view text, std::optional<double> number, double& out) {
  if (!number || !(*number > 0 && *number <= kMostPrice))
    throw Error(ExitCode::usage, fmt::format("{} is no price", text), "write a number above 0 without quotes");
  out = *number;
}

std::string read_currency(std::string_view text) {
  std::string currency = parse_currency(text);
  if (currency.empty())
    throw Error(ExitCode::usage, fmt::format("'{}' is no currency", text), "write its three letters, such as \"USD\"");
  return currency;
}

std::string read_date(std::string_view text) {
  if (text != kNotStated && !first_day(text))
    throw Error(ExitCode::usage, fmt::format("'{}' is no date", text),
                fmt::format("write \"2026-09-20\", \"2026-09\", \"2026\" or \"{}\"", kNotStated));
  return std::string(text);
}

std::string read_name(std::string_view text) {
  if (text.empty())
    throw Error(ExitCode::usage, "it is empty", fmt::format("write \"{}\" where nobody says it", kNotStated));
  return std::string(text);
}

constexpr std::array<std::string_view, 6> kKeys = {"operation", "algorithm", "ranks", "nodes", "source", "times"};
constexpr std::string_view kPairs = R"(write pairs such as ["64KiB", "44.6 us"], sizes ascending)";
constexpr int kMostRanks = 1'000'000;

/// One `[[collectives]]`.
class CurveReader {
 public:
  CurveReader(const TomlReader& read, const toml::table& table) : read_(read), table_(table) {}

  MeasuredCurve read() {
    read_.check_keys(table_, kKeys);
    for (const std::string_view key : kKeys) read_.required(table_, key, {}, kProfileHelp);
    curve_.collective = read_.at(value("operation"), [&] { return parse_collective_kind(text("operation")); });
    curve_.algorithm =
        read_.at(value("algorithm"), [&] { return parse_algorithm(text("algorithm"), curve_.collective).text(); });
    curve_.ranks = count("ranks", 2);
    curve_.nodes = count("nodes", 1);
    if (curve_.nodes > curve_.ranks) read_.fail(table_, "there are more nodes than ranks");
    curve_.source = text("source");
    for (const toml::node& pair : read_.array(value("times"), 2, "'times' must list two sizes or more", kPairs))
      add(pair);
    return std::move(curve_);
  }

 private:
  const toml::node& value(std::string_view key) const { return *table_.get(key); }
  std::string text(std::string_view key) const { return read_.text(value(key), fmt::format("'{}' must be text", key)); }
  int count(std::string_view key, int least) const {
    return read_.whole(value(key), least, kMostRanks,
                       fmt::format("'{}' must be a whole number from {} to {}", key, least, kMostRanks));
  }

  void add(const toml::node& pair) {
    constexpr std::string_view kTexts = "a size and its time are two texts with units";
    const toml::array& both = read_.array(pair, 2, kTexts, kPairs);
    if (both.size() > 2) read_.fail(pair, kTexts, kPairs);
    const std::string size = read_.text(both[0], kTexts, kPairs), time = read_.text(both[1], kTexts, kPairs);
    const auto point = read_.at(pair, [&] {
      return MeasuredCurve::Point{static_cast<std::int64_t>(parse_bytes(size).value), parse_seconds(time)};
    });
    if (point.bytes < 1 || point.time.value <= 0) read_.fail(pair, "a size is at least 1 B, and a time above 0");
    if (!curve_.points.empty()) check_order(pair, curve_.points.back(), point);
    curve_.points.push_back(point);
  }

  void check_order(const toml::node& at, const MeasuredCurve::Point& before, const MeasuredCurve::Point& point) const {
    if (point.bytes <= before.bytes)
      read_.fail(at, fmt::format("{} does not follow {}: sizes must ascend", size_text(point), size_text(before)));
    if (point.time < kMostFall * before.time)
      read_.fail(at,
                 fmt::format("{} takes {}, less than {} with {}: times cannot fall", size_text(point),
                             format(point.time), size_text(before), format(before.time)),
                 "leave out the size that was disturbed, or measure both again");
  }

  static std::string size_text(const MeasuredCurve::Point& point) {
    return exact_text(Bytes(static_cast<double>(point.bytes)));
  }

  const TomlReader& read_;
  const toml::table& table_;
  MeasuredCurve curve_;
};

bool same_question(const MeasuredCurve& a, const MeasuredCurve& b) {
  return a.collective == b.collective && a.algorithm == b.algorithm && a.ranks == b.ranks && a.nodes == b.nodes;
}

}  // namespace

std::string text_alone(std::string_view text, std::optional<double> number) {
  if (number) throw Error(ExitCode::usage, fmt::format("{} is not a text", text), "write it in quotes");
  return std::string(text);
}

void read_section(const TomlReader& read, const toml::table& table, std::string_view section,
                  const std::vector<FigureKey>& keys, const std::vector<std::string_view>& other_keys,
                  std::vector<Figure>& figures) {
  static const toml::table kNothing;
  const toml::node* node = section.empty() ? &table : table.get(section);
  const toml::table& entries =
      node == nullptr ? kNothing : read.table(*node, fmt::format("'{}' must be a section [{}]", section, section));
  const std::string prefix = section.empty() ? "" : fmt::format("{}.", section);
  std::vector<std::string_view> known = other_keys;
  for (const FigureKey& key : keys) known.push_back(key.name);
  read.check_keys(entries, known, prefix);
  for (const FigureKey& key : keys) {
    if (!key.required && !entries.contains(key.name)) continue;
    const toml::node& entry = read.required(entries, key.name, prefix, kProfileHelp);
    const Value value = read_value(read, entry, key.name);
    if (value.is_flag != key.is_flag)
      read.fail(entry,
                fmt::format("{}{}: {} is {}", prefix, key.name, value.text,
                            key.is_flag ? "neither true nor false" : "no figure"),
                key.is_flag ? "write true or false without quotes" : kProfileHelp);
    read.at(
        entry, [&] { key.apply(value.text, value.number); }, fmt::format("{}{}: ", prefix, key.name));
    figures.push_back({.key = prefix + std::string(key.name),
                       .text = value.text,
                       .source = value.source.empty() ? fmt::format("stated in {}", read.file()) : value.source,
                       .assumed = value.assumed,
                       .place = read.place(entry)});
  }
}

std::optional<Price> read_price(const TomlReader& read, const toml::table& table, std::vector<Figure>& figures) {
  if (!table.contains("price")) return std::nullopt;
  Price price;
  const auto text_by = [](auto parse, auto& out) {
    return
        [parse, &out](std::string_view text, std::optional<double> number) { out = parse(text_alone(text, number)); };
  };
  std::vector<Figure> terms;
  read_section(read, table, "price",
               {{"per_node_hour", true,
                 [&price](std::string_view text, std::optional<double> number) {
                   read_amount(text, number, price.per_node_hour.amount);
                 }},
                {"currency", true, text_by(read_currency, price.per_node_hour.currency)},
                {"region", true, text_by(read_name, price.region)},
                {"retrieved", true, text_by(read_date, price.retrieved)},
                {"model", true, text_by(parse_purchase_model, price.model)},
                {"source", true, text_by(read_name, price.source)}},
               {}, terms);
  for (Figure& figure : terms) {
    figure.source = price.source;
    figures.push_back(std::move(figure));
  }
  return price;
}

std::vector<MeasuredCurve> read_curves(const toml::table& profile, std::string_view file_name) {
  const toml::node* node = profile.get("collectives");
  if (node == nullptr) return {};
  const TomlReader whole(file_name), read(file_name, "[[collectives]]: ");
  constexpr std::string_view kSections = "'collectives' must be sections",
                             kHint = "write [[collectives]] above each curve";
  std::vector<MeasuredCurve> curves;
  for (const toml::node& entry : whole.array(*node, 1, kSections, kHint)) {
    const toml::table& table = whole.table(entry, kSections, kHint);
    MeasuredCurve curve = CurveReader(read, table).read();
    if (std::ranges::any_of(curves, [&](const MeasuredCurve& known) { return same_question(known, curve); }))
      read.fail(table, fmt::format("there is a curve of {} by {} on {} ranks of {} nodes already",
                                   to_string(curve.collective), curve.algorithm, curve.ranks, curve.nodes));
    curves.push_back(std::move(curve));
  }
  return curves;
}

}  // namespace hbench
