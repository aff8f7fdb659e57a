#include <fmt/format.h>

#include <csignal>
#include <cstdlib>
#include <set>

#include "bench/launch/process.hpp"
#include "collectives/base/text.hpp"
#include "tests/bench/program.hpp"
#include "tests/support/hostile_text.hpp"
#include "tests/support/matchers.hpp"
#include "workloads/libtorch.hpp"

namespace hbench::bad_input_test {
namespace {

/// A sweep that is quick wherever it can run.
const std::vector<std::string> kQuick{"sweep",     "--gpus",     "1..8",       "--workload", "resnet50",
                                      "--profile", "hkbu-10gbe", "--evidence", "simulated",  "--quiet"};

std::vector<std::string> quick_with(std::vector<std::string> more) {
  std::vector<std::string> arguments = kQuick;
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(Mistakes, AreOneLineAndItsCureOnStandardErrorAndLeaveNothingBehind) {
  const Workplace workplace;
  expect_mistake(workplace.run({"swep"}), 2, "no verb 'swep'; did you mean 'sweep'?", "known: sweep");
  expect_mistake(workplace.run({"--verbose"}), 2, "no verb '--verbose'", "known: sweep");
  expect_mistake(workplace.run({"sweep", "--gpu", "8"}), 2, "unknown option '--gpu'; did you mean '--gpus'?", "--help");
  expect_mistake(workplace.run({"sweep", "--algorithm", "rng"}), 2, "did you mean 'ring'?", "known: ring");
  expect_mistake(workplace.run({"export"}), 2, "there is no results database 'hbench.db'", "hbench sweep");
  for (const auto& entry : std::filesystem::directory_iterator(workplace.folder().path()))
    EXPECT_THAT(entry.path().filename().string(), AnyOf(".out", ".err"));
}

TEST(Mistakes, InFlagsThatNobodyReadsAreSaid) {
  const Workplace workplace;
  const auto expecting = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"expect", "--profile", "dgx-a100"});
    return workplace.run(more);
  };
  const std::pair<const char*, const char*> of_training[] = {
      {"--method", "abc"},     {"--preset", "inf"},      {"--single-node-rate", "1e9"}, {"--workload", "vgg16"},
      {"--gpus", "8"},         {"--algorithm", "ring"},  {"--compressor", "fp16"},      {"--batch", "8"},
      {"--accumulate", "2"},   {"--global-batch", "64"}, {"--single-gpu-rate", "100"},  {"--rate", "a100=1"},
      {"--recompute", "full"}, {"--optimizer", "adam"},  {"--precision", "bf16"}};
  for (const auto& [flag, value] : of_training)
    expect_mistake(expecting({"--ranks", "16", flag, value}), 2, fmt::format("{} is of a training", flag),
                   "--measured");
  for (const auto& [flag, value] : {std::pair{"--collective", "all-reduce"},
                                    {"--ranks", "8"},
                                    {"--nodes", "1"},
                                    {"--minbytes", "1K"},
                                    {"--maxbytes", "1M"}})
    expect_mistake(expecting({"--measured", "1531", "--workload", "vgg16", "--gpus", "8", flag, value}), 2,
                   fmt::format("{} is of collectives", flag), "leave one");
  for (const char* token : {"", " -1 host", " 0x10 host"})
    expect_mistake(
        workplace.shell(fmt::format("\"$(dirname \"$HBENCH\")/../libexec/hbench/hbench-worker\" reach{}", token)), 2,
        "no token of a check", "internal verb");
  expect_mistake(expecting({"--ranks", "0x10"}), 2, "'0x10' is no number", "--help");
  expect_mistake(workplace.run(quick_with({"--launches", "0x10"})), 2, "'0x10' is no number", "--help");
  expect_mistake(workplace.run(quick_with({"--dilation", "nan"})), 2, "--dilation: 'nan' is no number", "--help");
}

/// What a name of a file may hold that means something to a program that is handed it.
std::vector<std::string> hostile_names() {
  std::vector<std::string> names{"x\n!touch pwned\n",
                                 "|touch pwned; ",
                                 "x'; system 'touch pwned'; '",
                                 "`touch pwned`",
                                 "$(touch pwned)",
                                 "x; touch pwned;",
                                 "x\\",
                                 "-x",
                                 "--help",
                                 "@touch",
                                 "a b",
                                 "\xff\xfe",
                                 "\"; system(\"touch pwned\"); \"",
                                 "%s%n",
                                 "~root",
                                 "x\r\ny",
                                 "\x1b[2J",
                                 "*?[a]",
                                 "# x",
                                 "x & touch pwned &"};
  for (const std::string& text : kHostile)
    if (text.find('/') == text.npos && text.find('\0') == text.npos) names.push_back(text);
  return names;
}

TEST(Pictures, AreDrawnIntoAFileOfAnyNameAndRunNothing) {
  const Workplace workplace;
  if (workplace.shell("command -v gnuplot").code != 0) GTEST_SKIP() << "gnuplot is not installed";
  for (int i = 1; i < 8; ++i) {
    write_bytes(workplace / "s.json", fmt::format("{{\"step_ms\": 12.{}}}", i));
    ASSERT_EQ(workplace
                  .run({"import", "s.json", "--db", "x.db", "--machine", "m", "--program", "p", "--label",
                        "branch=main", "--label", fmt::format("n={}", i)})
                  .code,
              0);
  }
  const auto draw = [&](const std::string& name) {
    return workplace.run({"track", "history", "--db", "x.db", "--out=" + name});
  };
  std::set<std::string> expected{"s.json", "x.db", ".out", ".err"};
  for (std::string name : hostile_names()) {
    const Outcome outcome = draw(name += ".svg");
    EXPECT_EQ(outcome.code, 0) << name << outcome.err;
    EXPECT_THAT(bytes_of(workplace / name), HasSubstr("</svg>")) << name;
    expected.insert(name);
  }
  write_bytes(workplace / "real", "precious");
  std::filesystem::create_symlink("real", workplace / "link.svg");
  std::filesystem::create_symlink("victim", workplace / "bait.svg.drawn");
  EXPECT_EQ(draw("link.svg").code + draw("bait.svg").code, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(workplace / "link.svg"));
  EXPECT_THAT(bytes_of(workplace / "real"), HasSubstr("</svg>"));
  expected.insert({"real", "link.svg", "bait.svg.drawn", "bait.svg"});
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(workplace.folder().path()))
    found.insert(entry.path().filename().string());
  EXPECT_EQ(found, expected);
}

TEST(Pictures, OfAReportThatIsInterruptedLeaveNoFolderBehind) {
  const Workplace workplace;
  ASSERT_EQ(workplace.run(quick_with({"--db", "r.db"})).code, 0);
  std::filesystem::create_directories(workplace / "bin");
  std::filesystem::create_directories(workplace / "temporary");
  write_program(workplace / "bin/gnuplot", "#!/bin/sh\nexec sleep 1000\n");
  Sweeping report(workplace, {"report", "--db", "r.db"},
                  {{"PATH", fmt::format("{}:{}", (workplace / "bin").string(), std::getenv("PATH"))},
                   {"TMPDIR", (workplace / "temporary").string()}});
  workplace.shell("for i in $(seq 1000); do [ -n \"$(ls temporary)\" ] && break; sleep 0.02; done; sleep 0.2");
  ASSERT_FALSE(std::filesystem::is_empty(workplace / "temporary"));
  kill(report.pid(), SIGINT);
  EXPECT_EQ(report.wait().code, 130);
  EXPECT_TRUE(std::filesystem::is_empty(workplace / "temporary"));
}

TEST(WordOfAShell, IsOneWhateverItHolds) {
  for (const std::string& text : hostile_names()) {
    std::string seen;
    run_process({.argv = {"/bin/sh", "-c", "printf '%s\\n' " + shell_word(text) + " end"},
                 .on_line = [&](std::string_view line) { seen.append(line) += '\n'; }});
    EXPECT_EQ(seen, text + "\nend\n");
  }
}

TEST(Files, ThatAreNotRegularOrTooLongAreRefusedAtOnce) {
  const Workplace workplace;
  ASSERT_EQ(mkfifo((workplace / "fifo.toml").c_str(), 0600), 0);
  write_bytes(workplace / "long.toml", std::string((16 << 20) + 1, '#'));
  for (const char* flag : {"--profile", "--workload"})
    for (const auto& [file, why] : {std::pair{"./fifo.toml", "not a regular file"},
                                    {"/dev/zero", "not a regular file"},
                                    {"./long.toml", "more than 16 MiB"}})
      expect_mistake(workplace.run({"sweep", "--evidence", "simulated", "--gpus", "2", flag, file}), 2,
                     fmt::format("cannot read {}: it ", file), "");
}

TEST(Files, ThatMayNotGrowEndTheProgramWithOneLine) {
  const Workplace workplace;
  for (const char* command :
       {"$HBENCH sweep --gpus 1..8 --workload resnet50 --profile hkbu-10gbe --evidence simulated --quiet",
        "$HBENCH list profiles --json > list", "$HBENCH choose --gpus 8 --profile dgx-a100 --quiet --out c.html"}) {
    const Outcome outcome = workplace.shell(fmt::format("ulimit -f 1; {}", command));
    EXPECT_EQ(outcome.code, 3) << command << outcome.err;
    EXPECT_THAT(outcome.err, StartsWith("hbench: ")) << command;
  }
}

/// Runs a command whose output nobody reads any more; the reader is gone before the command begins.
std::string code_into_closed_pipe(const Workplace& workplace, const std::string& before, const std::string& command) {
  const Outcome outcome = workplace.shell(before + "mkfifo gone; { read x < gone; " + command +
                                          "; echo $? > code; } | { exec <&-; echo > gone; }; rm gone");
  EXPECT_EQ(outcome.err, "") << command;
  return bytes_of(workplace / "code");
}

TEST(Output, ThatNobodyReadsAnyMoreEndsTheProgramQuietly) {
  const Workplace workplace;
  // With the signal for it, and where that is ignored, as it is below many programs.
  for (const char* before : {"", "trap '' PIPE; "})
    for (const char* command : {"$HBENCH list algorithms", "$HBENCH list profiles --json", "$HBENCH --help"})
      EXPECT_EQ(code_into_closed_pipe(workplace, before, command), "141\n") << before << command;
  EXPECT_EQ(code_into_closed_pipe(workplace, "trap '' PIPE; ", "$HBENCH swep 2>&1"), "2\n");
}

TEST(Progress, ThatNobodyReadsAnyMoreStopsNoWork) {
  const Workplace workplace;
  const std::string sweep =
      "$HBENCH sweep --gpus 1..8 --workload resnet50 --profile hkbu-10gbe --evidence simulated 2>&1 > answer";
  EXPECT_EQ(code_into_closed_pipe(workplace, "trap '' PIPE; ", sweep), "0\n");
  EXPECT_THAT(bytes_of(workplace / "answer"), HasSubstr("=> "));
}

/// A database that a sweep must refuse, and leave as it is.
void expect_refused(const Workplace& workplace, int code, std::string_view message) {
  const std::string before = bytes_of(workplace / "r.db");
  for (const std::vector<std::string>& arguments : {quick_with({"--db", "r.db"}),
                                                    quick_with({"--db", "r.db", "--resume"}),
                                                    {"export", "--db", "r.db"},
                                                    {"report", "--db", "r.db"}}) {
    const Outcome outcome = workplace.run(arguments);
    EXPECT_EQ(outcome.code, code);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(message));
  }
  EXPECT_EQ(bytes_of(workplace / "r.db"), before);
}

TEST(Worker, ThatDoesNotStartIsSaidOnceAndTheRestIsDone) {
  const Workplace workplace;
  const auto sweep = [&](const std::string& evidence, const std::string& worker) {
    return workplace.run({"sweep", "--gpus", "1..2", "--workload", "resnet50", "--profile", "hkbu-10gbe", "--evidence",
                          evidence, "--json"},
                         {{"HBENCH_WORKER", worker}});
  };
  const Outcome outcome = sweep("measured,simulated", "/bin/false");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  for (const auto& point : nlohmann::json::parse(outcome.out)) EXPECT_EQ(point.at("evidence"), "simulated");
  if (!torch_availability().available) return;
  const std::string reason = "/bin/false does not start: exit code 1";
  const std::size_t said = outcome.err.find("left out: measured runs: " + reason);
  ASSERT_NE(said, std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find(reason, said + 40), std::string::npos) << "once";
  expect_mistake(sweep("measured", "/bin/false"), 3, "nothing to do", reason);
  expect_mistake(sweep("measured", "/none"), 3, "nothing to do", "there is no /none");
}

TEST(Database, ThatIsNoneIsRefusedAndKept) {
  const Workplace workplace;
  write_bytes(workplace / "r.db", "my notes on the holidays, all of them");
  expect_refused(workplace, 2, "'r.db' is no hbench results database");
}

TEST(Database, OfAnotherProgramIsRefusedAndKept) {
  const Workplace workplace;
  run_sql(workplace / "r.db", "CREATE TABLE contact (name TEXT); INSERT INTO contact VALUES ('me')");
  expect_refused(workplace, 2, "'r.db' is a database of another program");
}

TEST(Database, OfANewerSchemaIsRefusedAndKept) {
  const Workplace workplace;
  ASSERT_EQ(workplace.run(quick_with({"--db", "r.db"})).code, 0);
  run_sql(workplace / "r.db", "PRAGMA user_version = 999");
  expect_refused(workplace, 2, "'r.db' has schema version 999");
}

TEST(Database, ThatIsCutShortIsRefusedAndKept) {
  const Workplace workplace;
  ASSERT_EQ(workplace.run(quick_with({"--db", "r.db"})).code, 0);
  const std::string whole = bytes_of(workplace / "r.db");
  write_bytes(workplace / "r.db", whole.substr(0, whole.size() / 2));
  expect_refused(workplace, 4, "'r.db' is damaged");
}

TEST(Database, SurvivesABadSweep) {
  const Workplace workplace;
  ASSERT_EQ(workplace.run(kQuick).code, 0);
  const std::string before = workplace.run({"export"}).out;
  EXPECT_EQ(workplace.run({"sweep", "--algorithm", "rng"}).code, 2);
  EXPECT_EQ(workplace.run(quick_with({"--report", "hbench.db"})).code, 3);
  EXPECT_EQ(workplace.run({"export"}).out, before);
}

}  // namespace
}  // namespace hbench::bad_input_test
