#include <fmt/format.h>

#include <algorithm>

#include "analysis/records/words.hpp"
#include "analysis/track/check.hpp"
#include "bench/command/arguments.hpp"
#include "bench/output/output_file.hpp"
#include "bench/track/project.hpp"
#include "bench/verbs/track.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

Store open_existing(const std::filesystem::path& file, std::filesystem::path database) {
  if (database.empty()) database = database_of(find_project(file), database);
  if (!std::filesystem::exists(database))
    throw Error(ExitCode::usage, fmt::format("there is no database '{}'", database.string()), "name it with --db");
  return Store(database);
}

ExitCode run_accept(const Call& call) {
  std::filesystem::path file, database;
  int run = 0;
  std::string reason;
  Arguments app(
      "Accepts that a run is slower or faster than those before it: later runs are held to it and to those after it, "
      "and runs before it only tell how far runs differ.",
      "hbench track accept");
  app.footer(
      "Examples:\n  hbench track accept --reason \"checks every gradient now\"\n"
      "  hbench track accept 7 --reason \"new driver\" --db nightly.db");
  app.add_option("RUN", run, "the run (default: the newest)", in_range(1, 1'000'000'000));
  app.add_option("--reason", reason, "why it is wanted");
  add_project_options(app, file, database);
  if (app.parse(call)) return ExitCode::good;
  Store store = open_existing(file, database);
  fmt::print("Accepted run {}: {}\n", accept(store, run, reason, now_utc()), reason);
  return ExitCode::good;
}

void list_frozen(const Store& store) {
  const std::vector<FrozenBaseline> all = store.frozen();
  if (all.empty()) fmt::print("Nothing is frozen. hbench track freeze NAME freezes the newest runs of a branch.\n");
  for (const FrozenBaseline& each : all)
    fmt::print("{}: {}, {} to {}, frozen {}\n", each.name, counted(std::ssize(each.runs), "run"), each.runs.front(),
               each.runs.back(), each.frozen_at);
}

ExitCode run_freeze(const Call& call) {
  std::filesystem::path file, database;
  std::string name, baseline = "main";
  std::vector<std::string> runs;
  bool remove = false;
  Arguments app("Gives runs a name, by which later ones can be held to them for as long as the name stands.",
                "hbench track freeze");
  app.footer(
      "Examples:\n  hbench track freeze v2.1\n  hbench track freeze cluster-acceptance --run 12 --run 13\n"
      "  hbench track check --baseline v2.1\n  hbench track freeze v2.1 --remove\n"
      "Without a name it lists those that there are.");
  app.add_option("NAME", name, "the name; the runs that had it lose it");
  app.add_option("--run", runs, "a run (repeatable; default: those that a run would be held to now)");
  app.add_option("--baseline", baseline, "without --run: the newest runs of this branch, or with this label");
  app.add_flag("--remove", remove, "forget the name; the runs stay");
  add_project_options(app, file, database);
  if (app.parse(call)) return ExitCode::good;
  Store store = open_existing(file, database);
  if (name.empty()) return list_frozen(store), ExitCode::good;
  if (remove) {
    if (!store.unfreeze(name))
      throw Error(ExitCode::usage, fmt::format("no runs are frozen as '{}'", name), "hbench track freeze lists them");
    fmt::print("Forgot {}.\n", name);
    return ExitCode::good;
  }
  FrozenBaseline frozen{.name = name, .frozen_at = now_utc()};
  const std::vector<Run> known = store.runs();
  for (const std::string& each : runs) {
    const auto found = std::ranges::find_if(known, [&](const Run& run) { return fmt::to_string(run.id) == each; });
    if (found == known.end())
      throw Error(ExitCode::usage, fmt::format("--run {}: there is no such run", each),
                  known.empty() ? "the database has none" : fmt::format("the newest is {}", known.back().id));
    frozen.runs.push_back(found->id);
  }
  const TrackRequest request{.baseline = parse_baseline(baseline)};
  if (runs.empty())
    for (const Run& run : next_baseline(store, request).runs) frozen.runs.push_back(run.id);
  if (frozen.runs.empty())
    throw Error(ExitCode::usage, fmt::format("no run has {}", labels_text(request.baseline)),
                "name another --baseline, or runs with --run");
  store.freeze(frozen);
  fmt::print("Froze {} as {}.\n", counted(std::ssize(frozen.runs), "run"), name);
  return ExitCode::good;
}

}  // namespace

constinit const Action kTrackAccept{"accept", "says that a change is wanted", run_accept};
constinit const Action kTrackFreeze{"freeze", "gives a baseline a name that stays", run_freeze};

}  // namespace hbench
