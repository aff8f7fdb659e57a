#pragma once

#include "bench/submit/engine.hpp"
#include "collectives/base/table.hpp"

namespace hbench {

/// What the options of `engine` are where nobody gives them.
inline void set_standard_options(Submission& submission, const Engine& engine) {
  for (const EngineOption& option : engine.options)
    submission.options.insert_or_assign(std::string(option.name), std::string(option.standard));
}

/// A job of `engine` with the standard value of each of its options.
inline Submission submission_example(const Engine& engine) {
  Submission submission{.job = "hbench",
                        .sweep = {"--gpus", "1..4", "--label", "branch=a b"},
                        .nodes = 2,
                        .ranks_per_node = 4,
                        .program = "/opt/hbench/bin/hbench",
                        .folder = "/shared/run7",
                        .options = {},
                        .directory = "/home/ada/work"};
  set_standard_options(submission, engine);
  return submission;
}

}  // namespace hbench
