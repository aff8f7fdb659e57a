#include <fmt/format.h>

#include <algorithm>

#include "reports/scaling/scaling.hpp"

namespace hbench {
namespace {

std::string share_cell(std::size_t iterations, const ThrottledShare& among) {
  return percent_cell(static_cast<double>(iterations) / static_cast<double>(among.iterations));
}

bool is_held_back(const Point& point) { return !point.failed && point.throttled.worst() != Throttling::none; }

}  // namespace

Blocks throttled_points(const Scaling& scaling) {
  Table table{.caption = "Measured while a GPU was held back: share of the iterations",
              .columns = {"workload", "where", numbers("ranks"), "strategy", numbers("throttled"),
                          numbers("at its power cap"), "why"}};
  for (const Point& point : scaling.input.points) {
    if (!is_held_back(point)) continue;
    const Case& asked = point.asked;
    const ThrottledShare& share = point.throttled;
    table.rows.push_back({scaling.words.workload(asked), scaling.words.network(asked), std::to_string(asked.gpus),
                          scaling.words.strategy(asked), share_cell(share.throttled, share),
                          share_cell(share.power_capped, share), throttling_text(share.reasons)});
  }
  if (table.rows.empty()) return {};
  return {std::move(table)};
}

std::string throttled_sentence(const Scaling& scaling) {
  const auto throttled = std::ranges::count_if(scaling.input.points, [](const Point& point) {
    return is_held_back(point) && point.throttled.worst() == Throttling::throttled;
  });
  if (throttled == 0) return "";
  return fmt::format("{} measured while a GPU was throttled: a table below says which",
                     throttled == 1 ? "1 point was" : fmt::format("{} points were", throttled));
}

}  // namespace hbench
