#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "analysis/import/format.hpp"
#include "analysis/import/import.hpp"
#include "analysis/store/store.hpp"
#include "analysis/store/upkeep.hpp"
#include "bench/command/common_options.hpp"
#include "bench/command/verb.hpp"
#include "bench/database/database.hpp"
#include "bench/launch/installation.hpp"
#include "bench/output/document_output.hpp"
#include "collectives/algorithms/algorithm.hpp"
#include "reports/formats/plain_text.hpp"
#include "reports/import/imported.hpp"

namespace hbench {
namespace {

/// The files of one run.
void import_outputs(std::vector<ReadFile> files, std::vector<std::string> notes, const ImportRequest& request,
                    const std::filesystem::path& database) {
  std::ranges::move(remove_copies(files), std::back_inserter(notes));
  std::vector<std::string> known;
  // Only what can be imported makes a database.
  if (std::filesystem::exists(database))
    known = remove_known(files, request, Store(database, Store::Mode::read_only).runs());
  if (files.empty()) {
    for (const std::string& note : known) fmt::print("{}\n", clean_text(note));
    return;
  }
  ImportedRun imported = imported_run(std::move(files), request, now_utc());
  std::ranges::move(known, std::back_inserter(imported.left_out));
  std::ranges::move(notes, std::back_inserter(imported.notes));
  const AddedRun added = Store(database).add_run(imported.run, imported.cases);
  fmt::print("{}", import_text(imported, added.id, added.is_new, database.string()));
}

void import_runs(std::vector<std::vector<ReadFile>> runs, const ImportRequest& request,
                 const std::filesystem::path& database) {
  const std::size_t count = runs.size();
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<std::string> notes;
    if (i > 0)
      notes.push_back(
          fmt::format("{} has the same cases {} times, and each is a run: give launches of one run a file each",
                      runs[i].front().name, count));
    import_outputs(std::move(runs[i]), std::move(notes), request, database);
  }
}

ExitCode run_import(const Call& call) {
  std::vector<std::string> names;
  std::filesystem::path database = "hbench.db";
  std::string better;
  ImportRequest request{.command = call.command, .version = HBENCH_VERSION};
  Arguments app(
      "Stores what other programs have measured, so that hbench track judges it. Each file is what one process wrote: "
      "one launch. The files of one command are launches of one run.",
      "hbench import");
  app.footer(
      "Examples:\n  for i in $(seq 10); do ./my_benchmark --benchmark_format=json >r$i.json; done\n"
      "  hbench import r*.json --label branch=main --label commit=$(git rev-parse HEAD)\n"
      "  hbench track check\n"
      "  hbench import all_reduce_*.txt --label branch=main --db nightly.db\n"
      "  hbench import osu_allreduce.txt --ranks 16 --nodes 2 --machine lab3\n"
      "  hbench import table.txt --collective all-reduce --ranks 64 --nodes 8  # pasted without its heading\n"
      "  hbench import step.log --program train.py --machine lab3  # has lines such as {\"step_ms\": 12.3}\n"
      "  hbench import other.db\n"
      "What a run with the same labels holds is not stored again. Give runs with the oldest first: where a file does "
      "not say when it was measured, the run is of now. A collective whose data were wrong is stored as failed, and "
      "not timed.\nFormats (hbench list imports):\n" +
      format_lines(import_formats()) +
      format_line("(a database)", "runs of another hbench database, as hbench db merge"));
  app.add_option("FILE", names, "what one process wrote, or another hbench database");
  add_database(app, database, "the database that gets them; made when it is absent");
  add_labels(app, request.labels);
  add_file_format(app, request.format);
  app.add_option("--machine", request.machine,
                 "where they were measured, in your words: only runs with the same words are compared");
  app.add_option("--program", request.program, "whose benchmarks they are (default: as the file says)");
  add_import_hints(app, request.hints);
  add_better(app, better, "which values are better, where their unit does not say it");
  if (app.parse(call)) return ExitCode::good;
  if (names.empty()) throw Error(ExitCode::usage, "no file to import", "hbench import results.json");
  if (!request.format.empty()) find_import_format(request.format);
  if (!request.hints.collective.empty()) parse_collective_kind(request.hints.collective);
  if (!better.empty()) request.hints.better = better == "higher" ? BetterValue::higher : BetterValue::lower;
  std::vector<std::vector<ReadFile>> runs = read_files(read_outputs(names), request);
  for (const char* flag :
       {"--label", "--machine", "--program", "--collective", "--ranks", "--nodes", "--better", "--as"})
    if (runs.empty() && app.count(flag) > 0)
      throw Error(ExitCode::usage, fmt::format("{} is for what other programs wrote", flag),
                  "runs of another database come as they are; leave it out");
  import_runs(std::move(runs), request, database);
  for (const std::string& name : names)
    if (is_database(name)) fmt::print("{}", merge_text({.file = name, .result = merge_database(name, database)}));
  return ExitCode::good;
}

}  // namespace

extern const Verb kImport;
constinit const Verb kImport{
    .name = "import", .summary = "store what other benchmarks have measured", .place = 7, .run = run_import};

}  // namespace hbench
