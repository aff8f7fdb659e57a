// hbench track init and git: results are not committed by mistake.

#include <gmock/gmock.h>

#include "tests/bench/program.hpp"

namespace hbench::track_init_test {
namespace {

TEST(TrackInit, AddsTheDatabaseToTheFilesThatGitIgnores) {
  struct Row {
    const char* before;   ///< a script
    const char* ignored;  ///< `.gitignore` afterwards; empty: none
    bool added;
  };
  for (const Row& row : {
           Row{"git init -q -b main .", "hbench.db*\n", true},
           Row{"git init -q -b main . && printf 'build/' > .gitignore", "build/\nhbench.db*\n", true},
           Row{"git init -q -b main . && printf '*.db*\n' > .gitignore", "*.db*\n", false},
           Row{"git init -q -b main . && touch hbench.db && git add hbench.db", "", false},
           Row{":", "", false},
       }) {
    const Workplace place;
    const Outcome outcome = place.shell(std::string(row.before) + R"( &&
        "$HBENCH" track init --pattern 'step: ([0-9.]+) ms' --unit ms -- echo 'step: 10 ms' &&
        if [ -e .gitignore ]; then cat .gitignore >&2; fi)");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, row.ignored) << row.before;
    EXPECT_EQ(outcome.out, std::string("Wrote hbench.toml: 'echo \"step: 10 ms\"', which prints\n  echo: 10 ms\n") +
                               (row.added ? "Added hbench.db* to .gitignore: commit it with hbench.toml\n" : "") +
                               "Next: hbench track run\n")
        << row.before;
  }
}

TEST(TrackInit, SaysOfHowManyNumbersItTakesTheMedianAndWhetherTheFirstIsWarmUp) {
  struct Printed {
    const char *numbers, *said;
  };
  for (const auto& [numbers, said] :
       {Printed{"150 200 310 4040", "255 ms, median of 4, 150 ms to 4.04 s"},
        Printed{"4040 310 200 150",
                "200 ms, median of 3, 150 ms to 310 ms\n  left out: the first, 4040 in line 1, looks like warm-up"}}) {
    const Workplace place;
    const Outcome outcome = place.shell("printf 'step: %s ms\\n' " + std::string(numbers) + R"( > log &&
        "$HBENCH" track init --pattern 'step: ([0-9.]+) ms' --unit ms --take median -- cat log)");
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out,
              fmt::format("Wrote hbench.toml: 'cat log', which prints\n  cat: {}\nNext: hbench track run\n", said));
  }
}

}  // namespace
}  // namespace hbench::track_init_test
