#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/base/units_text.hpp"
#include "collectives/network/profile_reader.hpp"

namespace hbench {
namespace {

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
