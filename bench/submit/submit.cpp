#include "bench/submit/submit.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "bench/command/arguments.hpp"
#include "bench/command/command_line.hpp"
#include "bench/command/common_options.hpp"
#include "bench/command/program.hpp"
#include "bench/launch/host.hpp"
#include "bench/launch/installation.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/console.hpp"
#include "bench/output/document_output.hpp"
#include "bench/output/listing.hpp"
#include "bench/sweep/measured_place.hpp"
#include "bench/sweep/options.hpp"
#include "bench/sweep/plan.hpp"
#include "collectives/base/file.hpp"
#include "collectives/base/table.hpp"
#include "reports/formats/plain_text.hpp"

namespace hbench {
namespace {

constexpr std::string_view kExamples =
    "Examples:\n"
    "  hbench submit --engine slurm --nodes 4 --gpus-per-node 8 --time 4h --partition gpu --gpus 1..32 --wait\n"
    "  hbench submit --engine slurm --ranks-per-node 16 --gpus 1..16 --workload resnet18 --dry-run\n"
    "  hbench submit --engine slurm --results run7 --setup 'module load openmpi' -- --gpus 1,2,4 --launches 3\n"
    "All other options are those of the sweep (hbench sweep --help), as are all behind --. The same command again does "
    "what is left.";

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

/// Adds the flags that all engines have: on what a job runs and where its results go.
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

/// Adds the flags of one engine, and gives all of them their standards.
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

/// Fills in what follows from other flags. After the parsing.
void complete_submission(const Engine& engine, Submission& submission) {
  if (submission.gpus_per_node == 0 && engine.gpus_per_node != nullptr)
    submission.gpus_per_node = engine.gpus_per_node(submission.options);
  if (submission.ranks_per_node == 0) submission.ranks_per_node = std::max(1, submission.gpus_per_node);
}

/// \throws Error (usage) for a name that is none, as are those of workload managers that hbench only reads hosts from.
const Engine* engine_called(std::string_view name) {
  try {
    return &find_entry(engines(), name, "engine");
  } catch (const Error& error) {
    throw Error(
        error.code(), error.what(),
        error.hint() + "; in a job script of PBS, LSF or Grid Engine, hbench sweep takes its hosts from the job");
  }
}

/// The engine's options are a part of the command line, so it is looked for first. Null: none is named.
const Engine* engine_among(const std::vector<std::string>& arguments) {
  constexpr std::string_view kFlag = "--engine";
  for (auto word = arguments.begin(); word != arguments.end() && *word != "--"; ++word) {
    if (word->starts_with("--engine=")) return engine_called(word->substr(kFlag.size() + 1));
    if (*word == kFlag && word + 1 != arguments.end()) return engine_called(*(word + 1));
  }
  return nullptr;
}

std::string engines_help() {
  std::string text = "Engines, each with options of its own (hbench submit --engine NAME --help):\n";
  for (const Engine* engine : engines()) text += fmt::format("  {:12} {}\n", engine->name, engine->summary);
  return text;
}

/// The sweep's own arguments; what submit gives it is not among them.
std::vector<std::string> sweep_arguments(std::vector<std::string> arguments) {
  for (const std::string& argument : arguments) {
    for (const std::string_view flag : {"--db", "--report"})
      if (is_flag(argument, flag))
        throw Error(ExitCode::usage, fmt::format("{} is in the folder of --results", flag),
                    "leave it out, and choose the folder with --results");
    if (argument == "--dry-run")
      throw Error(ExitCode::usage, "a sweep with --dry-run measures nothing", "hbench sweep --dry-run needs no job");
  }
  std::erase(arguments, "--resume");  // it always does
  return arguments;
}

/// A near name of submit's for an option that the sweep does not know.
std::string meant(const Engine& engine, std::string_view message) {
  const std::size_t quote = message.find('\'');
  if (!message.starts_with("unknown option '") || message.find("did you mean") != message.npos) return "";
  const std::string_view word = message.substr(quote + 1, message.find('\'', quote + 1) - quote - 1);
  std::vector<std::string> own = {"--nodes", "--ranks-per-node", "--gpus-per-node", "--results", "--program", "--time"};
  for (const EngineOption& option : engine.options) own.push_back(fmt::format("--{}", option.name));
  const std::vector<std::string_view> known(own.begin(), own.end());
  const std::string name = nearest_name(word, known);
  return name.empty() ? "" : fmt::format("; did you mean '{}'?", name);
}

/// On a machine that has what the job asks for, so that names and ranges are looked at, and what exists here is not.
void check_plan(const SweepOptions& options, const Submission& submission) {
  LocalMachine machine = machine_at_rest();
  machine.cores = machine.ranks = submission.nodes * submission.ranks_per_node;
  machine.gpus = submission.nodes * submission.gpus_per_node;
  machine.asked_for = true;
  try {
    make_plan(options.request, load_data(), machine);
  } catch (const Error& error) {
    if (error.code() == ExitCode::usage) throw;
  }
}

/// False when the sweep's help was asked for and printed.
bool check_sweep(const Engine& engine, const Submission& submission) {
  try {
    const auto options = parse_sweep_options({submission.sweep, "hbench sweep"});
    if (options) check_plan(*options, submission);
    return options.has_value();
  } catch (const Error& error) {
    const std::string near = meant(engine, error.what());
    throw Error(error.code(), error.what() + near,
                near.empty() ? error.hint() : fmt::format("hbench submit --engine {} --help", engine.name));
  }
}

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

Table engine_table(const Data&) {
  return table_of(engines(), [path = this_host().path](Row& row, const Engine& entry) {
    row.words("engine", entry.name);
    row.words("what", entry.summary);
    row.words("state", state_text(entry.availability(path)));
  });
}

constexpr Verb kSubmit{
    .name = "submit", .summary = "run a sweep as a job of Slurm, Kubernetes ...", .place = 2, .run = run_submit};
constexpr std::array kSubmitVerbs{&kSubmit};
constexpr std::array kSubmitListings{Listing{"engines", "who gives hosts to hbench submit", engine_table, "state"}};

}  // namespace

std::optional<SubmitOptions> parse_submit_options(const Call& call) {
  SubmitOptions options{.engine = engine_among(call.arguments)};
  Submission& submission = options.submission;
  std::string name;
  Arguments app(
      "Submits a sweep as a job of an engine that gives it hosts. An interrupted job goes on where it was.",
      options.engine == nullptr ? "hbench submit" : fmt::format("hbench submit --engine {}", options.engine->name));
  app.footer(engines_help() + std::string(kExamples));
  app.add_option("--engine", name, fmt::format("who gives the hosts: {}", fmt::join(names_of(engines()), ", ")));
  add_submission_options(app, submission);
  Option* dry = add_dry_run(app, options.dry_run, "print what would be submitted");
  app.add_flag("--wait", options.wait, "follow the job to its end; the exit code is the sweep's")->excludes(dry);
  app.pass_on(submission.sweep);
  if (options.engine != nullptr) add_engine_options(app, *options.engine, submission);
  const auto dashes = std::ranges::find(call.arguments, "--");
  if (app.parse({{call.arguments.begin(), dashes}, call.command, call.description})) return std::nullopt;
  if (options.engine == nullptr)
    throw Error(ExitCode::usage, "no engine is named", fmt::format("--engine {}", fmt::join(names_of(engines()), "|")));
  if (dashes != call.arguments.end()) submission.sweep.insert(submission.sweep.end(), dashes + 1, call.arguments.end());

  complete_submission(*options.engine, submission);
  submission.sweep = sweep_arguments(std::move(submission.sweep));
  if (!check_sweep(*options.engine, submission)) return std::nullopt;
  if (const std::string why = options.engine->refuses(submission); !why.empty())
    throw Error(ExitCode::usage, why, fmt::format("hbench submit --engine {} --help", options.engine->name));
  return options;
}

extern const Feature kSubmitFeature;
constinit const Feature kSubmitFeature{.verbs = kSubmitVerbs, .listings = kSubmitListings};

}  // namespace hbench
