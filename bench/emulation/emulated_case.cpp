#include "analysis/prediction/case_memory.hpp"
#include "analysis/prediction/case_strategy.hpp"
#include "analysis/prediction/one_gpu.hpp"
#include "bench/emulation/emulated_launch.hpp"
#include "bench/launch/process.hpp"

namespace hbench {

EmulatedCase emulated_case(const Case& asked, const Catalog& catalog, SimulatedRunner& simulated,
                           const EmulationOptions& options) {
  const Profile& profile = catalog.profiles.at(asked.profile);
  const World world = world_of(asked, profile.gpus_per_domain());
  EmulatedCase emulated;
  emulated.asked = asked;
  emulated.timeline = timeline_of(asked, catalog);
  emulated.one_gpu = one_gpu(asked, catalog);
  emulated.memory = memory_of(asked, catalog);
  const double dilation =
      options.dilation > 0 ? options.dilation
                           : choose_dilation({profile, world, emulated.timeline, parse_strategy(asked)}, options.cores);
  emulated.cluster = emulated_cluster(profile, world, dilation, options.faults);
  emulated.stretches = options.dilation == 0;
  emulated.straggler = profile.straggler;
  emulated.overlap_slowdown = profile.overlap_slowdown;
  emulated.expected = simulated.step(asked).times.step;
  emulated.latency = profile.network_latency;
  emulated.faults = options.faults;
  return emulated;
}

CaseResult emulate(EmulatedCase emulated, const MeasureOptions& options, const std::function<void(int)>& on_launch) {
  constexpr int kStretched = 2;
  int stretched = 0;
  CaseResult result = launch_all(emulated.asked, options.launches, [&](int launch) {
    MeasureOptions own = options;
    if (launch > 0) own.traced_steps = 0;  // one look is enough, and takes a step
    while (true) {
      on_launch(launch);
      LaunchOutcome outcome = emulate_launch(emulated, own, launch);
      if (!outcome.overloaded || !emulated.stretches || stretched == kStretched || interrupted()) return outcome;
      stretch(emulated.cluster, 2);
      ++stretched;
    }
  });
  result.samples.push_back(
      {.metric = "baseline_throughput", .value = emulated.timeline.samples_per_second(), .unit = "samples/s"});
  add_other_batch(result, emulated.one_gpu);
  add_memory(result, emulated.memory);
  return result;
}

}  // namespace hbench
