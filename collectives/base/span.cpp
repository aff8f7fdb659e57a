#include "collectives/base/span.hpp"

namespace hbench {

std::string_view to_string(SpanKind kind) {
  constexpr std::array<std::string_view, 8> kNames{"step",      "forward",     "backward",      "wait",
                                                   "optimizer", "negotiation", "communication", "coding"};
  return kNames.at(static_cast<std::size_t>(kind));
}

std::string_view to_string(Lane lane) { return lane == Lane::compute ? "compute" : "communication"; }

}  // namespace hbench
