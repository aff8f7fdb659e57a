#include "analysis/published/published.hpp"

#include <sstream>

#include "analysis/statistics/statistics.hpp"
#include "collectives/base/error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::csv_test {
namespace {

using Fields = std::vector<std::string>;

std::vector<CsvRow> rows_of(const std::string& text) {
  std::istringstream in(text);
  return read_csv(in, "table.csv");
}

std::string error_of(const std::string& text) {
  try {
    rows_of(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "no error";
}

TEST(Csv, ReadsPlainAndQuotedFieldsWithTheirLines) {
  const auto rows = rows_of("a,b\r\n1,\"x, \"\"y\"\"\"\n\n\"two\nlines\",\n,last");
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].fields, (Fields{"a", "b"}));
  EXPECT_EQ(rows[1].fields, (Fields{"1", "x, \"y\""}));
  EXPECT_EQ(rows[2].fields, (Fields{"two\nlines", ""}));
  EXPECT_EQ(rows[3].fields, (Fields{"", "last"}));
  EXPECT_EQ(rows[1].line, 2u);
  EXPECT_EQ(rows[2].line, 4u);
  EXPECT_EQ(rows[3].line, 6u);
}

TEST(Csv, OfNothingHasNoRows) { EXPECT_TRUE(rows_of("").empty()); }

TEST(Csv, NamesFileAndLineOfWhatIsWrong) {
  EXPECT_EQ(error_of("a,b\n1,2\n1,2,3\n"), "table.csv:3: 3 fields, but the header has 2");
  EXPECT_EQ(error_of("a,b\n\"1\n2\",\"3"), "table.csv:3: a quoted field that begins here is never closed");
  EXPECT_EQ(error_of("a,b\n1,x\"y\"\n"), "table.csv:2: a quote within an unquoted field");
  EXPECT_EQ(error_of("a,b\n\"1\"x,2\n"), "table.csv:2: text after a closing quote");
  EXPECT_EQ(error_of("a,b\n1\r2,3\n"), "table.csv:2: a carriage return without a line feed");
}

std::string written(const std::vector<Fields>& table) {
  std::string text;
  for (const Fields& fields : table) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      text += i == 0 ? "\"" : ",\"";
      for (char c : fields[i]) text += c == '"' ? std::string("\"\"") : std::string(1, c);
      text += '"';
    }
    text += '\n';
  }
  return text;
}

TEST(Csv, ReadsBackWhateverWasQuoted) {
  Random random(5);
  const std::string letters = "ab,\"\n\r\\;\xff";
  for (int round = 0; round < 500; ++round) {
    std::vector<Fields> table(1 + random.below(4), Fields(1 + random.below(4)));
    for (Fields& fields : table) {
      fields.resize(table[0].size());
      for (std::string& field : fields)
        for (std::size_t i = random.below(6); i > 0; --i) field += letters[random.below(letters.size())];
    }
    const auto rows = rows_of(written(table));
    ASSERT_EQ(rows.size(), table.size());
    for (std::size_t i = 0; i < rows.size(); ++i) ASSERT_EQ(rows[i].fields, table[i]);
  }
}

TEST(Csv, TakesOrRefusesAnyTextButNeverBreaks) {
  Random random(6);
  const std::string letters = "a,\"\n\r";
  int taken = 0;
  for (int round = 0; round < 5000; ++round) {
    std::string text;
    for (std::size_t i = random.below(12); i > 0; --i) text += letters[random.below(letters.size())];
    try {
      const auto rows = rows_of(text);
      for (const CsvRow& row : rows) ASSERT_EQ(row.fields.size(), rows[0].fields.size());
      ++taken;
    } catch (const Error& error) {
      ASSERT_THAT(error.what(), StartsWith("table.csv:"));
    }
  }
  EXPECT_GT(taken, 500);
  EXPECT_LT(taken, 4500);
}

}  // namespace
}  // namespace hbench::csv_test
