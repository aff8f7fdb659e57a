#pragma once

#include <optional>

#include "bench/command/verb.hpp"
#include "bench/submit/engine.hpp"

namespace hbench {

/// What `hbench submit` was asked for.
struct SubmitOptions {
  const Engine* engine = nullptr;
  Submission submission;
  bool dry_run = false;
  bool wait = false;
};

/// Nothing when help was asked for and printed. Flags that are not of `submit` or the engine are those of the sweep, as
/// is all behind `--`; a mistake in them is found here, before a job waits in a queue for it.
/// \throws Error (usage).
std::optional<SubmitOptions> parse_submit_options(const Call& call);

}  // namespace hbench
