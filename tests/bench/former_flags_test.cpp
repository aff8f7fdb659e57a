/// Flags that there were, and `--out`, `--format` and `--json`, which mean the same in every verb.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include "bench/command/verb.hpp"
#include "collectives/base/file.hpp"
#include "collectives/base/table.hpp"
#include "tests/bench/run_verb.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::former_flags_test {
namespace {

void run(const std::vector<std::string>& words) {
  find_entry(verbs(), words.front(), "verb").run({{words.begin() + 1, words.end()}, "hbench ..."});
}

TEST(FlagsThatThereWere, NameWhatTookTheirPlace) {
  const struct {
    std::vector<std::string> words;
    const char *what, *now;
  } rows[] = {
      {{"collective", "--csv"}, "there is no --csv any more", "--format csv"},
      {{"collective", "--output-file", "a.json"}, "there is no --output-file any more", "--out FILE.json"},
      {{"export", "--csv"}, "there is no --csv any more", "--format csv"},
      {{"list", "models", "--markdown"}, "there is no --markdown any more", "--format markdown"},
      {{"report", "--full"}, "there is no --full any more", "--all"},
      {{"validate", "--each"}, "there is no --each any more", "--all"},
      {{"validate", "--collectives"}, "there is no --collectives any more", "hbench validate collectives"},
      {{"import", "a.txt", "--format=osu"}, "there is no --format any more", "--as"},
      {{"import-job", "a.json", "--page", "a.html"}, "there is no --page any more", "--out FILE.html"},
      {{"track", "check", "--min-runs", "3"}, "there is no --min-runs any more", "min_runs in hbench.toml"},
  };
  for (const auto& [words, what, now] : rows) {
    SCOPED_TRACE(fmt::format("{}", fmt::join(words, " ")));
    expect_error([&] { run(words); }, ExitCode::usage, what, now);
  }
}

TEST(AnAnswer, HasTheFormatOfItsFile) {
  const TemporaryFolder folder;
  const auto written = [&](const std::string& name) {
    const std::string file = (folder / name).string();
    EXPECT_EQ(printed_by("list", {"launchers", "--out", file}), file + "\n");
    return read_file(file);
  };
  for (const auto& [name, format] : {std::pair{"a.md", "markdown"}, {"a.csv", "csv"}, {"a.json", "json"}})
    EXPECT_EQ(written(name), printed_by("list", {"launchers", "--format", format})) << name;
  EXPECT_EQ(printed_by("list", {"launchers", "--json"}), written("b.json"));
  EXPECT_EQ(printed_by("list", {"launchers", "--out", "-"}), printed_by("list", {"launchers"}));
  const std::string file = (folder / "c.html").string();
  for (const char* flag : {"--json", "--wide"})
    expect_error(
        [&] {
          run({"list", "launchers", "--out", file, flag});
        },
        ExitCode::usage, fmt::format("--out {}: the end of its name says in which format", file),
        "leave out --format, --json and --wide, or --out");
}

TEST(Validation, RefusesWhatIsOfOtherFigures) {
  for (const auto& [what, flag] :
       {std::pair{"rates", "--profile"}, {"collectives", "--workload"}, {"mlperf", "--from"}})
    expect_error(
        [&] {
          run({"validate", what, flag, "a"});
        },
        ExitCode::usage, fmt::format("{} is of other figures than {}", flag, what), "leave out one of the two");
}

}  // namespace
}  // namespace hbench::former_flags_test
