#pragma once

/// Interruptions of a predicted job, and the time of its checkpoints: by flags, by what is published, and by the bytes
/// of its model.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/choose/choice.hpp"
#include "analysis/choose/failures.hpp"
#include "analysis/points/points.hpp"
#include "analysis/prediction/data.hpp"

namespace hbench {

/// `55000h`, `30s`, `11min`, `90d`, or `usual` for what is published. Where all are empty nothing interrupts a job.
struct FailureTexts {
  std::string mtbf, checkpoint_time, restart_time, spot;
};
/// \throws Error (usage) that names the flag.
std::optional<FailureAssumptions> parse_failures(const FailureTexts& texts);

/// A time as a flag takes it, in hours. \throws Error (usage).
double parse_flag_hours(std::string_view text, std::string_view flag, std::string_view example);

/// Returns the interruptions of the job of a simulated point. Replicas that meet now and then, as in local SGD and
/// DiLoCo, go on without the one that fails, which loses what it has done since they met, as with torchft; other jobs
/// go back to their last checkpoint.
Interruptions interruptions_of(const FailureAssumptions& assumed, const Point& point, const Catalog& catalog);

/// Returns the doubts about what interrupts the job of an alternative on `cluster`. \pre it has a pace
std::vector<Doubt> doubts_of_failures(const FailureAssumptions& assumed, const Alternative& alternative,
                                      const Profile& cluster);

}  // namespace hbench
