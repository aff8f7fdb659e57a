#include "bench/output/terminal.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <array>
#include <functional>

#include "bench/output/console.hpp"
#include "tests/analysis/child_process.hpp"

namespace hbench {
namespace {

/// What a program sees whose standard output is a terminal of so many columns.
std::string width_on_terminal(unsigned short columns) {
  return in_child([columns] {
    const winsize size{.ws_row = 24, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
    int ours = -1, theirs = -1;
    if (openpty(&ours, &theirs, nullptr, nullptr, &size) != 0) return std::string("no terminal can be made");
    dup2(theirs, STDOUT_FILENO);
    return std::to_string(terminal_width());
  });
}

TEST(TerminalWidth, IsThatOfTheTerminal) {
  EXPECT_EQ(width_on_terminal(133), "133");
  EXPECT_EQ(width_on_terminal(41), "41");
  EXPECT_EQ(width_on_terminal(20), "40");
}

TEST(TerminalWidth, IsTheUsualOneWhereNobodyKnowsIt) {
  EXPECT_EQ(width_on_terminal(0), "80");
  const auto into_a_pipe = [] {
    int ends[2];
    if (pipe(ends) != 0) return std::string("no pipe");
    dup2(ends[1], STDOUT_FILENO);
    return std::to_string(terminal_width());
  };
  EXPECT_EQ(in_child(into_a_pipe), "80");
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

void work(bool quiet) {
  Progress progress(10, quiet);
  progress.doing("first");
  progress.done(5, "first is done");
  progress.note("a word");
}

TEST(ProgressLine, IsDrawnAnewOnATerminalAndGoesAtTheEnd) {
  const std::string again = "\r\033[K";
  EXPECT_EQ(standard_error(true, [] { work(false); }), again + "[  0 %] first, about 10 s left" + again +
                                                           "[ 50 %] first" + again + "a word\r\n" + again +
                                                           "[ 50 %] first" + again);
}

TEST(ProgressLine, SaysOnlyWhatIsDoneWhereNobodyKnowsHowMuchThereIs) {
  const auto endless = [] {
    Progress progress(0, false);
    progress.doing("first");
  };
  EXPECT_EQ(standard_error(true, endless), "\r\033[Kfirst\r\033[K");
  EXPECT_EQ(standard_error(false, endless), "");
}

TEST(ProgressLine, IsALineForEachThatIsDoneWhereThereIsNoTerminal) {
  EXPECT_EQ(standard_error(false, [] { work(false); }), "[ 50 %] first is done\na word\n");
}

TEST(ProgressLine, IsNoneWhereQuietIsAskedFor) {
  const auto quietly = [] {
    work(true);
    fmt::print(stderr, "end");
  };
  EXPECT_EQ(standard_error(true, quietly), "end");
  EXPECT_EQ(standard_error(false, quietly), "end");
}

}  // namespace
}  // namespace hbench
