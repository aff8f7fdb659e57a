#include "collectives/base/error.hpp"
#include "collectives/executors/executor.hpp"
#include "collectives/network/simulator.hpp"

namespace hbench {
namespace {

/// All ranks in virtual time on the network of a profile.
class SimulateExecutor final : public Executor {
 public:
  explicit SimulateExecutor(const Profile& profile) : profile_(profile) {}

  Timeline run(const Collective& collective) override {
    if (collective.schedule == nullptr)
      throw Error(ExitCode::usage, "a library's own all-reduce cannot be simulated: its schedule is not known",
                  "choose an algorithm with a schedule (hbench list algorithms)");
    Network network(profile_, collective.schedule->world);
    SimulatedCollective run(network, *collective.schedule, collective.encoding, collective.elements, Seconds(0));
    while (!run.done()) run.advance();
    Timeline timeline;
    for (Rank rank = 0; rank < collective.schedule->world.ranks(); ++rank) timeline.finish.push_back(run.finish(rank));
    return timeline;
  }

 private:
  const Profile& profile_;
};

}  // namespace

extern const ExecutorKind kSimulateExecutor;
constinit const ExecutorKind kSimulateExecutor{
    .name = "simulate",
    .summary = "all ranks in virtual time, on the network of a cluster profile",
    .evidence = "simulated",
    .limits = "no library's own collectives: their schedules are not known",
    .availability = [] { return Availability{}; },
    .make = [](const Profile* profile, Seconds) -> std::unique_ptr<Executor> {
      return std::make_unique<SimulateExecutor>(*profile);
    },
};

}  // namespace hbench
