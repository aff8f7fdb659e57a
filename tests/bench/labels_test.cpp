#include "bench/command/common_options.hpp"

#include "analysis/records/fingerprint.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::labels_test {
namespace {

using Labels = std::map<std::string, std::string>;

/// What a verb takes for these values of `--label`.
Labels labels_of(const std::vector<std::string>& pairs) {
  Labels labels;
  Arguments app("", "hbench");
  add_labels(app, labels);
  Call call;
  for (const std::string& pair : pairs) call.arguments.insert(call.arguments.end(), {"--label", pair});
  app.parse(call);
  return labels;
}

TEST(Labels, ArePairs) {
  EXPECT_EQ(labels_of({}), Labels());
  EXPECT_EQ(labels_of({"branch=main", "commit=abc", "note.1=a = b, c", "a-b=1", "a_b=2"}),
            (Labels{{"branch", "main"}, {"commit", "abc"}, {"note.1", "a = b, c"}, {"a-b", "1"}, {"a_b", "2"}}));
}

TEST(PassedFlags, KeepTheirValuesAndGetTheUsualOfThoseThatLack) {
  std::vector<std::string> flags{"--gpus", "4", "--steps=7", "--profiles", "x", "--last"};
  EXPECT_EQ(passed_value(flags, "--gpus"), "4");
  EXPECT_EQ(passed_value(flags, "--steps"), "7");
  EXPECT_EQ(passed_value(flags, "--profile"), std::nullopt) << "another flag begins so";
  EXPECT_EQ(passed_value(flags, "--last"), std::nullopt);
  add_usual(flags, {{"--gpus", "2"}, {"--batch", "50"}});
  EXPECT_THAT(flags, ElementsAre("--gpus", "4", "--steps=7", "--profiles", "x", "--last", "--batch", "50"));
}

TEST(Labels, ThatAreNoneAreAUsageError) {
  for (const char* text : {"main", "=main", "branch=", "a b=c", "branch=two\nlines", "="})
    expect_error([&] { labels_of({text}); }, ExitCode::usage, HasSubstr("--label"),
                 "write KEY=VALUE, such as branch=main; keys have letters, digits, '.', '-' and '_'");
  expect_error(
      [] {
        labels_of({"a=1", "a=2"});
      },
      ExitCode::usage, "--label a=2: 'a' is given more than once", testing::_);
}

TEST(ThePlace, OfATimedCaseIsTheMachineOfItsRun) {
  hbench::Run run;
  run.environment = {{"cpu", "some CPU"}, {"cores", "2"}};
  Case timed;
  timed.evidence = Evidence::measured;
  Case simulated;
  place_on_this_machine(timed, run);
  place_on_this_machine(simulated, run);
  EXPECT_EQ(simulated.machine, "");
  EXPECT_NE(timed.machine, "");
  EXPECT_EQ(run.environment.at("machine " + timed.machine), "2 cores of some CPU");
}

}  // namespace
}  // namespace hbench::labels_test
