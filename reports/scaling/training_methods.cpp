#include <fmt/format.h>

#include <map>

#include "analysis/prediction/case_strategy.hpp"
#include "reports/scaling/scaling.hpp"
#include "workloads/methods/plan_drawing.hpp"
#include "workloads/simulation/pipeline.hpp"

namespace hbench {
namespace {

/// The methods of points, each once. A database may have those of a newer hbench, which cannot be drawn.
std::map<std::string, MethodChoice> methods_of(const std::vector<Point>& points) {
  std::map<std::string, MethodChoice> methods;
  for (const Point& point : points) try {
      const MethodChoice method = method_of(point.asked);
      methods.emplace(method.text(), method);
    } catch (const Error&) {
    }
  return methods;
}

Lanes titled(Lanes lanes, std::string title) {
  lanes.title = std::move(title);
  return lanes;
}

}  // namespace

Blocks training_methods(const Scaling& scaling) {
  const std::map<std::string, MethodChoice> methods = methods_of(scaling.input.points);
  if (methods.empty() || (methods.size() == 1 && methods.begin()->second.is_synchronous())) return {};
  Blocks blocks{Heading{1, "An iteration of each training method"}};
  for (const auto& [text, method] : methods) {
    if (!method.division.none())
      blocks.push_back(titled(drawn(method.division), fmt::format("{}: micro-batches through the stages", text)));
    blocks.push_back(titled(drawn(method.plan(true)), fmt::format("{}: {}", text, method.method->summary)));
  }
  return blocks;
}

}  // namespace hbench
