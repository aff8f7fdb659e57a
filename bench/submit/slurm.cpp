#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "bench/launch/installation.hpp"
#include "bench/submit/engine.hpp"
#include "bench/submit/slurm_script.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/parameters.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// Ten years, in seconds: no number in a time is more.
constexpr double kMost = 10 * 365.0 * 24 * 3600;

/// A whole number without a sign.
std::optional<double> whole(std::string_view text) {
  const auto number = parse_number<std::uint32_t>(text);
  return number && *number <= kMost ? std::optional<double>(*number) : std::nullopt;
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
