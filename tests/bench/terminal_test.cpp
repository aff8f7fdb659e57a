#include "bench/output/terminal.hpp"

#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

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

}  // namespace
}  // namespace hbench
