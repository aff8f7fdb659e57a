#pragma once

/// How busy the machine is while a launch runs: what `analysis/records/machine_facts.hpp` stores of it.

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/records/records.hpp"
#include "bench/frameworks/framework_job.hpp"
#include "bench/launch/allocation.hpp"
#include "bench/launch/host.hpp"
#include "bench/launch/start_ranks.hpp"
#include "bench/worker/protocol.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/units.hpp"
#include "workloads/models/own_model.hpp"

namespace hbench {

/// How measured cases are run.
struct MeasureOptions {
  std::string program;  ///< path of hbench-worker
  int launches = 5;     ///< independent jobs of each case; the launch is the unit of repetition
  int more = 2;         ///< further launches, at most, of cases that scatter or were disturbed
  int warmup_steps = 3;
  int steps = 20;        ///< timed steps of a launch, at most
  int traced_steps = 3;  ///< after the timed ones of a launch, to see where their time goes
  Seconds budget{1};     ///< of the timed steps of a launch
  Seconds timeout{60};   ///< a collective, or silence
  Host host = this_host();
  Allocation allocation;  ///< where ranks are started
  std::string network;    ///< between hosts, as `Job::network`
  /// All hosts of the run by name, as its environment has them, also those that are lost; empty on this machine alone.
  std::vector<std::string> run_hosts = {};
  std::vector<OwnModel> own_models = {};  ///< that cases may have as workloads
  FoundFrameworks frameworks = {};        ///< that cases may be trained by
  /// After the loss of a host: the others go on, or nothing more is launched.
  bool stop_on_lost_host = false;

  /// About how long a launch takes: start-up of ranks and LibTorch, warm-up, timed steps and shut-down.
  double launch_seconds() const { return budget.value + 2.5; }
};

/// What came of one launch. Of one that failed there is the sample that says so (`metric::kLaunchLost`), and of one
/// that Ctrl-C ended there is none.
struct LaunchOutcome {
  std::vector<Sample> samples;
  ExitCode code = ExitCode::good;
  std::string reason;                   ///< one line; empty when good
  std::vector<TracedStep> traced = {};  ///< times since the launch's first span
  bool overloaded = false;              ///< an emulated launch that is void because this machine was too slow for it
};

/// The first GPUs of those that a process sees, as the value of CUDA_VISIBLE_DEVICES: ranks share these alone.
/// \param visible that variable now; null or empty where it is not set. Pure.
std::string first_gpus(const char* visible, int count);

/// A launch that failed, for a reason in one line; `overloaded` as in `LaunchOutcome`.
LaunchOutcome lost_launch(ExitCode code, int launch, const std::string& reason, bool overloaded = false);

/// A launch that is to be started.
struct LaunchPlan {
  WorkOrder order;
  RankStart start;      ///< its worker is still to be said
  int ranks = 1;        ///< processes, or threads of one
  std::string refusal;  ///< why the allocation has no place for it; empty where it has
  std::vector<std::string> host_of_rank;
};
LaunchPlan plan_launch(const Case& asked, const MeasureOptions& options, int launch);
/// Returns program and arguments of each rank of hbench's own.
std::vector<std::string> worker_command(const MeasureOptions& options, const WorkOrder& order);

/// Runs one launch of a measured case in processes of its own, with the machine's load around it; a lost or hung rank
/// is named in the reason, and no process stays behind. One rank is slowed down where HBENCH_TEST_DELAY says so.
/// Where the allocation has no place for its ranks, that is the reason, and where a framework trained something else
/// than the case says, that is. \throws Error (environment) when the launcher is missing.
LaunchOutcome measure_launch(const Case& asked, const MeasureOptions& options, int launch);

/// Runs `launches` launches of a case that nothing takes turns with, one after the other until one fails; none after
/// Ctrl-C. \throws what `launch` throws.
CaseResult launch_all(const Case& asked, int launches, const std::function<LaunchOutcome(int launch)>& launch);

/// All launches of such a case by `measure_launch`. `on_launch(n)` is called before launch n. \throws as
/// `measure_launch`.
CaseResult measure(const Case& asked, const MeasureOptions& options, const std::function<void(int launch)>& on_launch);

/// CPU time of some cores since the machine started, in clock ticks.
struct CpuTimes {
  double busy = 0;
  double stolen = 0;  ///< by the hypervisor

  friend bool operator==(const CpuTimes&, const CpuTimes&) = default;
};
/// Of these cores, by a text such as /proc/stat has. Nothing where one of them is missing.
std::optional<CpuTimes> parse_cpu_times(std::string_view proc_stat, const std::vector<int>& cores);

/// Looks at the machine when it is made, and again when `samples` is called: around one launch, whose processes have
/// all been waited for by then.
class LoadWatch {
 public:
  LoadWatch();
  std::vector<Sample> samples(int launch) const;

 private:
  struct Look {
    std::chrono::steady_clock::time_point at;
    std::optional<CpuTimes> cpu;
    double ours = 0;  ///< CPU seconds of this process and of those that it has waited for
    double load_average = -1;
  };
  Look look() const;

  std::vector<int> cores_;
  double began_ = 0;  ///< seconds since 1970
  Look before_;
};

}  // namespace hbench
