#include <algorithm>

#include "bench/launch/find_program.hpp"
#include "bench/submit/engine.hpp"
#include "bench/submit/slurm_options.hpp"
#include "bench/submit/slurm_script.hpp"
#include "bench/submit/slurm_state.hpp"

namespace hbench {
namespace {

Availability availability(std::string_view path) {
  for (const std::string_view program : {"sbatch", "scontrol"})
    if (Availability there = program_availability(
            program, path,
            "run this where jobs are submitted (a login node), or install Slurm's commands (Debian: slurm-client)");
        !there.available)
      return there;
  return {};
}

/// `12`, or `12;cluster` where there are several.
std::string job_of(const Submission&, std::string_view printed) {
  const std::string_view number = printed.substr(0, printed.find_first_of(";\n"));
  const bool digits = std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
  return digits ? std::string(number) : "";
}

/// Slurm's controller forgets a job some minutes after its end, which accounting does not, where a site has it.
std::vector<std::string> ask(const Submission&, const std::string& job) {
  return {"sh", "-c",
          "scontrol --oneliner show job \"$0\" || "
          "sacct --allocations --noheader --parsable2 --format State,ExitCode,Reason --jobs \"$0\"",
          job};
}

}  // namespace

extern const Engine kSlurmEngine;
constinit const Engine kSlurmEngine{
    .name = "slurm",
    .summary = "a batch script for sbatch",
    .options = kSlurmOptions,
    .availability = availability,
    .refuses = slurm_refuses,
    .render = slurm_script,
    .submit = [](const Submission&, const std::filesystem::path& file) -> std::vector<std::string> {
      return {"sbatch", "--parsable", file.string()};
    },
    .job_of = job_of,
    .ask = ask,
    .state = slurm_state,
    .fetch = [](const Submission&, const std::string&) -> std::vector<std::vector<std::string>> { return {}; },
    .cancel = [](const Submission&, const std::string& job) -> std::vector<std::string> {
      return {"scancel", job};
    },
    .log = [](const Submission& submission, const std::string& job) -> std::filesystem::path {
      return submission.folder / ("slurm-" + job + ".log");
    },
    .gpus_per_node = slurm_gpus,
};

}  // namespace hbench
