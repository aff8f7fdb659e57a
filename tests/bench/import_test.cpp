// `hbench import`: what it stores, and what it says.

#include <fmt/format.h>

#include "analysis/import/import.hpp"
#include "analysis/points/points.hpp"
#include "analysis/points/tracked_metric.hpp"
#include "analysis/store/upkeep.hpp"
#include "analysis/track/check.hpp"
#include "analysis/track/history.hpp"
#include "collectives/base/file.hpp"
#include "collectives/base/table.hpp"
#include "tests/analysis/import_examples.hpp"
#include "tests/bench/run_verb.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::import_test {
namespace {

class Import : public testing::Test {
 protected:
  std::string path(std::string_view name) const { return (folder_ / name).string(); }

  /// The name of a new file.
  std::string file(std::string_view name, const std::string& text) const {
    write_bytes(path(name), text);
    return path(name);
  }

  /// What the verb printed.
  std::string run(std::vector<std::string> words) const {
    for (const char* word : {"--db", "x.db"}) words.push_back(word == std::string("x.db") ? path(word) : word);
    return printed_by("import", std::move(words));
  }

  void refused(const std::vector<std::string>& words, const std::string& what, const std::string& cure) const {
    expect_error([&] { run(words); }, ExitCode::usage, HasSubstr(what), HasSubstr(cure));
  }

  Store store() const { return Store(folder_ / "x.db", Store::Mode::read_only); }

  TemporaryFolder folder_;
};

TEST_F(Import, MakesARunOfTheFilesOfOneCommandWithALaunchForEach) {
  const std::string out =
      run({file("1.json", google_benchmark_example("1500")),
           file("2.json", google_benchmark_example("1600", "2026-11-20T09:29:00+01:00")), "--label", "branch=main"});
  EXPECT_EQ(out, fmt::format("{}: run 1 of 2026-11-20T08:29:00Z: 2 cases (1 failed), from 2 files of google-benchmark\n"
                             "failed: BM_Broken: no such file\n",
                             path("x.db")));
  ASSERT_THAT(store().runs(), SizeIs(1));
  EXPECT_EQ(store().runs()[0].version, HBENCH_VERSION);
  EXPECT_EQ(store().runs()[0].labels,
            (std::map<std::string, std::string>{{"branch", "main"}, {"gate", "sort_benchmark"}}));
  const std::vector<CaseResult> results = store().of_run(1);
  ASSERT_THAT(results, SizeIs(2));
  EXPECT_EQ(tracked_name(results[0].asked), "sort_benchmark BM_Sort/64");
  EXPECT_EQ(results[0].machine_in_words, "8 cores of an unknown processor, caches 32KiB, 1MiB");
  EXPECT_THAT(launch_values(results[0]), ElementsAre(DoubleEq(1.6e-3), DoubleEq(1.65e-3)));
  EXPECT_THAT(make_points(store().results()), IsEmpty()) << "a benchmark is no point of a curve";
  EXPECT_THAT(store().baselines(), IsEmpty());
  for (const DatabaseFinding& finding : check_database(folder_ / "x.db"))
    EXPECT_EQ(finding.severity, Severity::pass) << finding.what;
}

TEST_F(Import, AddsNothingWhenItIsRepeated) {
  const std::string a = file("a.json", google_benchmark_example("1500")),
                    b = file("b.json", google_benchmark_example("1600")),
                    c = file("c.json", google_benchmark_example("1700"));
  run({a, b});
  EXPECT_EQ(run({b, a}), fmt::format("{}: run 1 has it already\n{}: run 1 has it already\n", b, a));
  EXPECT_EQ(run({file("copy.json", google_benchmark_example("1500"))}), path("copy.json") + ": run 1 has it already\n");
  EXPECT_THAT(run({a, c}), AllOf(HasSubstr("run 2 of"), HasSubstr("from 1 file"),
                                 HasSubstr("left out: " + a + ": run 1 has it already")));
  EXPECT_THAT(run({a, b, "--label", "branch=main"}), HasSubstr("run 3 of")) << "a label that was forgotten";
  EXPECT_EQ(store().runs().size(), 3u);
}

// Two launches of a program that rounds its figures print the same now and then.
TEST_F(Import, CountsFewFiguresThatAreEqualByChanceAsLaunches) {
  const std::vector<std::string> how{"--machine", "lab", "--program", "train.py"};
  const auto import_of = [&](std::vector<std::string> words) {
    words.insert(words.end(), how.begin(), how.end());
    return run(words);
  };
  const std::string a = file("a.log", "{\"step_ms\": 12.5}\n"), b = file("b.log", "{\"step_ms\": 12.5}\n"),
                    c = file("c.log", "{\"step_ms\": 12.6}\n");
  EXPECT_THAT(import_of({a, b}), HasSubstr("run 1 of"));
  EXPECT_THAT(launch_values(store().of_run(1)[0]), SizeIs(2));
  EXPECT_THAT(import_of({a, c}), HasSubstr("run 2 of"));
  EXPECT_THAT(launch_values(store().of_run(2)[0]), SizeIs(2));
  EXPECT_THAT(import_of({b, a}), AllOf(HasSubstr("2 files are there already, as run 1\n"),
                                       HasSubstr("so few figures may be equal by chance")));
  EXPECT_EQ(store().runs().size(), 2u);
}

TEST_F(Import, GivesTheSameFilesTheSameUuidInEveryDatabase) {
  const std::vector<ImportFile> files{{"a", google_benchmark_example("1")}, {"b", google_benchmark_example("2")}};
  const auto imported_run = [](const std::vector<ImportFile>& of, const ImportRequest& request,
                               const std::string& now) {
    return hbench::imported_run(read_files(of, request).at(0), request, now);
  };
  const std::string uuid = imported_run(files, {}, "2026-11-23T00:00:00Z").run.uuid;
  EXPECT_EQ(imported_run({files[1], files[0]}, {.command = "another"}, "2026-11-24T00:00:00Z").run.uuid, uuid);
  EXPECT_NE(imported_run(files, {.labels = {{"commit", "a"}}}, "2026-11-23T00:00:00Z").run.uuid, uuid);
  EXPECT_NE(imported_run({files[0]}, {}, "2026-11-23T00:00:00Z").run.uuid, uuid);
}

TEST_F(Import, AsksForWhatTheFilesDoNotSay) {
  const std::string osu = file("osu.txt", osu_example(true)), log = file("step.log", "{\"step_ms\": 12.5}\n");
  refused({log, "--program", "a"}, "step.log: it does not say on which machine", "--machine NAME");
  refused({osu, "--machine", "lab"}, "osu.txt: it does not say how many ranks", "--ranks 16 --nodes 2");
  refused({osu, "--machine", "lab", "--ranks", "2", "--nodes", "3"}, "2 ranks are not on 3 nodes", "--nodes");
  refused({log, "--machine", "lab"}, "step.log: it does not say which program", "--program NAME");
  EXPECT_FALSE(std::filesystem::exists(path("x.db"))) << "a mistake leaves nothing behind";
  run({osu, "--machine", "lab", "--ranks", "4", "--nodes", "2"});
  run({log, "--machine", "lab", "--program", "train.py"});
  EXPECT_EQ(tracked_name(store().of_run(1)[0].asked), "all-reduce of 1KiB, 4 ranks, vendor by osu");
  EXPECT_EQ(store().of_run(1)[0].machine_in_words, "lab");
  EXPECT_THAT(run({osu, "--ranks", "4"}), HasSubstr("note: nothing says on which machine this was measured"));
  EXPECT_EQ(tracked_name(store().of_run(2)[0].asked), "train.py step_ms");
}

TEST_F(Import, GivesAnAllGatherOfOsuTheBytesOfItsWholeBuffer) {
  run({file("osu.txt", osu_example(false, "Allgather")), "--machine", "lab", "--ranks", "4"});
  EXPECT_EQ(store().of_run(1)[0].asked.collective.bytes, 4 * 1024);
}

TEST_F(Import, KeepsTheLaunchesThatHbenchCollectiveHadInOneFile) {
  std::string two = hbench_collective_example();
  two.replace(two.find("\"launch\": 0, \"warmup\": false"), 11, "\"launch\": 1");
  run({file("a.json", two), file("b.json", hbench_collective_example())});
  // In the first the ranks' first iterations are of two launches: 20 and 30 us, 40 and 10 us.
  EXPECT_THAT(launch_values(store().of_run(1)[0]), ElementsAre(DoubleEq(25e-6), DoubleEq(25e-6), DoubleEq(35e-6)));
}

TEST_F(Import, ShowsTenOfManyFiguresThatItLeavesOut) {
  std::string line = "{\"step_ms\": 1", left_out;
  for (int i = 10; i < 22; ++i) line += fmt::format(", \"a{}\": 1", i);
  const std::string name = file("a.log", line + "}\n");
  for (int i = 10; i < 20; ++i)
    left_out += fmt::format("left out: {}: a{}: its name ends with no unit of a time or a rate\n", name, i);
  EXPECT_THAT(run({name, "--machine", "lab", "--program", "a"}), HasSubstr(left_out + "left out: and 2 more\n"));
}

// The same figures five times would be five launches without any noise.
TEST_F(Import, CountsCopiesOfAFileAsOneLaunch) {
  const std::string text = read_file(HBENCH_SOURCE_DIR "/tests/bench/import_cases/nccl_good.txt");
  std::vector<std::string> copies;
  for (int i = 0; i < 5; ++i) copies.push_back(file(fmt::format("{}.txt", i), text));
  EXPECT_THAT(run(copies), AllOf(HasSubstr("8 cases, from 1 file of nccl-tests"),
                                 HasSubstr("4.txt is equal to " + copies[0] + ": copies are one launch")));
  EXPECT_THAT(launch_values(store().of_run(1)[0]), SizeIs(1));
  EXPECT_THAT(run({file("again.txt", text)}), HasSubstr("run 1 has it already"));
}

// Before and after a cable was changed.
TEST_F(Import, MakesTwoRunsOfAFileThatHasATestTwice) {
  const std::string both =
      file("both.txt", read_file(HBENCH_SOURCE_DIR "/tests/bench/import_cases/two-sessions-gb10.txt"));
  EXPECT_THAT(run({both}), AllOf(HasSubstr("run 1 of"), HasSubstr("run 2 of"),
                                 HasSubstr("both.txt has the same cases 2 times, and each is a run")));
  EXPECT_THAT(launch_values(store().of_run(1)[0]), ElementsAre(DoubleEq(25806.7e-6)));
  EXPECT_THAT(launch_values(store().of_run(2)[0]), ElementsAre(DoubleEq(190310e-6)));
  EXPECT_THAT(run({both}), Not(HasSubstr("run 3")));
  EXPECT_EQ(store().runs().size(), 2u);
}

TEST_F(Import, RefusesFilesOfTwoMachinesInOneRun) {
  std::string other = google_benchmark_example();
  other.replace(other.find("\"num_cpus\": 8"), 13, "\"num_cpus\": 4");
  refused({file("a.json", google_benchmark_example()), file("b.json", other)},
          "b.json: it was measured elsewhere than " + path("a.json") + ": cores is 4, not 8", "a command each");
}

TEST_F(Import, SaysWhatIsNoFileToImport) {
  refused({}, "no file to import", "hbench import");
  refused({path("none.json")}, "none.json", "");
  refused({file("b.json", google_benchmark_example()), path("none.json")}, "none.json", "");
  refused({folder_.path().string()}, "it is a folder", "");
  refused({file("empty.json", "")}, "empty.json: it is empty", "fail");
  refused({file("x.txt", "hello")}, "x.txt: nothing known has this format", "hbench track init --pattern");
  refused({path("x.txt"), "--as", "nccl"}, "no import format 'nccl'", "nccl-tests");
  refused({file("big.json", std::string((16u << 20) + 1, ' '))}, "more than 16 MiB", "");
  refused({file("a.json", google_benchmark_example()), path("a.json")}, "a.json is given twice", "one launch");
  refused({path("a.json"), "--label", "main"}, "--label 'main' is not a label", "KEY=VALUE");
}

/// A file of `tests/bench/data/reliability`, in which `from` becomes `to`.
std::string reliability(const std::string& name, const std::string& from = "", const std::string& to = "") {
  std::string text = read_file(std::filesystem::path(HBENCH_SOURCE_DIR) / "tests/bench/data/reliability" / name);
  return from.empty() ? text : text.replace(text.find(from), from.size(), to);
}

TEST_F(Import, RefusesWhatNoRunCanHaveMeasured) {
  const auto refused_file = [&](const std::string& text, const std::string& what) {
    refused({file("a.json", text)}, "a.json: " + what, "");
  };
  refused_file(reliability("hbcoll_zero_time.json"), "results[0].samples[1].values[0] (0) is not above 0");
  for (const char* name : {"hbcoll_no_samples.json", "hbcoll_empty_values.json", "hbcoll_only_warmups.json",
                           "hbcoll_only_wire_bytes.json"})
    refused_file(reliability(name),
                 "measured all-reduce ring on 2 GPUs: it is done, and has no timed sample of what it is known by");
  refused_file(reliability("hbcoll_year_2999.json"), "the run began at '2999-01-01T00:00:00Z', which is in the future");
  const std::string good = "hbcoll_good.json";
  refused_file(reliability(good, "4e-05", "4e27"), "results[0].samples[2].values[0] (4e+27) is too large");
  refused_file(reliability(good, "4e-05", "1e-13"), "results[0].samples[2].values[0] (1e-13) is too small");
  refused_file(reliability(good, "[1024]", "[-1024]"), "results[0].samples[3].values[0] (-1024) is below 0");
  refused_file(
      reliability(good, "\"rank\": 1", "\"rank\": 99"),
      "measured all-reduce ring on 2 GPUs: in_place_seconds of launch 0, rank 99, iteration 0: the case has 2 ranks");
  EXPECT_FALSE(std::filesystem::exists(path("x.db")));
  EXPECT_THAT(run({file("a.json", reliability(good))}), HasSubstr("2 cases"));
}

TEST_F(Import, MergesNoDatabaseWithWhatNoRunCanHaveMeasured) {
  run({file("a.json", reliability("hbcoll_good.json"))});
  std::filesystem::rename(path("x.db"), path("other.db"));
  for (const auto& [sql, what] : std::map<std::string, std::string>{
           {"UPDATE sample SET value = 0 WHERE metric LIKE '%seconds'", "is not above 0"},
           {"UPDATE sample SET warmup = 1", "no timed sample"},
           {"UPDATE sample SET rank = 99", "the case has 2 ranks"},
           {"UPDATE run SET started_at = '2999-01-01T00:00:00Z'", "in the future"},
           {"UPDATE scaling_case SET gpus = 0", "0 GPUs"},
           {"UPDATE scaling_case SET bytes = -1", "bytes is -1"}}) {
    std::filesystem::copy_file(path("other.db"), path("bad.db"), std::filesystem::copy_options::overwrite_existing);
    run_sql(path("bad.db"), sql);
    expect_error([&] { run({path("bad.db")}); }, ExitCode::wrong_data, AllOf(HasSubstr("bad.db"), HasSubstr(what)),
                 HasSubstr("db check"));
    const std::vector<DatabaseFinding> findings = check_database(path("bad.db"));
    EXPECT_EQ(findings.back().severity, Severity::error) << sql;
    EXPECT_THAT(findings.back().what, HasSubstr(what));
  }
  EXPECT_TRUE(store().runs().empty());
}

// An older hbench imported such a case.
TEST_F(Import, JudgesNoCaseWithoutATimedSample) {
  for (int hour = 1; hour <= 7; ++hour)
    run({file("a.json", reliability("hbcoll_good.json", "T08:30", fmt::format("T0{}:30", hour))), "--label",
         fmt::format("commit={}", hour), "--label", "branch=main"});
  run_sql(path("x.db"), "UPDATE sample SET warmup = 1 WHERE case_id IN (5, 13)");
  const TrackReport report = check(store(), {.baseline = {{"branch", "main"}}, .rule = {}});
  EXPECT_THAT(report.results, SizeIs(2));
}

TEST_F(Import, StoresACaseThatWasWrongInOneLaunchAsFailed) {
  const std::string out =
      run({file("a.txt", nccl_tests_example()), file("b.txt", nccl_tests_example("12")), "--label", "branch=main"});
  EXPECT_THAT(out, AllOf(HasSubstr("2 cases (1 failed)"), HasSubstr("b.txt:12: 12 elements were wrong")));
  const std::vector<CaseResult> results = store().of_run(1);
  EXPECT_THAT(launch_values(results[0]), SizeIs(2));
  EXPECT_EQ(results[1].exit_code, 4);
  EXPECT_THAT(results[1].samples, IsEmpty());
  EXPECT_EQ(check(store(), {.baseline = {{"branch", "main"}}, .rule = {}}).exit_code(), ExitCode::wrong_data);
}

TEST_F(Import, TakesTheRunsOfADatabaseAsAMergeDoes) {
  run({file("a.json", google_benchmark_example())});
  std::filesystem::rename(path("x.db"), path("other.db"));
  EXPECT_THAT(run({path("other.db")}), HasSubstr("other.db: 1 run came"));
  EXPECT_THAT(run({path("other.db")}), HasSubstr("nothing new"));
  refused({path("other.db"), "--label", "branch=main"}, "--label is for what other programs wrote", "leave it out");
  EXPECT_THAT(run({path("a.json")}), HasSubstr("run 1 has it already")) << "by whichever way it came";
}

// Nights on which all is as fast as ever but for noise of half a percent, and one on which a rate has fallen.
TEST_F(Import, IsTrackedWithTheDirectionOfItsMetric) {
  const auto night = [&](int day, double rate) {
    std::vector<std::string> words{"--machine", "lab",         "--program", "train.py",
                                   "--label",   "branch=main", "--label",   fmt::format("commit=night-{}", day)};
    for (int launch = 0; launch < 10; ++launch)
      words.push_back(
          file(fmt::format("{}-{}.log", day, launch), fmt::format("{{\"tokens_per_s\": {:.6f}, \"step_ms\": {:.6f}}}\n",
                                                                  rate * (1 + 0.001 * ((launch * 7 + day * 3) % 5)),
                                                                  12.0 * (1 + 0.001 * ((launch * 3 + day * 7) % 5)))));
    return run(words);
  };
  for (int day = 0; day < 6; ++day) night(day, 4e5);
  const TrackRequest request{.baseline = {{"branch", "main"}}, .rule = {}};
  EXPECT_EQ(check(store(), request).exit_code(), ExitCode::good);
  night(6, 3.6e5);
  const TrackReport report = check(store(), request);
  EXPECT_EQ(report.exit_code(), ExitCode::regressed);
  ASSERT_THAT(report.results, SizeIs(2));
  EXPECT_EQ(report.results[0].judgement.verdict, TrackVerdict::pass) << report.results[0].sides.name;
  EXPECT_EQ(report.results[1].judgement.verdict, TrackVerdict::regressed) << "a smaller rate is worse";
  EXPECT_EQ(report.results[1].sides.unit, "tokens/s");
  night(7, 4.4e5);
  EXPECT_EQ(check(store(), request).results[1].judgement.verdict, TrackVerdict::improved);
  const std::vector<CaseHistory> series =
      history(store(), {.labels = {{"branch", "main"}}, .match = "tokens", .rule = {}});
  ASSERT_THAT(series, SizeIs(1));
  EXPECT_EQ(series[0].unit, "tokens/s");
  EXPECT_EQ(series[0].points.size(), 8u);
}

}  // namespace
}  // namespace hbench::import_test
