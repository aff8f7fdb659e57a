#include <fmt/format.h>

#include <fstream>

#include "analysis/store/merge.hpp"
#include "bench/command/arguments.hpp"
#include "bench/command/verb.hpp"
#include "bench/database/text.hpp"
#include "bench/import/format.hpp"
#include "bench/import/import.hpp"
#include "bench/output/output_file.hpp"
#include "bench/producer.hpp"
#include "collectives/base/file.hpp"
#include "reports/formats/plain_text.hpp"

namespace hbench {
namespace {

constexpr int kMostRanks = 1'000'000;

/// How a file of SQLite begins (sqlite.org/fileformat2.html, 1.3).
bool is_database(const std::filesystem::path& file) {
  constexpr std::string_view kMagic{"SQLite format 3\0", 16};
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return false;
  std::string begin(kMagic.size(), ' ');
  std::ifstream(file, std::ios::binary).read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin == kMagic;
}

/// Those that are no databases, each once.
std::vector<ImportFile> read_outputs(const std::vector<std::string>& names) {
  std::vector<ImportFile> files;
  for (const std::string& name : names) {
    if (is_database(name)) continue;
    std::error_code ignored;
    for (const ImportFile& file : files)
      if (std::filesystem::equivalent(file.name, name, ignored))
        throw Error(ExitCode::usage, fmt::format("{} is given twice", name), "each file is one launch: give each once");
    files.push_back({.name = name, .text = read_file(name)});
  }
  return files;
}

std::string formats_text() {
  std::string text = "Formats (hbench list imports):\n";
  for (const ImportFormat* format : import_formats())
    text += fmt::format("  {:17} {}\n", format->name, format->summary);
  return text + fmt::format("  {:17} {}\n", "(a database)", "runs of another hbench database, as hbench db merge");
}

void import_outputs(std::vector<ReadFile> files, const ImportRequest& request, const std::filesystem::path& database) {
  std::vector<std::string> known;
  // Only what can be imported makes a database.
  if (std::filesystem::exists(database)) known = remove_known(files, request, Store(database, Store::Mode::read_only));
  if (files.empty()) {
    for (const std::string& note : known) fmt::print("{}\n", clean_text(note));
    return;
  }
  ImportedRun imported = imported_run(std::move(files), request, now_utc());
  imported.left_out.insert(imported.left_out.end(), known.begin(), known.end());
  const AddedRun added = Store(database).add_run(imported.run, imported.cases);
  fmt::print("{}", import_text(imported, added, database.string()));
}

ExitCode run_import(const Call& call) {
  std::vector<std::string> names, labels;
  std::filesystem::path database = "hbench.db";
  ImportRequest request{.command = call.command};
  Arguments app(
      "Stores what other programs have measured, so that hbench track judges it. Each file is what one process wrote: "
      "one launch. The files of one command are launches of one run.",
      "hbench import");
  app.footer(
      "Examples:\n  for i in $(seq 10); do ./my_benchmark --benchmark_format=json > run$i.json; done\n"
      "  hbench import run*.json --label branch=main --label commit=$(git rev-parse HEAD)\n"
      "  hbench track check\n"
      "  hbench import all_reduce_*.txt --label branch=main --db nightly.db\n"
      "  hbench import osu_allreduce.txt --ranks 16 --nodes 2 --machine lab3\n"
      "  hbench import step.log --program train.py --machine lab3   (its last line: {\"step_ms\": 12.3})\n"
      "  hbench import other.db\n"
      "What a run with the same labels holds is not stored again. Give runs with the oldest first: where a file does "
      "not say when it was measured, the run is of now. A collective whose data were wrong is stored as failed, and "
      "not timed.\n" +
      formats_text());
  app.add_option("FILE", names, "what one process wrote, or another hbench database");
  app.add_option("--db", database, "the database that gets them; made when it is absent")->capture_default_str();
  app.add_option("--label", labels, kLabelHelp);
  app.add_option("--format", request.format, "of all files (default: what each looks like)");
  app.add_option("--machine", request.machine,
                 "where they were measured, in your words: only runs with the same words are compared");
  app.add_option("--program", request.program, "whose benchmarks they are (default: as the file says)");
  app.add_option("--ranks", request.ranks, "of collectives (default: as the file says)")
      ->check(in_range(1, kMostRanks));
  app.add_option("--nodes", request.nodes, "of collectives (default: as the file says)")
      ->check(in_range(1, kMostRanks));
  if (app.parse(call)) return ExitCode::good;
  if (names.empty()) throw Error(ExitCode::usage, "no file to import", "hbench import results.json");
  request.labels = parse_labels(labels);
  if (!request.format.empty()) find_import_format(request.format);
  std::vector<ReadFile> files = read_files(read_outputs(names), request);
  for (const char* flag : {"--label", "--machine", "--program", "--ranks", "--nodes", "--format"})
    if (files.empty() && app.count(flag) > 0)
      throw Error(ExitCode::usage, fmt::format("{} is for what other programs wrote", flag),
                  "runs of another database come as they are; leave it out");
  if (!files.empty()) import_outputs(std::move(files), request, database);
  for (const std::string& name : names)
    if (is_database(name)) fmt::print("{}", merge_text({.file = name, .result = merge_database(name, database)}));
  return ExitCode::good;
}

}  // namespace

extern const Verb kImport;
constinit const Verb kImport{
    .name = "import", .summary = "store what other benchmarks have measured", .run = run_import};

}  // namespace hbench
