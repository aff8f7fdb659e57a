#include "bench/calibrate/collective_output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <set>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/base/error.hpp"

namespace hbench {
namespace {

using Json = nlohmann::json;

class Reader {
 public:
  Reader(std::string_view file_name, int ranks, int nodes) : file_name_(file_name), ranks_(ranks), nodes_(nodes) {}

  ImportedCurve read(const Json& output) {
    for (const Json& row : output.at("results"))
      if (!row.at("peer").get<bool>() && (ranks_ == 0 || row.at("ranks") == ranks_)) add(row);
    if (times_.empty()) fail("it has no rows of ours", "hbench collective --algorithm ring --json");
    MeasuredCurve& curve = imported_.curve;
    curve.algorithm = only(algorithms_, "algorithms", "--algorithm with one");
    curve.collective = parse_collective_kind(only(collectives_, "collectives", "--collective with one"));
    curve.ranks = std::stoi(only(counts_, "numbers of ranks", "--ranks with one"));
    curve.nodes = nodes_ > 0 ? nodes_ : std::stoi(only(places_, "numbers of nodes", "--nodes"));
    if (curve.ranks < 2 || curve.nodes > curve.ranks) fail("one rank measures no network", "");
    if (const std::size_t sizes = keep_sizes(imported_, times_); sizes < kFewestSizes)
      fail(fmt::format("{} of its sizes can be used, and a curve needs {}", sizes, kFewestSizes),
           "measure more, such as -b 1K -e 1G -f 2");
    return std::move(imported_);
  }

 private:
  void add(const Json& row) {
    const auto bytes = row.at("size").get<std::int64_t>();
    if (row.at("evidence") != "measured")
      fail(fmt::format("its {} B are {}, and only what was measured tells of a cluster", bytes,
                       row.at("evidence").get<std::string>()),
           "");
    if (row.at("status") != "done" || row.at("in_place_wrong").is_null() || row.at("in_place_wrong") != 0)
      fail(fmt::format("its {} B have failed, were wrong, or were not checked", bytes), "measure them again");
    if (row.at("compressor") != "none" || !row.at("servers").is_null())
      fail("profiles have no curves of compressors and parameter servers", "measure without them");
    algorithms_.insert(row.at("algorithm").get<std::string>());
    collectives_.insert(row.at("collective").get<std::string>());
    counts_.insert(std::to_string(row.at("ranks").get<int>()));
    places_.insert(std::to_string(row.at("nodes").is_null() ? 1 : row.at("nodes").get<int>()));
    times_[bytes] = row.at("in_place_seconds").get<double>();
  }

  std::string only(const std::set<std::string>& all, std::string_view what, std::string_view cure) const {
    if (all.size() > 1)
      fail(fmt::format("it has several {}: {}", what, fmt::join(all, ", ")), fmt::format("add {}", cure));
    return *all.begin();
  }

  [[noreturn]] void fail(std::string_view message, std::string_view hint) const {
    throw Error(ExitCode::usage, fmt::format("{}: {}", file_name_, message), std::string(hint));
  }

  std::string_view file_name_;
  int ranks_, nodes_;
  ImportedCurve imported_;
  std::map<std::int64_t, double> times_;
  std::set<std::string> algorithms_, collectives_, counts_, places_;
};

}  // namespace

bool is_collective_output(std::string_view text) {
  return text.starts_with('{') && text.find("\"hbench collective") != std::string_view::npos;
}

ImportedCurve parse_collective_output(std::string_view text, std::string_view file_name, int ranks, int nodes) {
  try {
    return Reader(file_name, ranks, nodes).read(Json::parse(text));
  } catch (const Json::exception& error) {
    throw Error(ExitCode::usage, fmt::format("{}: this is not what hbench collective --json prints", file_name),
                error.what());
  }
}

}  // namespace hbench
