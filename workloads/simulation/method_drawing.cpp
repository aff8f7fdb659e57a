#include "workloads/simulation/method_drawing.hpp"

#include <fmt/format.h>

#include "workloads/methods/plan_drawing.hpp"
#include "workloads/simulation/pipeline.hpp"

namespace hbench {

std::vector<Lanes> drawn(const MethodChoice& method) {
  std::vector<Lanes> pictures;
  const auto add = [&](Lanes picture, std::string_view title) {
    picture.title = fmt::format("{}: {}", method.text(), title);
    pictures.push_back(std::move(picture));
  };
  if (!method.division.none()) add(drawn(method.division), "micro-batches through the stages");
  add(drawn(method.plan(true)), method.method->summary);
  return pictures;
}

}  // namespace hbench
