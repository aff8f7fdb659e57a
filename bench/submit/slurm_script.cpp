#include "bench/submit/slurm_script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "bench/command/command_line.hpp"
#include "collectives/base/parameters.hpp"
#include "collectives/base/text.hpp"

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

/// What the script says itself: another line of these would make it another script.
constexpr std::array<std::string_view, 14> kOwnDirectives{
    "--nodes", "-N", "--ntasks-per-node", "--ntasks",    "-n",        "--output",     "-o",
    "--chdir", "-D", "--signal",          "--open-mode", "--requeue", "--no-requeue", "--array"};

/// The lines of `--sbatch`.
std::vector<std::string_view> extra_lines(const Submission& submission) {
  return lines_of(submission.option("sbatch"));
}

/// `--gres` of `--gres=gpu:4`
std::string_view name_of_line(std::string_view line) { return line.substr(0, line.find_first_of("= ")); }

/// Why a line of `--sbatch` is none; empty where it is one.
std::string refused_line(std::string_view line) {
  if (!line.starts_with('-') || name_of_line(line).find_first_not_of('-') == line.npos)
    return fmt::format("--sbatch '{}': not an option of sbatch", line);
  if (std::ranges::find(kOwnDirectives, name_of_line(line)) != kOwnDirectives.end())
    return fmt::format("--sbatch '{}': the script has its own {}", line, name_of_line(line));
  return "";
}

/// Whether the options say in their own way which GPUs a node has.
bool names_gpus(const Submission& submission) {
  const auto names = [](std::string_view line) {
    const std::string_view name = name_of_line(line);
    return name.starts_with("--gpus") || name.starts_with("-G") || (name == "--gres" && line.find("gpu") != line.npos);
  };
  return submission.option("gres").find("gpu") != std::string::npos ||
         std::ranges::any_of(extra_lines(submission), names);
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
  if (submission.gpus_per_node > 0 && !names_gpus(submission))
    text += fmt::format("#SBATCH --gpus-per-node={}\n", submission.gpus_per_node);
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
  for (const std::string_view line : extra_lines(submission)) text += fmt::format("#SBATCH {}\n", line);
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
  else
    # First, since the job may be ended before scontrol has.
    echo 'hbench: the time limit is near; the rest is done when the job starts again' >&2
    if scontrol requeue "$SLURM_JOB_ID"; then exit 0; fi
  fi
fi
exit "$code"
)END";

std::string sweep(const Submission& submission) {
  std::string line = "\"$hbench\" sweep";
  for (const std::string& argument : submission.sweep) line += " " + shell_word(argument);
  for (const std::string& argument : submission.expected_hosts()) line += " " + argument;
  return line + " \\\n  --db \"$results/hbench.db\" --report \"$results/hbench-report\" --resume &\n";
}

std::string setup(const Submission& submission) {
  const std::string& command = submission.option("setup");
  return command.empty() ? "" : command + "\n";
}

}  // namespace

std::string slurm_refuses(const Submission& submission) {
  for (const auto& [name, value] : submission.options)
    if (name != "sbatch" && !fits_a_line(value))
      return fmt::format("the value of --{} has a line break or another control character", name);
  for (const std::string_view line : extra_lines(submission))
    if (std::string why = refused_line(line); !why.empty()) return why;
  if (const int gpus = slurm_gpus(submission.options); gpus > 0 && gpus != submission.gpus_per_node)
    return fmt::format("--gres asks for {} GPUs of each node, and --gpus-per-node for {}", gpus,
                       submission.gpus_per_node);
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

int slurm_gpus(const Submission::Options& options) {
  std::string resources = options.find("gres")->second;
  for (const std::string_view line : lines_of(options.find("sbatch")->second))
    if (const std::string_view name = name_of_line(line); name == "--gres" && name.size() < line.size())
      resources.append(",").append(line.substr(name.size() + 1));
  for (const std::string_view item : split(resources, ',')) {
    const std::string_view resource = trimmed(item);
    if (resource == "gpu" || resource.starts_with("gpu:"))
      return parse_number<int>(resource.substr(resource.rfind(':') + 1)).value_or(1);
  }
  return 0;
}

std::string slurm_script(const Submission& submission) {
  return fmt::format(
      "#!/bin/bash\n# Made by hbench submit. Each start goes on where the last one ended: sbatch THIS_FILE\n"
      "{}\n{}{}{}{}{}",
      directives(submission), variables(submission), setup(submission), kChecks, sweep(submission), kEnd);
}

}  // namespace hbench
