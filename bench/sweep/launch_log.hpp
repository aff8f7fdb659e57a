#pragma once

#include <map>
#include <vector>

#include "analysis/records/records.hpp"
#include "bench/launch/job_outcome.hpp"

namespace hbench {

/// Everything that the ranks of one launch of a training case report.
struct LaunchLog {
  LaunchLog(int number, int ranks) : launch(number), all(ranks) {}

  void note(const WorkerLine& line);
  /// Times since the first span of the launch: those of a clock that began with the machine mean nothing later.
  std::vector<TracedStep> traced_steps() const;

  int launch;
  int all;  ///< ranks
  std::vector<Sample> samples;
  std::map<int, std::vector<Span>> spans;  ///< by step
  RankReports reports;                     ///< complete once all ranks are done
  std::vector<std::string> digests;        ///< of the final parameters, of ranks that are done
};

}  // namespace hbench
