#include "bench/output/point_filter.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collectives/base/parameters.hpp"
#include "collectives/base/table.hpp"

namespace hbench {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

bool has_strategy(const Case& asked, const std::string& wanted) {
  return asked.strategy.algorithm == wanted || asked.strategy_label().find(wanted) != std::string::npos;
}

/// \throws Error (usage) for a name of which `names` has nothing.
void check(std::string_view what, const std::vector<std::string>& wanted, const std::set<std::string>& names) {
  const std::vector<std::string_view> known(names.begin(), names.end());
  for (const std::string& name : wanted)
    if (!names.contains(name)) throw unknown_name(fmt::format("stored {}", what), name, known);
}

void check_strategies(const std::vector<Point>& points, const PointFilter& filter) {
  std::set<std::string> names;
  for (const Point& point : points) names.insert({point.asked.strategy.algorithm, point.asked.strategy_label()});
  std::vector<std::string> unknown = filter.strategies;
  std::erase_if(unknown, [&](const std::string& wanted) {
    return std::ranges::any_of(points, [&](const Point& point) { return has_strategy(point.asked, wanted); });
  });
  check("strategy", unknown, names);
}

void check_names(const std::vector<Point>& points, const PointFilter& filter) {
  std::set<std::string> workloads, profiles;
  for (const Point& point : points) {
    workloads.insert(point.asked.workload);
    profiles.insert(point.asked.profile);
  }
  check("workload", filter.workloads, workloads);
  check("profile", filter.profiles, profiles);
  check_strategies(points, filter);
}

}  // namespace

bool PointFilter::accepts(const Case& asked) const {
  return (workloads.empty() || contains(workloads, asked.workload)) &&
         (profiles.empty() || contains(profiles, asked.profile)) &&
         (evidence.empty() || evidence.contains(asked.evidence)) &&
         (strategies.empty() ||
          std::ranges::any_of(strategies, [&](const std::string& wanted) { return has_strategy(asked, wanted); }));
}

std::vector<Point> select_points(std::vector<Point> points, const PointFilter& filter) {
  check_names(points, filter);
  const bool any = !points.empty();
  std::erase_if(points, [&](const Point& point) { return !filter.accepts(point.asked); });
  if (any && points.empty())
    throw Error(ExitCode::usage, "no stored point has all that was asked for",
                "leave out one of --workload, --profile, --evidence, --strategy, --run, --label");
  return points;
}

void add_evidence(Arguments& app, std::set<Evidence>& evidence, std::string help, std::string standard) {
  const auto parse = [](const std::string& text, const std::string& flag) {
    std::set<Evidence> all;
    for (const std::string& name : split_list(text, flag)) all.insert(parse_evidence(name));
    return all;
  };
  app.add_parsed("--evidence", evidence, parse, std::move(help), std::move(standard));
}

}  // namespace hbench
