#pragma once

/// What a worker is told and what it says: JSON, one object per line. Workers never see the database.

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "analysis/records.hpp"
#include "collectives/base/units.hpp"

namespace hbench {

/// One launch of one measured case.
struct WorkOrder {
  Case asked;
  int warmup_steps = 3;
  int steps = 20;
  Seconds budget{0};  ///< of the timed steps
  Seconds timeout{60};
  int cores = 1;  ///< rank r runs on core r modulo this
};

std::string to_json(const WorkOrder& order);
/// \throws Error (internal) for what `to_json` does not write.
WorkOrder parse_work_order(std::string_view json);

/// A rank has started.
struct HelloLine {
  int rank = 0;
  int pid = 0;
};
/// A rank has finished a step.
struct StepLine {
  int rank = 0;
  int iteration = 0;
  bool warmup = false;
  double seconds = 0;
  double exposed = 0;
};
/// A rank has finished.
struct DoneLine {
  int rank = 0;
  std::string digest;
};
/// A rank gives up.
struct FailureLine {
  int rank = 0;
  int exit_code = 1;
  std::string message;
};
using WorkerLine = std::variant<HelloLine, StepLine, DoneLine, FailureLine>;

std::string to_json(const WorkerLine& line);
/// Nothing for a line that no worker of ours wrote (a library's warning, say).
std::optional<WorkerLine> parse_worker_line(std::string_view text);

}  // namespace hbench
