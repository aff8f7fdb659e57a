#include "bench/output/console.hpp"

#include <fmt/format.h>
#include <pty.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <functional>

#include "reports/formats/text_table.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::terminal_test {
namespace {

/// What a program sees whose standard output is a terminal of so many columns.
std::string width_on_terminal(unsigned short columns) {
  return in_child([columns] {
    const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    int ours = -1, theirs = -1;
    if (openpty(&ours, &theirs, nullptr, nullptr, &size) != 0) return std::string("no terminal can be made");
    dup2(theirs, STDOUT_FILENO);
    return std::to_string(terminal_width(STDOUT_FILENO));
  });
}

/// The same where it is a pipe.
std::string width_into_a_pipe() {
  return in_child([] {
    int ends[2];
    if (pipe(ends) != 0) return std::string("no pipe");
    dup2(ends[1], STDOUT_FILENO);
    return std::to_string(terminal_width(STDOUT_FILENO));
  });
}

class TerminalWidth : public testing::Test {
 protected:
  TerminalWidth() { unsetenv("COLUMNS"); }
  ~TerminalWidth() override { unsetenv("COLUMNS"); }
};

TEST_F(TerminalWidth, IsThatOfTheTerminal) {
  EXPECT_EQ(width_on_terminal(133), "133");
  EXPECT_EQ(width_on_terminal(41), "41");
  EXPECT_EQ(width_on_terminal(20), "40");
}

TEST_F(TerminalWidth, IsTheUsualOneWhereNobodyKnowsIt) { EXPECT_EQ(width_on_terminal(0), "80"); }

// A CI log is always a pipe.
TEST_F(TerminalWidth, HasNoLimitInAPipe) { EXPECT_EQ(width_into_a_pipe(), std::to_string(kAnyWidth)); }

TEST_F(TerminalWidth, IsWhatColumnsSays) {
  setenv("COLUMNS", "100", 1);
  EXPECT_EQ(width_on_terminal(133), "100");
  EXPECT_EQ(width_into_a_pipe(), "100");
  for (const char* nothing : {"", "0", "-3", "wide"}) {
    setenv("COLUMNS", nothing, 1);
    EXPECT_EQ(width_on_terminal(133), "133") << nothing;
  }
}

/// What is printed of a document of one cell, on a terminal or into a pipe.
std::string printed(bool terminal, const std::string& cell) {
  return in_child([&] {
    int ours = -1, theirs = -1;
    if (openpty(&ours, &theirs, nullptr, nullptr, nullptr) != 0) return std::string("no terminal can be made");
    std::array<int, 2> ends{-1, -1};
    if (pipe(ends.data()) != 0) return std::string("no pipe");
    dup2(terminal ? theirs : ends[1], STDOUT_FILENO);
    return terminal_text({.blocks = {Paragraph{cell}}});
  });
}

TEST(Colours, AreForVerdictsOnATerminal) {
  unsetenv("NO_COLOR");
  EXPECT_EQ(printed(true, "vgg16 regressed, resnet50 improved"),
            "vgg16 \033[31mregressed\033[0m, resnet50 \033[32mimproved\033[0m\n");
  EXPECT_EQ(printed(true, "unregressed, failed_case2 passed"), "unregressed, failed_case2 passed\n");
  EXPECT_EQ(printed(false, "vgg16 regressed"), "vgg16 regressed\n");
  setenv("NO_COLOR", "1", 1);
  EXPECT_EQ(printed(true, "vgg16 regressed"), "vgg16 regressed\n");
  unsetenv("NO_COLOR");
}

TEST(FirstColumns, CountCharactersAndNotBytes) {
  EXPECT_EQ(first_columns("12 \u00b5s left", 4), "12 \u00b5");
  EXPECT_EQ(first_columns("short", 80), "short");
  EXPECT_EQ(first_columns("all of it", kAnyWidth), "all of it");
}

/// What stands on standard error, a terminal or a pipe, after the work of `body`; escapes as they are. A terminal hands
/// its text on in pieces, so that a mark behind the last one tells the end.
std::string standard_error(bool terminal, const std::function<void()>& body) {
  return in_child([&] {
    std::array<int, 2> ends{-1, -1};
    if ((terminal ? openpty(&ends[0], &ends[1], nullptr, nullptr, nullptr) : pipe(ends.data())) != 0)
      return std::string("no terminal can be made");
    dup2(ends[1], STDERR_FILENO);
    body();
    constexpr char kEnd = '$';
    if (write(STDERR_FILENO, &kEnd, 1) != 1) return std::string("the terminal takes no more");
    std::string text;
    for (char next = 0; read(ends[0], &next, 1) == 1 && next != kEnd;) text += next;
    return text;
  });
}

void work(Verbosity verbosity) {
  Progress progress(10, verbosity);
  progress.doing("first");
  progress.done(5, "first is done");
  progress.note("a word");
}

TEST(ProgressLine, IsDrawnAnewOnATerminalAndGoesAtTheEnd) {
  const std::string again = "\r\033[K";
  EXPECT_EQ(standard_error(true, [] { work(Verbosity::usual); }), again + "[  0 %] first, about 10 s left" + again +
                                                                      "[ 50 %] first" + again + "a word\r\n" + again +
                                                                      "[ 50 %] first" + again);
}

TEST(ProgressLine, SaysOnlyWhatIsDoneWhereNobodyKnowsHowMuchThereIs) {
  const auto endless = [] {
    Progress progress(0, Verbosity::usual);
    progress.doing("first");
  };
  EXPECT_EQ(standard_error(true, endless), "\r\033[Kfirst\r\033[K");
  EXPECT_EQ(standard_error(false, endless), "");
}

TEST(ProgressLine, IsALineForEachThatIsDoneWhereThereIsNoTerminal) {
  EXPECT_EQ(standard_error(false, [] { work(Verbosity::usual); }), "[ 50 %] first is done\na word\n");
}

TEST(ProgressLine, IsCutToTheWidthOfTheTerminal) {
  setenv("COLUMNS", "40", 1);
  const std::string text = standard_error(true, [] {
    Progress progress(10, Verbosity::usual);
    progress.doing("measuring a case whose name is much longer than the terminal is wide");
  });
  unsetenv("COLUMNS");
  EXPECT_EQ(text, "\r\033[K[  0 %] measuring a case whose name is \r\033[K");
}

TEST(ProgressLine, KnowsOfMoreWork) {
  const auto late = [] {
    Progress progress(1, Verbosity::usual);
    progress.done(1);
    progress.more(1e6);
    progress.doing("extra");
  };
  EXPECT_THAT(standard_error(true, late), HasSubstr("[  0 %] extra, about"));
}

TEST(ProgressLine, OfAVerboseVerbIsALineForEachPieceOfWork) {
  EXPECT_THAT(standard_error(false, [] { work(Verbosity::verbose); }),
              testing::MatchesRegex(" +0\\.0[0-9] s  first\n\\[ 50 %\\] first is done\na word\n"));
  EXPECT_THAT(standard_error(true, [] { work(Verbosity::verbose); }), HasSubstr(" s  first\r\n"));
}

TEST(ProgressLine, IsNoneWhereQuietIsAskedFor) {
  const auto quietly = [] {
    work(Verbosity::quiet);
    fmt::print(stderr, "end");
  };
  EXPECT_EQ(standard_error(true, quietly), "end");
  EXPECT_EQ(standard_error(false, quietly), "end");
}

TEST(QuietProgress, KeepsTheReasonsForWhatIsLeftOut) {
  testing::internal::CaptureStderr();
  Progress progress(1, Verbosity::quiet);
  progress.note("calibrated");
  progress.note("left out: 8 GPUs: no multiple", true);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "left out: 8 GPUs: no multiple\n");
}

}  // namespace
}  // namespace hbench::terminal_test
