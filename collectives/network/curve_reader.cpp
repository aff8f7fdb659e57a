#include "collectives/network/curve_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <type_traits>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/table.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

constexpr std::array<std::string_view, 6> kKeys = {"operation", "algorithm", "ranks", "nodes", "source", "times"};
constexpr std::string_view kPairs = R"(write pairs such as ["64KiB", "44.6 us"], sizes ascending)";
constexpr int kMostRanks = 1'000'000;

/// One `[[collectives]]`.
class CurveReader {
 public:
  CurveReader(const toml::table& table, std::string_view file_name) : table_(table), file_name_(file_name) {}

  MeasuredCurve read() {
    check_keys();
    curve_.collective = named("operation", parse_collective_kind);
    curve_.algorithm =
        named("algorithm", [&](std::string_view text) { return parse_algorithm(text, curve_.collective).text(); });
    curve_.ranks = count("ranks", 2);
    curve_.nodes = count("nodes", 1);
    if (curve_.nodes > curve_.ranks) fail(table_, "there are more nodes than ranks");
    curve_.source = text("source");
    read_times();
    return std::move(curve_);
  }

 private:
  [[noreturn]] void fail(const toml::node& at, const std::string& what, std::string_view hint = {}) const {
    throw Error(ExitCode::usage, fmt::format("{}: [[collectives]]: {}", place_in(file_name_, at), what),
                std::string(hint));
  }

  void check_keys() const {
    for (const auto& [key, node] : table_) {
      if (std::ranges::find(kKeys, key.str()) != kKeys.end()) continue;
      const std::string meant = nearest_name(key.str(), {kKeys.begin(), kKeys.end()});
      fail(node, fmt::format("unknown key '{}'", key.str()),
           meant.empty() ? fmt::format("known here: {}", fmt::join(kKeys, ", "))
                         : fmt::format("did you mean '{}'?", meant));
    }
    for (const std::string_view key : kKeys)
      if (table_.get(key) == nullptr)
        fail(table_, fmt::format("'{}' is missing", key), "cluster-profiles/README.md lists every key");
  }

  std::string text(std::string_view key) const {
    const toml::node& node = *table_.get(key);
    const auto value = node.value_exact<std::string>();
    if (!value || value->empty()) fail(node, fmt::format("'{}' must be text", key));
    return *value;
  }

  template <class Parse>
  std::invoke_result_t<Parse, std::string_view> named(std::string_view key, Parse parse) const {
    try {
      return parse(text(key));
    } catch (const Error& error) {
      fail(*table_.get(key), error.what(), error.hint());
    }
  }

  int count(std::string_view key, int least) const {
    const toml::node& node = *table_.get(key);
    const auto value = node.value_exact<std::int64_t>();
    if (!value || *value < least || *value > kMostRanks)
      fail(node, fmt::format("'{}' must be a whole number from {} to {}", key, least, kMostRanks));
    return static_cast<int>(*value);
  }

  void read_times() {
    const toml::node& node = *table_.get("times");
    const toml::array* pairs = node.as_array();
    if (pairs == nullptr || pairs->size() < 2) fail(node, "'times' must list two sizes or more", kPairs);
    for (const toml::node& pair : *pairs) add(pair);
  }

  void add(const toml::node& pair) {
    const toml::array* both = pair.as_array();
    const auto size = both != nullptr && both->size() == 2 ? (*both)[0].value_exact<std::string>() : std::nullopt;
    const auto time = both != nullptr && both->size() == 2 ? (*both)[1].value_exact<std::string>() : std::nullopt;
    if (!size || !time) fail(pair, "a size and its time are two texts with units", kPairs);
    MeasuredCurve::Point point;
    try {
      point = {static_cast<std::int64_t>(parse_bytes(*size).value), parse_seconds(*time)};
    } catch (const Error& error) {
      fail(pair, error.what(), error.hint());
    }
    if (point.bytes < 1 || point.time.value <= 0) fail(pair, "a size is at least 1 B, and a time above 0");
    if (!curve_.points.empty()) check_order(pair, curve_.points.back(), point);
    curve_.points.push_back(point);
  }

  void check_order(const toml::node& at, const MeasuredCurve::Point& before, const MeasuredCurve::Point& point) const {
    if (point.bytes <= before.bytes)
      fail(at, fmt::format("{} does not follow {}: sizes must ascend", size_text(point), size_text(before)));
    if (point.time < kMostFall * before.time)
      fail(at,
           fmt::format("{} takes {}, less than {} with {}: times cannot fall", size_text(point), format(point.time),
                       size_text(before), format(before.time)),
           "leave out the size that was disturbed, or measure both again");
  }

  static std::string size_text(const MeasuredCurve::Point& point) {
    return exact_text(Bytes(static_cast<double>(point.bytes)));
  }

  const toml::table& table_;
  std::string_view file_name_;
  MeasuredCurve curve_;
};

bool same_question(const MeasuredCurve& a, const MeasuredCurve& b) {
  return a.collective == b.collective && a.algorithm == b.algorithm && a.ranks == b.ranks && a.nodes == b.nodes;
}

}  // namespace

std::vector<MeasuredCurve> read_curves(const toml::table& profile, std::string_view file_name) {
  const toml::node* node = profile.get("collectives");
  if (node == nullptr) return {};
  const toml::array* tables = node->as_array();
  if (tables == nullptr || !tables->is_homogeneous<toml::table>())
    throw Error(ExitCode::usage, fmt::format("{}: 'collectives' must be sections", place_in(file_name, *node)),
                "write [[collectives]] above each curve");
  std::vector<MeasuredCurve> curves;
  for (const toml::node& table : *tables) {
    MeasuredCurve curve = CurveReader(*table.as_table(), file_name).read();
    if (std::ranges::any_of(curves, [&](const MeasuredCurve& known) { return same_question(known, curve); }))
      throw Error(ExitCode::usage,
                  fmt::format("{}: [[collectives]]: there is a curve of {} by {} on {} ranks of {} nodes already",
                              place_in(file_name, table), to_string(curve.collective), curve.algorithm, curve.ranks,
                              curve.nodes));
    curves.push_back(std::move(curve));
  }
  return curves;
}

}  // namespace hbench
