#include "bench/submit/engine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <thread>
#include <utility>

#include "bench/command/command_line.hpp"
#include "bench/launch/allocation.hpp"
#include "bench/launch/process.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostOfAComplaint = 500;

bool has_ended(const JobState& state) {
  return state.phase == JobState::Phase::done || state.phase == JobState::Phase::failed;
}

/// Lines joined by semicolons, without blank ones.
std::string joined_lines(std::string_view text) {
  std::string joined;
  for (const std::string_view line : lines_of(text))
    if (!trimmed(line).empty()) joined += (joined.empty() ? "" : "; ") + std::string(line);
  return joined;
}

/// What a command says of its failure: the end of its standard error, or of its output.
std::string complaint(const Exit& exit, const std::string& printed) {
  std::string said = joined_lines(exit.error_tail.empty() ? printed : exit.error_tail);
  if (said.size() > kMostOfAComplaint) said = "..." + said.substr(said.size() - kMostOfAComplaint);
  return said.empty() ? fmt::format("it said nothing and ended with exit code {}", exit.code) : said;
}

/// The lines that are added to a file, which need not be there yet.
class Tail {
 public:
  explicit Tail(std::filesystem::path file) : file_(std::move(file)) {}

  /// The last one may lack its end: `at_the_end` gives it too.
  void read(const std::function<void(std::string_view)>& line, bool at_the_end) {
    std::ifstream in(file_, std::ios::binary);
    if (!in.seekg(seen_)) return;
    const std::string added((std::istreambuf_iterator<char>(in)), {});
    seen_ += static_cast<std::streamoff>(added.size());
    rest_ += added;
    for (std::size_t end; (end = rest_.find('\n')) != rest_.npos; rest_.erase(0, end + 1))
      line(std::string_view(rest_).substr(0, end));
    if (at_the_end && !rest_.empty()) line(std::exchange(rest_, ""));
  }

 private:
  std::filesystem::path file_;
  std::streamoff seen_ = 0;
  std::string rest_;
};

void sleep_unless_interrupted(Seconds pause) {
  const auto end = Clock::now() + std::chrono::duration<double>(pause.value);
  while (Clock::now() < end && !interrupted()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

/// The engine's answer; nothing where it gave none, with why in `why`.
std::optional<JobState> asked(const Engine& engine, const Submission& submission, const std::string& job,
                              std::string& why) {
  try {
    const std::string printed = run_engine_command(engine.ask(submission, job));
    if (!joined_lines(printed).empty()) return engine.state(printed);
    why = "nothing is known of it";
  } catch (const Error& error) {
    why = error.what();
  }
  return std::nullopt;
}

}  // namespace

extern const Engine kSlurmEngine, kKubernetesEngine, kSparkEngine;

std::span<const Engine* const> engines() {
  static constexpr std::array kEngines{&kSlurmEngine, &kKubernetesEngine, &kSparkEngine};
  return kEngines;
}

std::vector<std::string> Submission::sweep_into(const std::filesystem::path& where) const {
  std::vector<std::string> arguments = sweep;
  arguments.insert(arguments.end(), {"--db", where / "hbench.db", "--report", where / "hbench-report", "--resume"});
  return arguments;
}

std::vector<std::string> Submission::expected_hosts() const {
  const bool said = std::ranges::any_of(sweep, [](const std::string& text) { return is_flag(text, kExpectHostsFlag); });
  if (nodes < 2 || said) return {};
  return {kExpectHostsFlag, std::to_string(nodes)};
}

std::string run_engine_command(const std::vector<std::string>& argv,
                               const std::function<void(std::string_view line)>& line) {
  std::string printed;
  const Exit exit = run_process({.argv = argv,
                                 .on_line =
                                     [&](std::string_view text) {
                                       printed.append(text) += '\n';
                                       if (line) line(text);
                                     },
                                 .output_timeout = Seconds(0)});
  if (exit.interrupted) throw Error(ExitCode::interrupted, fmt::format("interrupted: {}", fmt::join(argv, " ")));
  if (exit.code != 0) throw Error(ExitCode::environment, complaint(exit, printed));
  return printed;
}

std::string submit_job(const Engine& engine, const Submission& submission, const std::filesystem::path& file) {
  const std::vector<std::string> command = engine.submit(submission, file);
  const std::string printed = run_engine_command(command);
  std::string job = engine.job_of(submission, printed);
  if (job.empty())
    throw Error(ExitCode::environment,
                fmt::format("{} does not say which job it made: {}", command.front(), joined_lines(printed)),
                fmt::format("what was submitted is {}", file.string()));
  return job;
}

JobState follow_job(const Engine& engine, const Submission& submission, const std::string& job,
                    const FollowHooks& hooks, const Patience& patience) {
  Tail log(engine.log != nullptr ? engine.log(submission, job) : std::filesystem::path());
  JobState last;
  std::string why;
  auto answered = Clock::now();
  for (double pause = 0.5; !interrupted(); pause = std::min(1.3 * pause, patience.longest_pause.value)) {
    if (const auto state = asked(engine, submission, job, why)) {
      answered = Clock::now();
      if (state->words != last.words) hooks.state(state->words);
      last = *state;
    } else if (seconds_since(answered) > patience.no_answer.value) {
      throw Error(ExitCode::environment, fmt::format("{} does not say how job {} is: {}", engine.name, job, why),
                  fmt::format("the job may go on; its results will be in {}", submission.folder.string()));
    }
    log.read(hooks.wrote, has_ended(last));
    if (has_ended(last)) break;
    sleep_unless_interrupted(Seconds(std::min(pause, patience.longest_pause.value)));
  }
  return last;
}

std::vector<std::string> end_of_log(const std::filesystem::path& log) {
  constexpr std::size_t kLines = 8;
  std::vector<std::string> lines;
  Tail(log).read([&](std::string_view line) { lines.emplace_back(line); }, true);
  if (lines.size() > kLines) lines.erase(lines.begin(), lines.end() - kLines);
  return lines;
}

}  // namespace hbench
