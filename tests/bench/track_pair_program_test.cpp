// hbench track pair with commands of a shell: what they print, how they fail, and what is left of them.

#include <fmt/format.h>
#include <signal.h>

#include <chrono>
#include <thread>

#include "analysis/store/store.hpp"
#include "reports/formats/plain_text.hpp"
#include "tests/bench/program.hpp"
#include "tests/support/hostile_text.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::track_pair_program_test {
namespace {

std::string prints(const std::string& json) { return fmt::format("echo '{}'", json); }

class TrackPairProgram : public testing::Test {
 protected:
  Outcome pair(const std::string& base, const std::string& head, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments{"track", "pair", "--quiet", "--base", base, "--head", head};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return workplace_.run(arguments);
  }

  Workplace workplace_;
};

// The commands print the same in every launch: 10 and 10.6 ms have no variance at all.
TEST_F(TrackPairProgram, FindsTheSlowerOfTwoCommands) {
  const Outcome slower = pair(prints(R"({"step_ms": 10})"), prints(R"({"step_ms": 10.6})"), {"--json"});
  EXPECT_EQ(slower.code, 10) << slower.err;
  const auto result = nlohmann::json::parse(slower.out).at("results").at(0);
  EXPECT_EQ(result.at("verdict"), "regressed");
  EXPECT_NEAR(result.at("shift"), 0.06, 1e-9);
  EXPECT_NEAR(result.at("shift_low"), 0.06, 1e-9);
  const Outcome same = pair(prints(R"({"step_ms": 10})"), prints(R"({"step_ms": 10})"));
  EXPECT_EQ(same.code, 0) << same.err;
  EXPECT_THAT(same.out, HasSubstr("1 pass"));
}

TEST_F(TrackPairProgram, TurnsTheDirectionOfRates) {
  EXPECT_EQ(pair(prints(R"({"images_per_s": 106})"), prints(R"({"images_per_s": 100})")).code, 10);
  EXPECT_EQ(pair(prints(R"({"images_per_s": 100})"), prints(R"({"images_per_s": 106})")).code, 0);
}

// Too few pairs end without a verdict, and say how many it takes.
TEST_F(TrackPairProgram, SaysHowManyLaunchesItTakes) {
  const std::string fast = prints(R"({"step_ms": 10})"), slow = prints(R"({"step_ms": 11})");
  const Outcome few = pair(fast, slow, {"--launches", "4", "--fail-on", "inconclusive", "--wide"});
  EXPECT_EQ(few.code, 11) << few.err;
  EXPECT_THAT(few.out, HasSubstr("by 4 pairs, of which it takes 8 to exclude chance"));
  EXPECT_EQ(pair(fast, slow, {"--launches", "1"}).code, 0) << "one pair has no interval";
  EXPECT_EQ(pair(fast, slow, {"--launches", "5"}).code, 11) << "five that all agree are not passed by";
}

TEST_F(TrackPairProgram, SaysWhatIsWrongWithACommand) {
  const std::string good = prints(R"({"step_ms": 10})");
  expect_mistake(pair("  ", good), 2, "--base is no command", "--base './old/bench'");
  expect_mistake(pair(good, "no_such_program"), 2, "--head 'no_such_program': no such command (exit code 127)",
                 "no_such_program: not found");
  expect_mistake(pair(good, "echo out; echo cause >&2; exit 3"), 5,
                 "--head 'echo out; echo cause >&2; exit 3' ended with exit code 3", "cause");
  expect_mistake(pair(good, "exit 4"), 4, "--head 'exit 4' ended with exit code 4", "");
  expect_mistake(pair("kill -9 $$", good), 5, "ended by signal 9", "");
  expect_mistake(pair("sleep 60", good, {"--timeout", "200ms"}), 5, "took more than 200 ms and was stopped", "");
  expect_mistake(pair(good, good, {"--launches", "9", "--max-launches", "8"}), 2, "--max-launches 8 is less",
                 "counts the pairs that decide");
}

TEST_F(TrackPairProgram, SaysWhatACommandHasToPrint) {
  const std::string good = prints(R"({"step_ms": 10})");
  const Outcome words = pair("echo done", good);
  EXPECT_EQ(words.code, 2);
  EXPECT_THAT(words.err, AllOf(HasSubstr("the output of --base: nothing known has this format"), HasSubstr("done\n"),
                               HasSubstr("--pattern 'step: ([0-9.]+) ms'"), HasSubstr("hbench list imports")));
  const Outcome nan = pair(good, prints(R"({"step_ms": NaN})"));
  EXPECT_EQ(nan.code, 2);
  EXPECT_THAT(
      nan.err,
      HasSubstr("the output of --head:1: no number in it has the unit of a time or a rate (step_ms: it is no number)"));
}

// Standard error is progress of the command, and nobody's business while it succeeds.
TEST_F(TrackPairProgram, KeepsStandardErrorToItself) {
  const std::string noisy = "echo noise >&2; " + prints(R"({"step_ms": 10})");
  const Outcome outcome = pair(noisy, noisy);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_EQ(outcome.err, "");
}

TEST_F(TrackPairProgram, WritesWhatContinuousIntegrationReads) {
  const Outcome outcome = pair(prints(R"({"a]]>_ms": 10})"), prints(R"({"a]]>_ms": 11})"),
                               {"--junit", "pair.xml", "--github", "--format", "markdown"});
  EXPECT_EQ(outcome.code, 10) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("1 regressed"), Not(HasSubstr("::error"))));
  EXPECT_THAT(outcome.err, StartsWith("::error title=regressed%3A a]]>_ms::regressed by 10.0 %25"));
  EXPECT_THAT(bytes_of(workplace_ / "pair.xml"), AllOf(HasSubstr("failures=\"1\""), HasSubstr("a]]&gt;_ms")));
}

// By others' programs, with names that mean something to a format.
TEST_F(TrackPairProgram, IsReadByProgramsThatOthersWrote) {
  const Outcome tools = workplace_.shell(HBENCH_SOURCE_DIR "/tests/python_tools");
  if (tools.code == 77) GTEST_SKIP() << tools.out;
  nlohmann::json base, head;
  for (const std::string& text : kHostile) {
    base[clean_text(text)] = 10;
    head[clean_text(text)] = 11;
  }
  const std::size_t cases = base.size();
  base["unit"] = head["unit"] = "ms";
  write_bytes(workplace_ / "base", base.dump());
  write_bytes(workplace_ / "head", head.dump());
  EXPECT_EQ(
      pair("cat base", "cat head", {"--out", "check.json", "--junit", "junit.xml", "--gitlab", "metrics.txt"}).code,
      10);
  const Outcome read =
      workplace_.shell(fmt::format("{}/python {}/tests/bench/read_track_outputs . {}/reports/track/track-check-1.json",
                                   tools.out.substr(0, tools.out.find('\n')), HBENCH_SOURCE_DIR, HBENCH_SOURCE_DIR));
  EXPECT_EQ(read.out, fmt::format("{} cases: regressed\n", cases)) << read.err;
}

// Experiment files are measured by this program itself: one launch of each case, by threads so that it is quick.
TEST_F(TrackPairProgram, MeasuresExperimentFiles) {
  const auto file = [](const std::string& algorithm) {
    return fmt::format(
        "[[collective]]\nname = \"small\"\ncollective = \"all-reduce\"\nranks = 2\nexecutor = \"threads\"\n"
        "algorithm = \"{}\"\nminbytes = \"1K\"\nmaxbytes = \"1K\"\niters = 3\n",
        algorithm);
  };
  write_bytes(workplace_ / "old.toml", file("ring"));
  write_bytes(workplace_ / "new.toml", file("direct"));
  const Outcome outcome = pair("old.toml", "new.toml", {"--launches", "1", "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(json.at("results").size(), 1);
  EXPECT_EQ(json.at("results").at(0).at("name"),
            "all-reduce of 1KiB, 2 ranks, direct by threads against all-reduce of 1KiB, 2 ranks, ring by threads");
  EXPECT_EQ(json.at("results").at(0).at("head_launches"), 1);
  write_bytes(workplace_ / "new.toml", file("rung"));
  const Outcome broken = pair("new.toml", "old.toml");
  EXPECT_EQ(broken.code, 2);
  EXPECT_THAT(broken.err, AllOf(HasSubstr("--base 'new.toml' ended with exit code 2"),
                                HasSubstr("new.toml:6: no algorithm 'rung'")));
  expect_mistake(pair("none.toml", "old.toml"), 2, "--base 'none.toml': no such command", "none.toml: not found");
}

// Every launch writes the numbers of its own process and of a child that ignores SIGTERM.
TEST_F(TrackPairProgram, LeavesNoProcessBehindWhenItIsInterruptedAndKeepsWhatThereIs) {
  const std::string command =
      "n=$(cat count 2>/dev/null || echo 0); echo $((n + 1)) > count; "
      "if [ $n -ge 7 ]; then (trap '' TERM; echo $$ > parent; sh -c 'echo $$ > child; trap \"\" TERM; sleep 60; :'); "
      "fi; "
      R"(echo '{"step_ms": 10}')";
  Sweeping pairing(workplace_, {"track", "pair", "--quiet", "--base", command, "--head", command, "--db", "t.db"});
  while (!std::filesystem::exists(workplace_ / "child") || bytes_of(workplace_ / "child").empty())
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const pid_t parent = std::stoi(bytes_of(workplace_ / "parent")), child = std::stoi(bytes_of(workplace_ / "child"));
  kill(pairing.pid(), SIGINT);
  const Outcome outcome = pairing.wait();
  EXPECT_EQ(outcome.code, 130);
  EXPECT_THAT(outcome.err, HasSubstr("interrupted after 2 pairs; they are in t.db"));
  EXPECT_THAT(outcome.out, HasSubstr("1 inconclusive"));
  EXPECT_TRUE(all_die({parent, child}));
  const Store store(workplace_ / "t.db", Store::Mode::read_only);
  ASSERT_THAT(store.runs(), SizeIs(2));
  EXPECT_EQ(store.runs()[0].labels.at("pair"), store.runs()[1].labels.at("pair"));
  for (const auto& run : store.runs()) EXPECT_THAT(store.of_run(run.id).at(0).samples, SizeIs(2));
}

}  // namespace
}  // namespace hbench::track_pair_program_test
