#include "analysis/prediction/node_rate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/prediction/one_gpu.hpp"
#include "analysis/prediction/simulate.hpp"
#include "collectives/base/error.hpp"

namespace hbench {
namespace {

/// A GPU is as fast as it has to be for a full node to make `node_rate` samples/s in steps like `step`.
void take_from_node(GpuRate& rate, const Catalog& catalog, PlannedCase step, double node_rate) {
  rate = {.samples_per_second = one_gpu(step, catalog).samples_per_second,
          .batch = step.micro_batch(),
          .source = "by --single-node-rate"};
  step.asked.gpus = catalog.profiles.at(step.asked.profile).gpus_per_node;
  const PlannedCase node = planned(step.asked, step.strategy);
  double faster = 0;
  for (int i = 0; i < 30 && std::abs(faster - 1) > 1e-4; ++i) {  // communication stays as it is
    const StatedStep now = SimulatedRunner(catalog).stated(node);
    faster = node_rate * now.step.value / (node.asked.batch_per_gpu * node.asked.gpus);
    rate.samples_per_second *= faster;
  }
}

}  // namespace

void set_node_rate(Catalog& catalog, PlannedCase step, double node_rate) {
  const Trace& trace = catalog.traces.at(step.asked.workload);
  Profile& profile = catalog.profiles.at(step.asked.profile);
  GpuRate& rate = profile.rates
                      .try_emplace(trace.name, GpuRate{.samples_per_second = trace.timeline.samples_per_second(),
                                                       .batch = trace.timeline.batch})
                      .first->second;
  const double given = step.asked.single_gpu_rate;
  if (given > 0) rate = {.samples_per_second = given, .batch = rate.batch, .source = "given"};
  if (step.asked.global_batch > 0 && rate.batch > 0) step.asked.batch_per_gpu = rate.batch, step.asked.accumulate = 0;
  const double ideal = one_gpu(step, catalog).samples_per_second * profile.gpus_per_node;
  // Measured rates differ by some per cent from run to run, other software makes twice as many. What a model says of a
  // GPU weighs less than a full node that was measured: only a wrong unit is as far off.
  const double most = given > 0 ? 1.05 : rate.modelled ? 10 : 2;
  if (node_rate > most * ideal || node_rate < 0.1 * ideal)
    throw Error(
        ExitCode::usage,
        fmt::format("--single-node-rate {:g}: the {} GPUs of a node of {} make {:.4g} samples/s of {} at batch "
                    "{} and ideal speed",
                    node_rate, profile.gpus_per_node, profile.name, ideal, trace.name, step.asked.batch_per_gpu),
        given > 0 ? "give both rates of one workload, batch and cluster"
                  : "give what all GPUs of one full node make together, at its --batch; if it is right, give "
                    "what one of them makes alone by --single-gpu-rate");
  if (given == 0 && (rate.modelled || node_rate > ideal)) take_from_node(rate, catalog, step, node_rate);
  rate.node = given > 0 ? std::min(node_rate, ideal) : node_rate;
}

}  // namespace hbench
