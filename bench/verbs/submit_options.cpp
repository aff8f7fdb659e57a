#include "bench/verbs/submit_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bench/command/arguments.hpp"
#include "bench/command/values.hpp"
#include "bench/command/words.hpp"
#include "bench/launch/installation.hpp"
#include "bench/submit/slurm_time.hpp"
#include "bench/sweep/local_machine.hpp"
#include "bench/sweep/options.hpp"
#include "bench/sweep/plan.hpp"
#include "collectives/base/table.hpp"

namespace hbench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kExamples =
    "Examples:\n"
    "  hbench submit --engine slurm --nodes 4 --gpus-per-node 8 --time 4h --partition gpu --gpus 1..32 --wait\n"
    "  hbench submit --engine slurm --ranks-per-node 16 --gpus 1..16 --workload resnet18 --dry-run\n"
    "  hbench submit --engine slurm --results run7 --setup 'module load openmpi' -- --gpus 1,2,4 --launches 3\n"
    "All other options are those of the sweep (hbench sweep --help), as are all behind --. The same command again does "
    "what is left.";

constexpr int kMostNodes = 100'000;

/// The texts of the flags, before they are understood.
struct Texts {
  std::string engine, name = "hbench", time;
  fs::path results = "hbench-results", program;
  int nodes = 1, ranks = 0, gpus = 0;
  bool dry_run = false, wait = false;
  std::vector<std::string> sweep;
};

/// The engine's options are a part of the command line, so it is looked for first. Null: none is named.
const Engine* engine_among(const std::vector<std::string>& arguments) {
  constexpr std::string_view kFlag = "--engine";
  for (auto word = arguments.begin(); word != arguments.end() && *word != "--"; ++word) {
    if (word->starts_with("--engine=")) return &find_entry(engines(), word->substr(kFlag.size() + 1), "engine");
    if (*word == kFlag && word + 1 != arguments.end()) return &find_entry(engines(), *(word + 1), "engine");
  }
  return nullptr;
}

std::string engines_help() {
  std::string text = "Engines, each with options of its own (hbench submit --engine NAME --help):\n";
  for (const Engine* engine : engines()) text += fmt::format("  {:12} {}\n", engine->name, engine->summary);
  return text;
}

void add_options(Arguments& app, Texts& texts) {
  app.add_option("--engine", texts.engine,
                 fmt::format("who gives the hosts: {}", fmt::join(names_of(engines()), ", ")));
  app.add_option("--nodes", texts.nodes, "hosts of the job", in_range(1, kMostNodes));
  app.add_option("--ranks-per-node", texts.ranks, "ranks that a host may run (default: its GPUs, or 1)",
                 in_range(1, kMostNodes));
  app.add_option("--gpus-per-node", texts.gpus, "GPUs of each host (default: none, ranks run on CPU cores)",
                 in_range(1, kMostNodes));
  app.add_option(
      "--time", texts.time,
      "time limit of the job, such as 4h, or as Slurm writes it: 240 (minutes), 4:00:00 (default: the engine's)");
  app.add_option("--results", texts.results, "folder for the database, the report and what is written meanwhile");
  app.add_option("--name", texts.name, "name of the job: small letters, digits, dashes");
  app.add_option("--program", texts.program, "hbench, as hosts find it (default: this program)");
  Option* dry = app.add_flag("--dry-run", texts.dry_run, "print what would be submitted");
  app.add_flag("--wait", texts.wait, "follow the job to its end; the exit code is the sweep's")->excludes(dry);
  app.pass_on(texts.sweep);
}

using Values = Submission::Options;
/// The values of options that may be given several times.
using Lists = std::map<std::string, std::vector<std::string>, std::less<>>;

void add_engine_options(Arguments& app, const Engine& engine, Values& values, Lists& lists) {
  for (const EngineOption& option : engine.options) {
    if (option.repeated) {
      app.add_option(fmt::format("--{}", option.name), lists[std::string(option.name)], std::string(option.summary));
      continue;
    }
    std::string& value = values[std::string(option.name)] = option.standard;
    app.add_option(fmt::format("--{}", option.name), value, std::string(option.summary));
  }
}

/// A line for each value. \throws Error (usage) for a value that is no line.
void add_lists(Values& values, const Lists& lists) {
  for (const auto& [name, lines] : lists) {
    for (const std::string& line : lines)
      if (line.empty() ||
          std::ranges::any_of(line, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }))
        throw Error(ExitCode::usage, fmt::format("--{} is given what is no single line", name),
                    "give it once for each line");
    values[name] = fmt::format("{}", fmt::join(lines, "\n"));
  }
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

void check_name(std::string_view name) {
  const bool good =
      std::ranges::all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
  if (!good || name.front() == '-' || name.back() == '-' || name.size() > 40)
    throw Error(ExitCode::usage, fmt::format("--name {}: not a name of a job", name),
                "write small letters, digits and dashes between them, at most 40: resnet-7");
}

/// As `long_time_flag`, and as Slurm writes it: minutes, `4:00:00`, `1-12`.
Seconds time_limit(const std::string& text) {
  const std::optional<Seconds> of_slurm = slurm_time(text);
  return of_slurm ? *of_slurm : long_time_flag(text, "--time");
}

Submission submission_of(const Engine& engine, Texts texts, Values values) {
  check_name(texts.name);
  if (texts.gpus == 0 && engine.gpus_per_node != nullptr) texts.gpus = engine.gpus_per_node(values);
  return {.job = texts.name,
          .sweep = sweep_arguments(texts.sweep),
          .nodes = texts.nodes,
          .ranks_per_node = texts.ranks > 0 ? texts.ranks : std::max(1, texts.gpus),
          .gpus_per_node = texts.gpus,
          .time_limit = texts.time.empty() ? Seconds(0) : time_limit(texts.time),
          .program = texts.program.empty() ? fs::read_symlink("/proc/self/exe") : fs::absolute(texts.program),
          .folder = fs::absolute(texts.results).lexically_normal(),
          .options = std::move(values),
          .directory = fs::current_path()};
}

}  // namespace

std::optional<SubmitOptions> parse_submit_options(const Call& call) {
  const Engine* engine = engine_among(call.arguments);
  Texts texts;
  Values values;
  Lists lists;
  Arguments app("Submits a sweep as a job of an engine that gives it hosts. An interrupted job goes on where it was.",
                engine == nullptr ? "hbench submit" : fmt::format("hbench submit --engine {}", engine->name));
  app.footer(engines_help() + std::string(kExamples));
  add_options(app, texts);
  if (engine != nullptr) add_engine_options(app, *engine, values, lists);
  const auto dashes = std::ranges::find(call.arguments, "--");
  if (app.parse({{call.arguments.begin(), dashes}, call.command, call.description})) return std::nullopt;
  if (engine == nullptr)
    throw Error(ExitCode::usage, "no engine is named", fmt::format("--engine {}", fmt::join(names_of(engines()), "|")));
  if (dashes != call.arguments.end()) texts.sweep.insert(texts.sweep.end(), dashes + 1, call.arguments.end());

  add_lists(values, lists);
  SubmitOptions options{engine, submission_of(*engine, texts, std::move(values)), texts.dry_run, texts.wait};
  if (!check_sweep(*engine, options.submission)) return std::nullopt;
  if (const std::string why = engine->refuses(options.submission); !why.empty())
    throw Error(ExitCode::usage, why, fmt::format("hbench submit --engine {} --help", engine->name));
  return options;
}

}  // namespace hbench
