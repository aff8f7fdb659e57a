/// What the verbs print as JSON keeps to the published schemas.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/bench/program.hpp"
#include "tests/support/json_schema.hpp"

namespace hbench::schemas_program_test {
namespace {

/// Runs a script in which `$HBENCH` is the program, and holds what it prints to a schema.
void expect_valid(const Workplace& workplace, std::string_view schema, const std::string& script) {
  const Outcome outcome = workplace.shell(script);
  if (!std::filesystem::exists(workplace / "export-1.json")) {
    ASSERT_EQ(workplace.run({"schemas", "--folder", workplace.folder().path().string()}).code, 0);
  }
  ASSERT_FALSE(outcome.out.empty()) << script << "\n" << outcome.err;
  const std::string by_hand = fmt::format(HBENCH_SOURCE_DIR "/reports/track/{}.json", schema);
  const bool written = std::filesystem::exists(by_hand);
  EXPECT_EQ(broken_by(outcome.out, bytes_of(written ? by_hand : (workplace / fmt::format("{}.json", schema)).string())),
            "")
      << script;
}

TEST(PublishedSchemas, HoldWhatPredictionsPrint) {
  const Workplace here;
  const std::string job = "--workload resnet50 --gpus 16 --quiet --json";
  expect_valid(here, "bandwidth-1", "$HBENCH bandwidth --compressor none,fp16,onebit " + job);
  expect_valid(here, "choose-1", "$HBENCH choose --profile aws-p3-25gbe,dgx-a100 " + job);
  expect_valid(here, "choose-1", "$HBENCH choose --epochs 90 --budget 30000usd " + job);
  expect_valid(here, "choose-several-1",
               "$HBENCH choose --profile aws-p3-25gbe --workload resnet50,vgg16 --gpus 16 --quiet --json");
  expect_valid(here, "crossover-1", "$HBENCH bandwidth --strategies --bandwidth 10,100 " + job);
  expect_valid(here, "crossover-1", "$HBENCH bandwidth --collective all_reduce --bytes 1K,1M --gpus 8 --json");
  expect_valid(here, "compare-1", "$HBENCH compare horovod-tensorflow --quiet --json");
  expect_valid(here, "expect-training-1", "$HBENCH expect --measured 9 --profile aws-p5 " + job);
  expect_valid(here, "expect-1", "$HBENCH expect --profile aws-p5 --ranks 16 -b 1M -e 4M --json");
  expect_valid(here, "expect-1",
               fmt::format("$HBENCH expect {}/bench/examples/all_reduce_perf.txt --profile aws-p3-25gbe --json",
                           HBENCH_SOURCE_DIR));
  expect_valid(here, "validate-1", "$HBENCH validate --profile hkbu-10gbe --json");
  expect_valid(here, "validate-collectives-1", "$HBENCH validate collectives --json");
  expect_valid(here, "validate-rates-1", "$HBENCH validate rates --json");
}

TEST(PublishedSchemas, HoldWhatIsMeasuredAndStored) {
  const Workplace here;
  const std::string sizes = "-b 1K -e 4K -n 2 -w 1 --quiet --json";
  expect_valid(here, "collective-1", "$HBENCH collective --executor threads --ranks 2 " + sizes);
  expect_valid(here, "collective-1", "$HBENCH collective --executor threads --ranks 2 --compressor fp16 " + sizes);
  expect_valid(here, "collective-1", "$HBENCH collective --profile aws-p3-25gbe --ranks 16 -b 1K -e 4K --quiet --json");
  expect_valid(here, "export-1",
               "$HBENCH sweep --evidence simulated,published --gpus 8 --workload resnet50 --quiet --json --db a.db");
  expect_valid(here, "export-1", "$HBENCH export --json --db a.db");
  expect_valid(here, "db-merge-1", "$HBENCH db merge a.db --db b.db --json");
  expect_valid(here, "db-check-1", "$HBENCH db check --db b.db --json");
  expect_valid(here, "db-prune-1",
               "$HBENCH sweep --evidence published --quiet --db b.db >/dev/null; "
               "$HBENCH db prune --db b.db --keep 1 --dry-run --json");
}

TEST(PublishedSchemas, HoldWhatIsListedAndChecked) {
  const Workplace here;
  const std::string examples = HBENCH_SOURCE_DIR "/bench/examples";
  for (const char* list : {"algorithms", "presets", "formats", "launchers"})
    expect_valid(here, "list-1", fmt::format("$HBENCH list {} --json", list));
  expect_valid(here, "list-profiles-1", "$HBENCH list profiles --json");
  expect_valid(here, "profile-check-1", "$HBENCH profile check aws-p3-25gbe --json");
  expect_valid(here, "profile-diff-1", "$HBENCH profile diff aws-p3-25gbe dgx-a100 --all --json");
  expect_valid(here, "doctor-1", "$HBENCH doctor --json");
  // The fewest rows that a cluster is fitted to.
  expect_valid(here, "calibrate-rows-1",
               "head -4 " + examples +
                   "/rows.csv > rows.csv; "
                   "$HBENCH calibrate --profile hkbu-10gbe --out a.toml --quiet --json --from rows.csv");
  expect_valid(
      here, "calibrate-curve-1",
      "$HBENCH calibrate --profile dgx-h100 --out b.toml --quiet --json --from " + examples + "/all_reduce_perf.txt");
}

TEST(PublishedSchemas, HoldWhatIsTracked) {
  const Workplace here;
  // Seven runs of five launches, of which the last two are slower.
  const Outcome imported = here.shell(
      "for run in 0 1 2 3 4 5 6; do for launch in 0 1 2 3 4; do ms=$((1200 + run / 5 * 200 + (7 * run + 3 * launch) % "
      "5)); "
      "echo \"{\\\"step_ms\\\": $ms}\" > run-$run-$launch.log; done; "
      "$HBENCH import run-$run-*.log --db t.db --machine lab --program steps --label branch=main --label commit=c$run "
      "|| exit 1; done");
  ASSERT_EQ(imported.code, 0) << imported.err;
  expect_valid(here, "track-check-1", "$HBENCH track check --db t.db --no-confirm --json");
  expect_valid(here, "track-history-1", "$HBENCH track history --db t.db --json");
  write_bytes(here / "hbench.toml",
              "[track]\nlaunches = 2\n[[command]]\nname = \"a\"\nrun = \"echo '{\\\"ms\\\": 3}'\"\n");
  expect_valid(here, "track-run-1", "$HBENCH track run --launches 1 --quiet --json");
}

}  // namespace
}  // namespace hbench::schemas_program_test
