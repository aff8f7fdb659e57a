#include "collectives/base/span.hpp"

namespace hbench {

std::string_view to_string(SpanKind kind) {
  switch (kind) {
    case SpanKind::step:
      return "step";
    case SpanKind::forward:
      return "forward";
    case SpanKind::backward:
      return "backward";
    case SpanKind::wait:
      return "wait";
    case SpanKind::optimizer:
      return "optimizer";
    case SpanKind::negotiation:
      return "negotiation";
    case SpanKind::communication:
      return "communication";
    case SpanKind::coding:
      return "coding";
  }
  return "";
}

std::string_view to_string(Lane lane) { return lane == Lane::compute ? "compute" : "communication"; }

}  // namespace hbench
