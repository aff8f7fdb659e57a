#pragma once

/// The flags of `hbench submit` that say on what a job runs and where its results go. All that is bound outlives the
/// parsing.

#include "bench/command/arguments.hpp"
#include "bench/submit/engine.hpp"

namespace hbench {

/// Adds the flags that all engines have.
void add_submission_options(Arguments& app, Submission& submission);
/// Adds the flags of one engine, and gives all of them their standards.
void add_engine_options(Arguments& app, const Engine& engine, Submission& submission);
/// Fills in what follows from other flags. After the parsing.
void complete_submission(const Engine& engine, Submission& submission);

}  // namespace hbench
