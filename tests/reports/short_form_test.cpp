#include "reports/short_form.hpp"

#include "reports/formats/formats.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::short_form_test {
namespace {

Document long_document(std::size_t rows) {
  Table table{.caption = "Rows", .columns = {numbers("number"), "text"}};
  Warnings warnings;
  for (std::size_t row = 1; row <= rows; ++row) {
    table.rows.push_back({std::to_string(row), "some words of a row"});
    warnings.texts.push_back("warning " + std::to_string(row));
  }
  return {.title = "t",
          .blocks = {Verdict{"the answer"}, warnings, Chart{.id = "c", .title = "a chart"},
                     ChartGroup{"group", {Chart{.id = "d", .title = "another chart"}}}, table}};
}

TEST(ShortForm, LeavesRowsOutUntilItFitsAndSaysSo) {
  const std::string text = render_within(800, long_document(200), kMarkdownFormat);
  EXPECT_LE(text.size(), 800u);
  EXPECT_THAT(text, HasSubstr("the answer"));
  EXPECT_THAT(text, HasSubstr("Rows (the first 8 of 200 rows)"));
  EXPECT_THAT(text, HasSubstr("| 8 |"));
  EXPECT_THAT(text, Not(HasSubstr("| 9 |")));
  EXPECT_THAT(text, HasSubstr("192 more"));
}

TEST(ShortForm, IsWholeWhereItFitsButForCharts) {
  const std::string text = render_within(100'000, long_document(60), kMarkdownFormat);
  EXPECT_THAT(text, HasSubstr("| 60 |"));
  EXPECT_THAT(text, Not(HasSubstr("the first")));
  EXPECT_THAT(text, Not(HasSubstr("more")));
  EXPECT_THAT(text, Not(HasSubstr("chart")));
}

TEST(ShortForm, IsLeftAsItIsWhereTheWholeFits) {
  const Document document = long_document(90);
  const std::string whole = kMarkdownFormat.render(document);
  EXPECT_EQ(render_fitting(whole.size(), document, kMarkdownFormat), whole);
  EXPECT_EQ(render_fitting(whole.size() - 1, document, kMarkdownFormat),
            render_within(whole.size() - 1, document, kMarkdownFormat));
}

TEST(ShortForm, LeavesCellsOf120BytesWhole) {
  const auto shown = [](std::size_t bytes) {
    const Document document{.title = "t", .blocks = {Table{"c", {"a"}, {{std::string(bytes, 'x')}}}}};
    return render_within(100'000, document, kMarkdownFormat);
  };
  EXPECT_THAT(shown(120), Not(HasSubstr("...")));
  EXPECT_THAT(shown(121), HasSubstr("..."));
}

TEST(ShortForm, ClipsLongCellsBetweenCodePoints) {
  std::string cell = "x";
  for (int i = 0; i < 100; ++i) cell += "\u00e4";
  const Document document{.title = "t", .blocks = {Table{"c", {"a"}, {{cell}}}}};
  const std::string text = render_within(100'000, document, kMarkdownFormat);
  EXPECT_LT(text.size(), 200u);
  EXPECT_THAT(text, HasSubstr("..."));
  EXPECT_THAT(text, Not(HasSubstr("\uFFFD")));
}

}  // namespace
}  // namespace hbench::short_form_test
