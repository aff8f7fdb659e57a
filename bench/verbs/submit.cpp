#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>

#include "bench/command/inform.hpp"
#include "bench/launch/host.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/console.hpp"
#include "bench/output/output_file.hpp"
#include "bench/submit/follow.hpp"
#include "bench/verbs/submit_options.hpp"
#include "collectives/base/file.hpp"
#include "reports/formats/plain_text.hpp"

namespace hbench {
namespace {

namespace fs = std::filesystem;

void print_end_of(const fs::path& log) {
  const std::vector<std::string> lines = end_of_log(log);
  if (!lines.empty()) inform("The end of {}:\n", log.string());
  for (const std::string& line : lines) inform("  {}\n", clean_text(line));
}

void print_log_line(std::string_view line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

class SubmittedSweep {
 public:
  explicit SubmittedSweep(const SubmitOptions& options)
      : engine_(*options.engine), submission_(options.submission), wait_(options.wait) {}

  ExitCode run() {
    if (const Availability there = engine_.availability(this_host().path); !there.available)
      throw there.error(fmt::format("--engine {}", engine_.name));
    if (const FolderTrial trial = try_folder(submission_.folder); !trial.why_not.empty())
      throw Error(ExitCode::environment,
                  fmt::format("cannot write into the folder {}: {}", submission_.folder.string(), trial.why_not),
                  "choose one that you may write to and all hosts share with --results FOLDER");
    refuse_a_second_writer();
    const fs::path file = submission_.folder / fmt::format("hbench.{}", engine_.name);
    write_whole(file, engine_.render(submission_), "--results");
    return engine_.ask == nullptr ? run_to_the_end(file) : submit(file);
  }

 private:
  fs::path job_file() const { return submission_.folder / fmt::format("hbench.{}.job", engine_.name); }

  /// A database has one writer. A job that an engine knows nothing of any more has ended.
  void refuse_a_second_writer() const {
    const std::string job = first_line(job_file());
    if (job.empty() || engine_.ask == nullptr) return;
    std::string printed;
    try {
      printed = run_engine_command(engine_.ask(submission_, job));
    } catch (const Error&) {
      return;
    }
    const JobState state = engine_.state(printed);
    if (state.phase == JobState::Phase::waiting || state.phase == JobState::Phase::running)
      throw Error(ExitCode::usage,
                  fmt::format("job {} writes into {}: {}", job, submission_.folder.string(), state.words),
                  fmt::format("wait for its end{}, or choose another folder with --results", or_cancel(job)));
  }

  std::string or_cancel(const std::string& job) const {
    if (engine_.cancel == nullptr) return "";
    return fmt::format(", end it ({})", fmt::join(engine_.cancel(submission_, job), " "));
  }

  /// The command that submits lasts as long as the job.
  ExitCode run_to_the_end(const fs::path& file) const {
    catch_interrupts();
    const Exit exit = run_process(
        {.argv = engine_.submit(submission_, file), .on_line = print_log_line, .output_timeout = Seconds(0)});
    if (exit.interrupted) return ExitCode::interrupted;
    inform("{}", exit.error_tail);
    return finish("", exit.code);
  }

  ExitCode submit(const fs::path& file) const {
    const std::string job = submit_job(engine_, submission_, file);
    write_whole(job_file(), job + "\n", "--results");
    fmt::print("Job {} of {}: {}\n", job, engine_.name, file.string());
    std::fflush(stdout);
    if (wait_) return follow(job);
    fmt::print("Results will be in {}\n", submission_.folder.string());
    return ExitCode::good;
  }

  ExitCode follow(const std::string& job) const {
    catch_interrupts();
    Progress progress(0, Verbosity::usual);
    const JobState state =
        follow_job(engine_, submission_, job,
                   {.state = [&](const std::string& words) { progress.note(fmt::format("job {}: {}", job, words)); },
                    .wrote = print_log_line});
    if (interrupted()) {
      inform("hbench: no longer followed; job {} goes on\n  wait for its end{}\n", job, or_cancel(job));
      return ExitCode::interrupted;
    }
    const bool done = state.phase == JobState::Phase::done;
    return finish(job, state.exit_code.value_or(static_cast<int>(done ? ExitCode::good : ExitCode::lost_rank)));
  }

  /// Results are fetched of a job that failed, too: what is finished is in the database. A job without one has not done
  /// what was asked, whatever its exit code.
  ExitCode finish(const std::string& job, int code) const {
    for (const auto& command : engine_.fetch(submission_, job)) run_engine_command(command);
    if (code != 0 && engine_.fetched_log != nullptr) print_end_of(engine_.fetched_log(submission_));
    const fs::path database = submission_.folder / "hbench.db";
    std::error_code ignored;
    if (fs::exists(database, ignored)) {
      fmt::print("Results: {}\n", database.string());
      return static_cast<ExitCode>(code);
    }
    inform(
        "hbench: the job left no database in {}\n  see to it that its hosts share this folder, and may "
        "write there\n",
        submission_.folder.string());
    return code == 0 ? ExitCode::environment : static_cast<ExitCode>(code);
  }

  const Engine& engine_;
  const Submission& submission_;
  bool wait_;
};

ExitCode run_submit(const Call& call) {
  const auto options = parse_submit_options(call);
  if (!options) return ExitCode::good;
  if (!options->dry_run) return SubmittedSweep(*options).run();
  fmt::print("{}", options->engine->render(options->submission));
  return ExitCode::good;
}

}  // namespace

extern const Verb kSubmit;
constinit const Verb kSubmit{
    .name = "submit", .summary = "run a sweep as a job of Slurm, Kubernetes ...", .run = run_submit};

}  // namespace hbench
