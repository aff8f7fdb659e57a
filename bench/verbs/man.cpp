#include <fmt/format.h>

#include <filesystem>

#include "bench/command/arguments.hpp"
#include "bench/command/man_page.hpp"
#include "bench/output/output_file.hpp"
#include "collectives/base/table.hpp"

namespace hbench {
namespace {

void write_pages(const std::filesystem::path& folder) {
  write_whole(folder / "hbench.1", man_page(verbs()), "--folder");
  for (const Verb* verb : verbs())
    write_whole(folder / fmt::format("hbench-{}.1", verb->name), man_page(*verb), "--folder");
}

ExitCode run_man(const Call& call) {
  std::string verb;
  std::filesystem::path folder;
  Arguments app("Prints the manual page of hbench or of a verb, in the language of man(7).", "hbench man");
  app.footer(
      "Examples:\n  hbench man sweep > hbench-sweep.1\n  hbench man --folder .\n"
      "man -l FILE shows a page. An installation has them in share/man.");
  Option* one = app.add_option("VERB", verb, "the verb (default: hbench itself)");
  app.add_option("--folder", folder, "write all pages into this folder, which exists")->excludes(one);
  if (app.parse(call)) return ExitCode::good;
  if (!folder.empty())
    write_pages(folder);
  else
    fmt::print("{}", verb.empty() ? man_page(verbs()) : man_page(find_entry(verbs(), verb, "verb")));
  return ExitCode::good;
}

}  // namespace

extern const Verb kMan;
constinit const Verb kMan{.name = "man", .summary = "print manual pages", .hidden = true, .run = run_man};

}  // namespace hbench
