#include <algorithm>
#include <map>
#include <set>

#include "reports/scaling/scaling.hpp"
#include "workloads/simulation/method_drawing.hpp"

namespace hbench {
namespace {

/// The methods of points, each once, by their texts.
std::map<std::string, MethodChoice> methods_of(const std::vector<Point>& points) {
  std::map<std::string, MethodChoice> methods;
  std::set<std::string> read;
  for (const Point& point : points) {
    if (!read.insert(point.asked.strategy.method).second) continue;
    if (const auto method = known_method(point.asked.strategy.method)) methods.emplace(method->text(), *method);
  }
  return methods;
}

}  // namespace

Blocks training_methods(const Scaling& scaling) {
  const std::map<std::string, MethodChoice> methods = methods_of(scaling.input.points);
  if (std::ranges::all_of(methods, [](const auto& each) { return each.second.is_synchronous(); })) return {};
  Blocks blocks{Heading{1, "An iteration of each training method"}};
  for (const auto& [text, method] : methods) std::ranges::move(drawn(method), std::back_inserter(blocks));
  return blocks;
}

}  // namespace hbench
