// Commands of hbench.toml that print what other programs of CI print.

#include "analysis/points/tracked_metric.hpp"
#include "analysis/store/store.hpp"
#include "tests/analysis/import_examples.hpp"
#include "tests/bench/program.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::track_formats_test {
namespace {

class TrackFormats : public testing::Test {
 protected:
  /// What `track init` says of a program that prints the text.
  Outcome init(const std::string& text, std::vector<std::string> flags = {}) const {
    write_bytes(place_ / "out", text);
    std::vector<std::string> words{"track", "init", "--force"};
    words.insert(words.end(), flags.begin(), flags.end());
    words.insert(words.end(), {"--", "cat", "out"});
    return place_.run(words);
  }

  Workplace place_;
};

TEST_F(TrackFormats, AreInitialisedAndRun) {
  const Outcome outcome = init(libtest_example());
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("'cat out', which prints\n  sort::small: 18.15 us\nNext: hbench track run"));
  const Outcome run = place_.run({"track", "run", "--quiet"});
  ASSERT_EQ(run.code, 0) << run.err;
  const std::vector<CaseResult> cases = Store(place_ / "hbench.db", Store::Mode::read_only).of_run(1);
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(cases[0].asked.benchmark, "cat sort::small");
  EXPECT_EQ(cases[0].samples.size(), 5u);
}

TEST_F(TrackFormats, SayWhatTheyLeaveOutUnlessTheUserSaysWhatIsBetter) {
  const Outcome silent = init(name_unit_value_example());
  ASSERT_EQ(silent.code, 0) << silent.err;
  EXPECT_THAT(silent.out,
              HasSubstr("\n  left out: Memory: nothing says whether more or less of 'Megabytes' is better\nNext:"));
  const Outcome said = init(name_unit_value_example(), {"--better", "lower"});
  ASSERT_EQ(said.code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("\n  Memory: 100 Megabytes\n"));
  EXPECT_EQ(place_.run({"track", "run", "--quiet"}).code, 0);
  const std::vector<CaseResult> cases = Store(place_ / "hbench.db", Store::Mode::read_only).of_run(1);
  ASSERT_EQ(cases.size(), 3u);
  for (const CaseResult& each : cases)
    EXPECT_EQ(tracked_metric(each).larger_is_worse, each.asked.benchmark != "cat Requests") << each.asked.benchmark;
}

TEST_F(TrackFormats, RefuseABetterThatChangesNothing) {
  const Outcome said = init("{\"step_ms\": 1.5}\n", {"--better", "lower"});
  EXPECT_EQ(said.code, 2);
  EXPECT_THAT(said.err, HasSubstr(": --better changes none of its values: their units say it\n"));
}

}  // namespace
}  // namespace hbench::track_formats_test
