#include "bench/submit/submission_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/command/common_options.hpp"
#include "bench/submit/slurm_script.hpp"

namespace hbench {
namespace {

namespace fs = std::filesystem;

constexpr int kMostNodes = 100'000;

std::string job_name(const std::string& name) {
  const bool good =
      std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
  if (good && name.front() != '-' && name.back() != '-' && name.size() <= 40) return name;
  throw Error(ExitCode::usage, fmt::format("--name {}: not a name of a job", name),
              "write small letters, digits and dashes between them, at most 40: resnet-7");
}

/// As `long_time_flag`, and as Slurm writes it: minutes, `4:00:00`, `1-12`.
Seconds time_limit(const std::string& text) {
  const std::optional<Seconds> of_slurm = slurm_time(text);
  return of_slurm ? *of_slurm : long_time_flag(text, "--time");
}

/// Adds a line to those of an option that may be given several times. \throws Error (usage) for what is no line.
void add_line(std::string& lines, const std::string& line, std::string_view option) {
  if (line.empty() ||
      std::ranges::any_of(line, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }))
    throw Error(ExitCode::usage, fmt::format("--{} is given what is no single line", option),
                "give it once for each line");
  lines += (lines.empty() ? "" : "\n") + line;
}

}  // namespace

void add_submission_options(Arguments& app, Submission& submission) {
  submission.ranks_per_node = 0;
  submission.program = fs::read_symlink("/proc/self/exe");
  submission.directory = fs::current_path();
  app.add_option("--nodes", submission.nodes, "hosts of the job", in_range(1, kMostNodes));
  app.add_option("--ranks-per-node", submission.ranks_per_node, "ranks that a host may run (default: its GPUs, or 1)",
                 in_range(1, kMostNodes));
  app.add_option("--gpus-per-node", submission.gpus_per_node,
                 "GPUs of each host (default: none, ranks run on CPU cores)", in_range(1, kMostNodes));
  app.add_parsed(
      "--time", submission.time_limit, time_limit,
      "time limit of the job, such as 4h, or as Slurm writes it: 240 (minutes), 4:00:00 (default: the engine's)");
  app.add_parsed(
      "--results", submission.folder, [](const std::string& path) { return fs::absolute(path).lexically_normal(); },
      "folder for the database, the report and what is written meanwhile", "hbench-results");
  app.add_parsed("--name", submission.job, job_name, "name of the job: small letters, digits, dashes", "hbench");
  app.add_parsed(
      "--program", submission.program, [](const std::string& path) { return fs::absolute(path); },
      "hbench, as hosts find it (default: this program)");
}

void add_engine_options(Arguments& app, const Engine& engine, Submission& submission) {
  for (const EngineOption& option : engine.options) {
    std::string& value = submission.options[std::string(option.name)] = option.standard;
    const std::string flag = fmt::format("--{}", option.name), help(option.summary);
    if (option.repeated)
      app.add_each(
          flag, [&](const std::string& line) { add_line(value, line, option.name); }, help);
    else
      app.add_option(flag, value, help);
  }
}

void complete_submission(const Engine& engine, Submission& submission) {
  if (submission.gpus_per_node == 0 && engine.gpus_per_node != nullptr)
    submission.gpus_per_node = engine.gpus_per_node(submission.options);
  if (submission.ranks_per_node == 0) submission.ranks_per_node = std::max(1, submission.gpus_per_node);
}

}  // namespace hbench
