#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "bench/launch/installation.hpp"
#include "bench/submit/engine.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/parameters.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// The flags of `hbench submit --engine slurm`. The first ones mean to sbatch what they are called, and are passed on
/// where they are given.
constexpr std::size_t kPassedOnToSbatch = 7;
constexpr std::array<EngineOption, kPassedOnToSbatch + 5> kSlurmOptions = {{
    {"partition", "where to run; empty: the site's default", ""},
    {"account", "who pays", ""},
    {"qos", "quality of service", ""},
    {"constraint", "features that nodes must have, such as 'a100&ib'", ""},
    {"reservation", "a reservation to run in", ""},
    {"exclude", "nodes not to run on, such as n[3-4]", ""},
    {"gres", "generic resources of a node, such as gpu:a100:4, where a site has no --gpus-per-node", ""},
    {"sbatch", "another option of sbatch, such as '--licenses=lustre' (repeatable)", "", true},
    {"cpus-per-task", "cores of a rank; empty: 1, with GPUs the site's default", ""},
    {"exclusive", "nodes without other jobs, which would disturb: yes or no", "yes"},
    {"restarts", "how often the job starts again when its time limit is near; 0: never, nor after a preemption", "8"},
    {"setup", "a shell command before the sweep, such as 'module load openmpi'", ""},
}};

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

/// As `Engine::gpus_per_node`: of `--gres`.
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

/// As `Engine::refuses`.
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

/// As `Engine::render`. \pre it is not refused.
std::string slurm_script(const Submission& submission) {
  return fmt::format(
      "#!/bin/bash\n# Made by hbench submit. Each start goes on where the last one ended: sbatch THIS_FILE\n"
      "{}\n{}{}{}{}{}",
      directives(submission), variables(submission), setup(submission), kChecks, sweep(submission), kEnd);
}

/// Ten years, in seconds: no number in a time is more.
constexpr double kMostSeconds = 10 * 365.0 * 24 * 3600;

/// A whole number without a sign.
std::optional<double> whole(std::string_view text) {
  const auto number = parse_number<std::uint32_t>(text);
  return number && *number <= kMostSeconds ? std::optional<double>(*number) : std::nullopt;
}

using Phase = JobState::Phase;

/// The parts of either answer.
struct Answer {
  std::string_view state, reason, exit_code, nodes, restarts;
};

/// The value of `name=value` among words; the first, since what comes later may quote anything.
std::string_view value_of(std::string_view printed, std::string_view name) {
  const std::string key = fmt::format(" {}=", name);
  const std::size_t found = printed.find(key);
  if (found == printed.npos) return "";
  const std::string_view rest = printed.substr(found + key.size());
  return rest.substr(0, rest.find_first_of(" \n"));
}

std::string_view field(std::string_view& line) {
  const std::size_t bar = line.find('|');
  const std::string_view text = line.substr(0, bar);
  line = bar == line.npos ? std::string_view() : line.substr(bar + 1);
  return text;
}

Answer answer_of(std::string_view printed) {
  if (printed.find(" JobState=") != printed.npos)
    return {value_of(printed, "JobState"), value_of(printed, "Reason"), value_of(printed, "ExitCode"),
            value_of(printed, "NodeList"), value_of(printed, "Restarts")};
  std::string_view line = printed.substr(0, printed.find('\n'));
  Answer answer;
  answer.state = field(line);
  answer.state = answer.state.substr(0, answer.state.find(' '));  // CANCELLED by 0
  answer.exit_code = field(line);
  answer.reason = field(line);
  return answer;
}

bool is_one_of(std::string_view state, std::span<const std::string_view> states) {
  return std::ranges::find(states, state) != states.end();
}

Phase phase_of(std::string_view state) {
  constexpr std::array<std::string_view, 7> kRunning = {"RUNNING",   "COMPLETING", "SIGNALING", "STAGE_OUT",
                                                        "SUSPENDED", "STOPPED",    "RESIZING"};
  constexpr std::array<std::string_view, 9> kFailed = {
      "FAILED", "TIMEOUT", "CANCELLED", "NODE_FAIL", "OUT_OF_MEMORY", "BOOT_FAIL", "PREEMPTED", "DEADLINE", "REVOKED"};
  if (state == "COMPLETED") return Phase::done;
  if (is_one_of(state, kFailed)) return Phase::failed;
  // What is in neither list will run one day: PENDING, CONFIGURING, REQUEUED, REQUEUE_HOLD ...
  return is_one_of(state, kRunning) ? Phase::running : Phase::waiting;
}

/// `5:0` is an exit code, `0:9` a signal.
int exit_code_of(std::string_view text) {
  const auto [code, rest] = parse_leading_number<int>(text).value_or(std::pair(0, text));
  const int signal = rest.starts_with(':') ? parse_number<int>(rest.substr(1)).value_or(0) : 0;
  return signal != 0 ? 128 + signal : code;
}

/// Slurm could not start the script: most often its log cannot be written on the node.
bool was_not_launched(const Answer& answer) { return answer.reason == "JobLaunchFailure"; }

/// The script's own, where it ended by itself; else what stands for the end that Slurm gave it.
int exit_code_of(const Answer& answer) {
  if (was_not_launched(answer)) return static_cast<int>(ExitCode::environment);
  if (answer.state == "COMPLETED" || answer.state == "FAILED") return exit_code_of(answer.exit_code);
  return static_cast<int>(answer.state == "CANCELLED" ? ExitCode::interrupted : ExitCode::lost_rank);
}

bool says_something(std::string_view reason) { return !reason.empty() && reason != "None" && reason != "(null)"; }

std::string words_of(const Answer& answer, Phase phase) {
  std::string words(answer.state);
  if (phase == Phase::running && says_something(answer.nodes)) words += fmt::format(" on {}", answer.nodes);
  if (phase == Phase::failed && answer.state == "FAILED" && !was_not_launched(answer))
    words += fmt::format(" (exit code {})", exit_code_of(answer.exit_code));
  else if (says_something(answer.reason))
    words += fmt::format(" ({})", answer.reason);
  if (!answer.restarts.empty() && answer.restarts != "0") words += fmt::format(", restart {}", answer.restarts);
  return words;
}

/// How a job is, from what `scontrol --oneliner show job` or `sacct --parsable2 --noheader --format
/// State,ExitCode,Reason` printed. Pure.
JobState slurm_state(std::string_view printed) {
  const Answer answer = answer_of(printed);
  const Phase phase = phase_of(answer.state);
  JobState state{phase, words_of(answer, phase)};
  if (phase == Phase::done || phase == Phase::failed) state.exit_code = exit_code_of(answer);
  return state;
}

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
std::string job_of_sbatch(const Submission&, std::string_view printed) {
  const std::string_view number = printed.substr(0, printed.find_first_of(";\n"));
  const bool digits = std::ranges::all_of(number, [](char c) { return c >= '0' && c <= '9'; });
  return digits ? std::string(number) : "";
}

/// Slurm's controller forgets a job some minutes after its end, which accounting does not, where a site has it.
std::vector<std::string> ask_for_job(const Submission&, const std::string& job) {
  return {"sh", "-c",
          "scontrol --oneliner show job \"$0\" || "
          "sacct --allocations --noheader --parsable2 --format State,ExitCode,Reason --jobs \"$0\"",
          job};
}

}  // namespace

std::optional<Seconds> slurm_time(std::string_view text) {
  const std::size_t dash = text.find('-');
  const bool has_days = dash != text.npos;
  double seconds = 0;
  if (has_days) {
    const std::optional<double> days = whole(text.substr(0, dash));
    if (!days) return std::nullopt;
    seconds = *days * 24 * 3600;
    text = text.substr(dash + 1);
  }
  std::vector<double> numbers;
  for (const std::string_view part : split(text, ':')) {
    const std::optional<double> number = whole(part);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  if (numbers.size() > 3) return std::nullopt;
  // What the first number is of: behind days always hours, else minutes unless there are three.
  double unit = has_days || numbers.size() == 3 ? 3600 : 60;
  for (const double number : numbers) {
    seconds += number * unit;
    unit /= 60;
  }
  return seconds > 0 ? std::optional(Seconds(seconds)) : std::nullopt;
}

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
    .job_of = job_of_sbatch,
    .ask = ask_for_job,
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
