#include "bench/submit/slurm_script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/command/shell_word.hpp"
#include "bench/submit/slurm_options.hpp"
#include "collectives/base/parse_number.hpp"

namespace hbench {
namespace {

/// Before the time limit, Slurm sends the signal up to a minute sooner than this. A sweep needs some seconds to end.
constexpr int kWarningSeconds = 60;
constexpr int kLeastMinutes = 3;

bool is_number(const std::string& text) { return parse_number<int>(text).value_or(-1) >= 0; }

/// A line of the script ends where a line break is.
bool fits_a_line(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

/// `#SBATCH --name="value"`, as sbatch reads it back: a backslash is for the character after it.
std::string directive(std::string_view name, std::string_view value) {
  std::string line = fmt::format("#SBATCH --{}=\"", name);
  for (const char c : value) line += c == '"' || c == '\\' ? fmt::format("\\{}", c) : std::string(1, c);
  return line + "\"\n";
}

/// In the name of an output file a percent sign begins a replacement.
std::string output_pattern(const Submission& submission) {
  std::string pattern;
  for (const char c : submission.folder.string()) pattern += c == '%' ? "%%" : std::string(1, c);
  return pattern + "/slurm-%j.log";
}

/// A job that may start again leaves a lost node to Slurm, which gives it another. One that may not goes on with the
/// nodes that are left.
std::string when_a_node_is_lost(const Submission& submission) {
  return submission.option("restarts") == "0" ? "#SBATCH --no-requeue\n#SBATCH --no-kill\n" : "#SBATCH --requeue\n";
}

std::string cores(const Submission& submission) {
  const std::string& asked = submission.option("cpus-per-task");
  if (!asked.empty()) return fmt::format("#SBATCH --cpus-per-task={}\n", asked);
  return submission.gpus_per_node == 0 ? "#SBATCH --cpus-per-task=1\n" : "";
}

std::string directives(const Submission& submission) {
  std::string text = fmt::format("#SBATCH --job-name={}\n#SBATCH --nodes={}\n#SBATCH --ntasks-per-node={}\n",
                                 submission.job, submission.nodes, submission.ranks_per_node);
  text += cores(submission);
  if (submission.gpus_per_node > 0) text += fmt::format("#SBATCH --gpus-per-node={}\n", submission.gpus_per_node);
  if (submission.option("exclusive") == "yes") text += "#SBATCH --exclusive\n";
  if (submission.time_limit.value > 0)
    text += fmt::format("#SBATCH --time={:.0f}\n", std::ceil(submission.time_limit.value / 60));
  text += fmt::format("#SBATCH --signal=B:USR1@{}\n", kWarningSeconds);
  text += when_a_node_is_lost(submission);
  text += "#SBATCH --open-mode=append\n" + directive("output", output_pattern(submission));
  if (!submission.directory.empty()) text += directive("chdir", submission.directory.string());
  for (const EngineOption& passed : std::span(kSlurmOptions).first<kPassedOnToSbatch>())
    if (const std::string& value = submission.option(passed.name); !value.empty())
      text += directive(passed.name, value);
  return text;
}

/// What the script begins with: each variable is one word, whatever it holds.
std::string variables(const Submission& submission) {
  return fmt::format("hbench={}\nresults={}\nrestarts={}\n", shell_word(submission.program.string()),
                     shell_word(submission.folder.string()), submission.option("restarts"));
}

constexpr std::string_view kChecks = R"END(
stop() { echo "hbench: $1 on $(hostname)" >&2; echo "  $2" >&2; exit 3; }
[ -x "$hbench" ] || stop "there is no $hbench" 'install hbench there, or name a program that all nodes see with --program'
[ -w "$results" ] || stop "$results cannot be written" 'name a folder that all nodes share with --results'
[ -e "$results/hbench.slurm" ] || stop "$results is another folder" 'name a folder that all nodes share with --results'
)END";

/// A sweep in the background, since the shell would attend to no signal while it waits for one in the foreground.
constexpr std::string_view kEnd = R"END(sweep=$!

# Before the time limit Slurm sends USR1 to this script alone. The sweep then ends as with Ctrl-C: what is finished is kept.
again=
trap 'again=yes; kill -INT "$sweep"' USR1
trap 'again=; kill -TERM "$sweep"' TERM INT
while wait "$sweep"; code=$?; [ "$code" -gt 128 ] && kill -0 "$sweep" 2> /dev/null; do :; done

if [ -n "$again" ] && [ "$code" = 130 ]; then
  if [ "${SLURM_RESTART_COUNT:-0}" -ge "$restarts" ]; then
    echo "hbench: the time limit is near, and the job has started again $restarts times; submit it once more for the rest" >&2
  elif scontrol requeue "$SLURM_JOB_ID"; then
    echo 'hbench: the time limit is near; the rest is done when the job starts again' >&2
    exit 0
  fi
fi
exit "$code"
)END";

std::string sweep(const Submission& submission) {
  std::string line = "\"$hbench\" sweep";
  for (const std::string& argument : submission.sweep) line += " " + shell_word(argument);
  return line + " \\\n  --db \"$results/hbench.db\" --report \"$results/hbench-report\" --resume &\n";
}

std::string setup(const Submission& submission) {
  const std::string& command = submission.option("setup");
  return command.empty() ? "" : command + "\n";
}

}  // namespace

std::string slurm_refuses(const Submission& submission) {
  for (const auto& [name, value] : submission.options)
    if (!fits_a_line(value))
      return fmt::format("the value of --{} has a line break or another control character", name);
  for (const std::filesystem::path& path : {submission.folder, submission.directory, submission.program})
    if (!fits_a_line(path.string())) return "a folder's name has a line break or another control character";
  if (submission.folder.string().find('\\') != std::string::npos)
    return "the folder of --results has a backslash in its name, which Slurm leaves out";
  if (!is_number(submission.option("restarts")))
    return fmt::format("--restarts {}: not a whole number, 0 or more", submission.option("restarts"));
  const std::string& cpus = submission.option("cpus-per-task");
  if (!cpus.empty() && (!is_number(cpus) || cpus == "0"))
    return fmt::format("--cpus-per-task {}: not a whole number, 1 or more", cpus);
  const std::string& exclusive = submission.option("exclusive");
  if (exclusive != "yes" && exclusive != "no") return fmt::format("--exclusive {}: neither yes nor no", exclusive);
  if (submission.time_limit.value > 0 && submission.time_limit.value < 60 * kLeastMinutes)
    return fmt::format("--time is less than {} minutes; Slurm counts whole ones, and the sweep ends in the last two",
                       kLeastMinutes);
  return "";
}

std::string slurm_script(const Submission& submission) {
  return fmt::format(
      "#!/bin/bash\n# Made by hbench submit. Each start goes on where the last one ended: sbatch THIS_FILE\n"
      "{}\n{}{}{}{}{}",
      directives(submission), variables(submission), setup(submission), kChecks, sweep(submission), kEnd);
}

}  // namespace hbench
