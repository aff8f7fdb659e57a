#include "reports/formats/prepare.hpp"

#include <cmath>
#include <set>

#include "collectives/base/error.hpp"
#include "reports/formats/formats.hpp"
#include "reports/formats/gnuplot.hpp"
#include "reports/formats/plain_text.hpp"
#include "reports/formats/style.hpp"
#include "tests/reports/samples.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::prepare_test {
namespace {

const Chart& first_chart(const Document& document) { return *charts_of(document).front(); }

Document with_holes() {
  return {.title = "holes",
          .blocks = {Chart{.id = "c",
                           .title = "c",
                           .x_log2 = true,
                           .series = {{.label = "s",
                                       .points = {{1, 1, NAN, 2.0, ""},
                                                  {2, NAN, {}, {}, "lost"},
                                                  {4, INFINITY, {}, {}, ""},
                                                  {-INFINITY, 1, {}, {}, ""},
                                                  {0, 1, {}, {}, ""},
                                                  {8, 3, {}, {}, ""}}}},
                           .caption = "Caption."}}};
}

TEST(Prepare, DropsWhatCannotBeDrawnAndSaysSo) {
  const Document document = drawable(with_holes());
  const auto& points = first_chart(document).series[0].points;
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0].x, 1);
  EXPECT_FALSE(points[0].low) << "a limit that is not a number is none";
  EXPECT_EQ(points[0].high, 2.0);
  EXPECT_EQ(points[1].x, 8);
  EXPECT_EQ(first_chart(document).caption, "Caption. 4 points without a finite place are not shown.");
}

TEST(Prepare, DropsWhatALogarithmicAxisHasNoPlaceFor) {
  const Chart chart{.id = "c",
                    .title = "c",
                    .y_log10 = true,
                    .series = {{.label = "s", .points = {{1, 0, {}, {}, ""}, {2, 5, 0.0, 9.0, ""}}}}};
  const Document document = drawable({.title = "", .blocks = {chart}});
  const auto& points = first_chart(document).series[0].points;
  ASSERT_EQ(points.size(), 1u);
  EXPECT_FALSE(points[0].low);
  EXPECT_EQ(points[0].high, 9.0);
  EXPECT_THAT(kHtmlFormat.render(document), HasSubstr("\"yLog10\":true"));
  EXPECT_THAT(gnuplot_script(first_chart(document), Styles(charts_of(document)), {"a.svg", "a.png"}),
              HasSubstr("set logscale y 10\n"));
}

TEST(Prepare, ChangesNothingTheSecondTime) {
  const Document once = drawable(with_holes());
  EXPECT_EQ(first_chart(drawable(once)).caption, first_chart(once).caption);
  for (const Format* format : formats())
    EXPECT_EQ(format->render(readable(rich_document())), format->render(rich_document())) << format->name;
}

TEST(Prepare, LeavesHolesInTheDataForThoseWhoCompute) {
  EXPECT_EQ(kCsvFormat.render(with_holes()),
            "chart,series,mark,x,y,low,high,note\n"
            "c,s,simulated,1,1,,2,\n"
            "c,s,simulated,2,,,,\"lost; not finite\"\n"
            "c,s,simulated,4,,,,not finite\n"
            "c,s,simulated,,1,,,not finite\n"
            "c,s,simulated,0,1,,,\n"
            "c,s,simulated,8,3,,,\n"
            "c,,caption,,,,,Caption.\n");
}

TEST(Prepare, FillsShortRowsAndCutsLongOnes) {
  const Document document = readable({.title = "", .blocks = {Table{"", {"a", "b"}, {{"1"}, {"1", "2", "3"}}}}});
  const auto& table = std::get<Table>(document.blocks[0]);
  EXPECT_THAT(table.rows, ElementsAre(ElementsAre("1", ""), ElementsAre("1", "2")));
}

TEST(ChartTable, HasARowPerSeriesAndAColumnPerPlace) {
  const Document document = drawable(small_document());
  const Table table = chart_table(first_chart(document));
  EXPECT_THAT(titles_of(table), ElementsAre("series", "evidence", "1", "2", "4", "8"));
  EXPECT_THAT(table.rows[1], ElementsAre("ring (simulated)", "simulated", "100.0 %", "", "", "75.0 % (70.0 to 80.0)"));
}

TEST(ChartTable, HasARowPerPointOfManyPlacesAndReferenceLinesAtItsEnd) {
  Chart chart{.x_title = "date", .y_title = "ms", .x_dates = true, .lines = {{.label = "at most", .at = 3}}};
  chart.lines.push_back({.label = "by then", .at = 86400, .vertical = true});
  chart.series.push_back({.label = "runs", .mark = Mark::measured, .points = {}});
  for (int day = 0; day < 41; ++day) chart.series[0].points.push_back({86400.0 * day, 2, {}, {}, ""});
  const Table table = chart_table(chart);
  EXPECT_THAT(titles_of(table), ElementsAre("series", "evidence", "date", "ms"));
  ASSERT_EQ(table.rows.size(), 43u);
  EXPECT_THAT(table.rows[1], ElementsAre("runs", "measured", "1970-01-02 00:00", "2"));
  EXPECT_THAT(table.rows[41], ElementsAre("at most", "line at 3", "", ""));
  EXPECT_THAT(table.rows[42], ElementsAre("by then", "line at 1970-01-02 00:00 date", "", ""));
}

Chart with_points(std::size_t series, std::size_t points) {
  Chart chart{.id = "c", .title = "c"};
  for (std::size_t i = 0; i < series; ++i) {
    chart.series.push_back({.label = std::to_string(i), .points = {}, .shown = i == series - 1});
    for (std::size_t x = 0; x < points; ++x) {
      const double y = x == 777 ? 99 : x == 3333 ? -99 : static_cast<double>(x % 7);
      chart.series.back().points.push_back({static_cast<double>(x), y, {}, {}, ""});
    }
  }
  return chart;
}

TEST(Thin, KeepsThePeaksOfALongSeriesAndSaysSo) {
  const Document document = thinned({.blocks = {with_points(1, 5000)}});
  const Chart& chart = first_chart(document);
  const auto& points = chart.series[0].points;
  EXPECT_EQ(points.size(), 400u);
  EXPECT_TRUE(std::ranges::is_sorted(points, {}, &ChartPoint::x));
  EXPECT_EQ(std::ranges::max_element(points, {}, &ChartPoint::y)->x, 777);
  EXPECT_EQ(std::ranges::min_element(points, {}, &ChartPoint::y)->x, 3333);
  EXPECT_EQ(chart.caption, "400 of 5000 points are shown; hbench export writes all.");
  EXPECT_EQ(first_chart(thinned(document)).caption, chart.caption);
}

TEST(Thin, DropsHiddenSeriesBeyondWhatAnybodyLooksAt) {
  const Document document = thinned({.blocks = {with_points(100, 100)}});
  const Chart& chart = first_chart(document);
  EXPECT_EQ(chart.series.size(), 57u) << "105 each: points, and the label as 5 more";
  EXPECT_TRUE(chart.series.back().shown) << "the shown one is kept";
  EXPECT_EQ(chart.caption, "5700 of 10000 points are shown; hbench export writes all.");
}

TEST(Thin, CutsLongTablesAndWarnings) {
  const Document document =
      thinned({.blocks = {Table{.caption = "t", .rows = std::vector(1001, std::vector<std::string>())},
                          Warnings{std::vector<std::string>(1001, "w")}}});
  const auto& table = std::get<Table>(document.blocks[0]);
  EXPECT_EQ(table.rows.size(), 1000u);
  EXPECT_EQ(table.caption, "t: the first 1000 of 1001 rows; hbench export writes all");
  EXPECT_EQ(std::get<Warnings>(document.blocks[1]).texts.back(), "2 more");
}

TEST(Style, PanelsNeedNoDashesAndTintsHaveTheColoursOfSeries) {
  const Chart chart{
      .panels = true,
      .series = {{.label = "a", .group = "ring", .family = "slow"}, {.label = "b", .group = "ring", .family = "fast"}}};
  Styles styles({&chart});
  styles.add_tints({.tints = {{{.group = "ring", .strength = 1}, {.group = "ps", .strength = 1}}}});
  EXPECT_EQ(styles.of(chart, chart.series[1]).dash, 0);
  EXPECT_EQ(styles.colour_of("ring").light, styles.of(chart, chart.series[0]).colour.light);
  EXPECT_NE(styles.colour_of("ps").light, styles.colour_of("ring").light);
}

TEST(Style, GroupsShareAColourAndFamiliesADash) {
  Chart chart{.series = {{.label = "a", .group = "ring", .family = "slow"},
                         {.label = "b", .group = "ring", .family = "fast"},
                         {.label = "c", .group = "ps", .family = "fast"},
                         {.label = "d", .mark = Mark::measured, .group = "ps", .family = "fast"},
                         {.label = "e", .mark = Mark::measured, .group = "other", .family = "slow"},
                         {.label = "f", .mark = Mark::published, .group = "other", .family = "slow"}}};
  const Styles styles({&chart});
  std::vector<SeriesStyle> looks;
  for (const Series& series : chart.series) looks.push_back(styles.of(chart, series));
  EXPECT_EQ(looks[0].colour.light, looks[1].colour.light);
  EXPECT_NE(looks[1].colour.light, looks[2].colour.light);
  EXPECT_EQ(looks[2].colour.light, looks[3].colour.light);
  EXPECT_EQ(looks[0].dash, 0);
  EXPECT_EQ(looks[1].dash, 1);
  EXPECT_EQ(looks[2].dash, 1);
  EXPECT_FALSE(looks[3].line) << "its model has the line";
  EXPECT_TRUE(looks[4].line) << "there is no model's line";
  EXPECT_FALSE(looks[5].line) << "published points are alone";
}

TEST(Style, ABandNeedsTwoIntervals) {
  const ChartPoint with{1, 1, 0.5, 1.5, ""}, without{2, 1, {}, {}, ""};
  const Chart chart{.series = {{.label = "one", .points = {with, without}}, {.label = "two", .points = {with, with}}}};
  const Styles styles({&chart});
  EXPECT_FALSE(styles.of(chart, chart.series[0]).band);
  EXPECT_TRUE(styles.of(chart, chart.series[1]).band);
}

TEST(Style, MoreGroupsThanColoursStillDiffer) {
  Chart chart;
  for (int i = 0; i < 14; ++i) chart.series.push_back({.label = std::to_string(i), .group = std::to_string(i)});
  const Styles styles({&chart});
  std::set<std::pair<std::string_view, int>> looks;
  for (const Series& series : chart.series) {
    const SeriesStyle style = styles.of(chart, series);
    looks.insert({style.colour.light, style.dash});
  }
  EXPECT_EQ(looks.size(), 14u);
}

TEST(Text, CleansBrokenUtf8AndControlCharacters) {
  EXPECT_EQ(clean_text("a\tb\nc\x7f"), "a b c ");
  EXPECT_EQ(clean_text("gr\xc3\xbc\xc3\x9f 90 \xe2\x82\xac \xf0\x9f\x9a\x80"),
            "gr\xc3\xbc\xc3\x9f 90 \xe2\x82\xac \xf0\x9f\x9a\x80");
  // The least and the largest of each length: U+00A0 (U+0080 is a control character), U+07FF, U+0800, U+FFFD, U+10000,
  // U+10FFFF.
  for (const char* edge :
       {"\xc2\xa0", "\xdf\xbf", "\xe0\xa0\x80", "\xef\xbf\xbd", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
    EXPECT_EQ(clean_text(edge), edge);
  EXPECT_EQ(clean_text("\xff|\xc0\xaf|\xe2\x82"), "\xEF\xBF\xBD|\xEF\xBF\xBD\xEF\xBF\xBD|\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(clean_text("a\xe2\x80\xa8z"), "a z");
  // Surrogates and their neighbours: U+D7FF, U+D800, U+DFFF, U+E000.
  EXPECT_EQ(clean_text("\xed\x9f\xbf|\xee\x80\x80"), "\xed\x9f\xbf|\xee\x80\x80");
  for (const char* surrogate : {"\xed\xa0\x80", "\xed\xbf\xbf"})
    EXPECT_EQ(clean_text(surrogate), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(Text, OfOneLineDoesNothingToATerminal) {
  EXPECT_EQ(one_line("a\tb\nc\x1b[31m\x7f"), "a b c [31m ");
  EXPECT_EQ(one_line("a\xc2\x9b"
                     "31m\xe2\x80\xa9z"),
            "a 31m z")
      << "U+009B and U+2029";
  EXPECT_EQ(one_line("\xe2\x80\xae|\xe2\x81\xa6|\x9b"
                     "31m"),
            "\xEF\xBF\xBD|\xEF\xBF\xBD|\xEF\xBF\xBD"
            "31m");
  for (const char* kept : {"gr\xc3\xbc\xc3\x9f", "\xc3\x9b", "\xc2\xa0", "\xe2\x80\xaf", "\xf0\x9f\x9a\x80"})
    EXPECT_EQ(one_line(kept), kept);
}

TEST(Text, FormatsFiguresForPeople) {
  EXPECT_EQ(format_figure(0.83449, true), "83.4 %");
  EXPECT_EQ(format_figure(61.25, false), "61.25");
  EXPECT_EQ(format_figure(123456.7, false), "123457");
  EXPECT_EQ(format_figure(128, false), "128");
  EXPECT_EQ(format_figure(NAN, true), "-");
  EXPECT_EQ(date_text(1764086400), "2025-11-25 16:00");
  EXPECT_EQ(date_text(-1), "1969-12-31 23:59");
  EXPECT_EQ(date_text(1e30), "1000000000000000019884624838656");
}

TEST(Text, PadsByWhatIsSeen) {
  EXPECT_EQ(padded("\xc3\xbc", 3, false), "\xc3\xbc  ");
  EXPECT_EQ(padded("12", 4, true), "  12");
  EXPECT_EQ(padded("long", 2, true), "long");
}

}  // namespace
}  // namespace hbench::prepare_test
