#include "workloads/step/workload_cost.hpp"

#include <array>

#include "collectives/base/error.hpp"
#include "collectives/base/table.hpp"

namespace hbench {
namespace {

struct KindName {
  std::string_view name;
  WorkloadKind kind;
};

constexpr std::array<KindName, 3> kKinds{{{"convolutions", WorkloadKind::convolutions},
                                          {"encoder", WorkloadKind::encoder},
                                          {"decoder", WorkloadKind::decoder}}};

}  // namespace

std::string_view to_string(WorkloadKind kind) { return kKinds.at(static_cast<std::size_t>(kind)).name; }

WorkloadKind parse_workload_kind(std::string_view name) {
  for (const KindName& each : kKinds)
    if (each.name == name) return each.kind;
  throw unknown_name("kind of model", name, std::array{kKinds[0].name, kKinds[1].name, kKinds[2].name});
}

}  // namespace hbench
