#include "reports/formats/text_table.hpp"

#include <sstream>

#include "reports/formats/plain_text.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::text_table_test {
namespace {

std::size_t widest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, text_width(line));
  return widest;
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

Table small_table() {
  return {.columns = {"name", numbers("step time (us)"), "note"},
          .rows = {{"ring", "12.5", "two words"}, {"ps", "7", "one"}}};
}

TEST(TextTable, IsAlignedAndAsWideAsItsCellsWhereThereIsRoom) {
  EXPECT_EQ(text_table(small_table(), 80),
            "name  step time (us)  note\n"
            "----  --------------  ---------\n"
            "ring            12.5  two words\n"
            "ps                 7  one\n");
  EXPECT_EQ(text_table(small_table(), 80), text_table(small_table(), kAnyWidth));
}

TEST(TextTable, ShowsItsFirstRowsWhereAllAreNotAskedFor) {
  Table table = small_table();
  table.first_rows = 1;
  EXPECT_EQ(text_table(table, 80),
            "name  step time (us)  note\n"
            "----  --------------  ---------\n"
            "ring            12.5  two words\n"
            "(1 of 2; --wide shows all)\n");
  EXPECT_EQ(text_table(table, kAnyWidth), text_table(small_table(), kAnyWidth));
  table.first_rows = 2;
  EXPECT_EQ(text_table(table, 80), text_table(small_table(), 80));
}

TEST(TextTable, ShowsTheFirstCellOfGroupedRowsOnceWhereLinesAreLimited) {
  Table table = small_table();
  table.columns.insert(table.columns.begin(), "group");
  table.rows = {{"first", "ring", "12.5", "one"}, {"first", "ps", "7", "two"}, {"second", "ring", "8", "three"}};
  table.grouped = true;
  EXPECT_EQ(text_table(table, 80),
            " name  step time (us)  note\n"
            " ----  --------------  -----\n"
            "first\n"
            " ring            12.5  one\n"
            " ps                 7  two\n"
            "second\n"
            " ring               8  three\n");
  EXPECT_EQ(text_table(table, kAnyWidth),
            "group   name  step time (us)  note\n"
            "------  ----  --------------  -----\n"
            "first   ring            12.5  one\n"
            "first   ps                 7  two\n"
            "second  ring               8  three\n");
  EXPECT_EQ(widest_line(text_table(table, 28)), 28U);
  EXPECT_LE(widest_line(text_table(table, 27)), 27U);
}

TEST(TextTable, WrapsNoHeadsThatFitOnceAColumnIsLeftOut) {
  Table table = small_table();
  table.columns[2].priority = 1;
  table.rows[0][2] = "a-note-of-one-long-word-that-does-not-wrap";
  EXPECT_EQ(text_table(table, 42),
            "name  step time (us)\n"
            "----  --------------\n"
            "ring            12.5\n"
            "ps                 7\n"
            "(not shown in 42 columns: note; --wide\n"
            "shows all)\n");
}

TEST(TextTable, WrapsItsHeadsFirst) {
  // 4 + 2 + 9 ("step time", over "(us)") + 2 + 9 = 26 columns.
  EXPECT_EQ(text_table(small_table(), 26),
            "name  step time  note\n"
            "           (us)\n"
            "----  ---------  ---------\n"
            "ring       12.5  two words\n"
            "ps            7  one\n");
}

TEST(TextTable, FitsExactlyAndNotOneColumnMore) {
  EXPECT_EQ(widest_line(text_table(small_table(), 31)), 31U) << "4 + 2 + 14 + 2 + 9";
  EXPECT_EQ(widest_line(text_table(small_table(), 30)), 30U) << "the head gave way";
  EXPECT_LE(widest_line(text_table(small_table(), 21)), 21U);
}

TEST(TextTable, WrapsTextButNeverBreaksAWordOrANumber) {
  const Table table{.columns = {numbers("n"), "what"},
                    .rows = {{"1000000", "a sentence of some length that has to be wrapped somewhere"}}};
  const std::string text = text_table(table, 40);
  EXPECT_EQ(widest_line(text), 40U);
  EXPECT_EQ(text,
            "      n  what\n"
            "-------  -------------------------------\n"
            "1000000  a sentence of some length that\n"
            "         has to be wrapped somewhere\n");
}

Table with_priorities() {
  return {.columns = {numbers("size"), numbers("algbw", 1), numbers("type", 2)},
          .rows = {{"1048576", "12345.67", "float32"}}};
}

TEST(TextTable, LeavesOutTheColumnOfTheLargestPriorityFirstAndNamesIt) {
  EXPECT_EQ(text_table(with_priorities(), 26),
            "   size     algbw     type\n"
            "-------  --------  -------\n"
            "1048576  12345.67  float32\n")
      << "7 + 2 + 8 + 2 + 7";
  const std::string one = text_table(with_priorities(), 25);
  EXPECT_EQ(one,
            "   size     algbw\n"
            "-------  --------\n"
            "1048576  12345.67\n"
            "(not shown in 25 columns:\n"
            "type; --wide shows all)\n");
  const std::string two = text_table(with_priorities(), 16);
  EXPECT_EQ(two,
            "   size\n"
            "-------\n"
            "1048576\n"
            "(not shown in 16\n"
            "columns: type,\n"
            "algbw; --wide\n"
            "shows all)\n");
  EXPECT_EQ(text_table(with_priorities(), kAnyWidth),
            "   size     algbw     type\n"
            "-------  --------  -------\n"
            "1048576  12345.67  float32\n");
}

TEST(TextTable, NeverLeavesOutAColumnWithoutAPriority) {
  Table table = with_priorities();
  for (TableColumn& column : table.columns) column.priority = 0;
  EXPECT_EQ(text_table(table, 10),
            "1048576\n"
            "  algbw  12345.67\n"
            "  type   float32\n")
      << "paragraphs where columns do not fit";
}

TEST(TextTable, BecomesParagraphsWhereCellsWouldHaveManyLines) {
  const Table table{.columns = {"name", "source"},
                    .rows = {{"ring", "word " + repeated(std::string(40, 'x') + " ", 6)}, {"b", ""}}};
  const std::string text = text_table(table, 70);
  EXPECT_THAT(text, StartsWith("ring\n  source  word"));
  EXPECT_THAT(text, EndsWith("\n\nb\n")) << "an empty cell has no line";
}

TEST(WrappedText, IndentsEveryLineButTheFirst) {
  EXPECT_EQ(wrapped_text("one two three", 9, 2), "one two\n  three");
  EXPECT_EQ(wrapped_text("one two three", kAnyWidth), "one two three");
  EXPECT_EQ(wrapped_text("", 10), "");
  EXPECT_EQ(wrapped_text("abcdefghij k", 4), "abcdefghij\nk") << "a long word stays whole";
}

}  // namespace
}  // namespace hbench::text_table_test
