#include "workloads/methods/method.hpp"

namespace hbench {
namespace {

constexpr NumberField kFields[] = {{.name = "period", .standard = 8}};

StepPlan plan(const PlanRequest& request) {
  return {{{.kind = TaskKind::forward},
           {.kind = TaskKind::backward, .after = {{0}}},
           {.kind = TaskKind::apply, .after = {{1}}},
           {.kind = TaskKind::collective, .carried = Carried::parameters, .every = request.whole(0), .after = {{2}}}}};
}

}  // namespace

extern const Method kLocalSgd;
constinit const Method kLocalSgd{.name = "local-sgd",
                                 .summary = "ranks train alone and average their parameters after each period",
                                 .citation = "Stich, Local SGD Converges Fast and Communicates Little, ICLR 2019",
                                 .fields = kFields,
                                 .plan = plan};

}  // namespace hbench
