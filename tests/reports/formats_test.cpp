#include "reports/formats/formats.hpp"

#include <set>

#include "collectives/base/error.hpp"
#include "reports/formats/gnuplot.hpp"
#include "reports/formats/html/assets.hpp"
#include "reports/formats/prepare.hpp"
#include "tests/reports/golden.hpp"
#include "tests/reports/samples.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::formats_test {
namespace {

std::string without(std::string text, std::string_view asset) {
  const std::size_t place = text.find(asset);
  EXPECT_NE(place, std::string::npos) << "the page lacks an asset";
  return place == std::string::npos ? text : text.replace(place, asset.size(), "...");
}

TEST(Golden, Markdown) { expect_golden("small.md", kMarkdownFormat.render(small_document())); }
TEST(Golden, Csv) { expect_golden("small.csv", kCsvFormat.render(small_document())); }
TEST(Golden, Text) { expect_golden("small.txt", kTextFormat.render(small_document())); }

TEST(Golden, HtmlWithoutItsAssets) {
  const std::string page = kHtmlFormat.render(small_document());
  expect_golden("small.html", without(without(without(page, kReportCss), kChartJs), kReportJs));
}

TEST(Golden, GnuplotScripts) {
  const Document document = drawable(small_document());
  const auto charts = charts_of(document);
  const Styles styles(charts);
  std::string scripts;
  for (const Chart* chart : charts) scripts += gnuplot_script(*chart, styles, {chart->id + ".svg", chart->id + ".png"});
  expect_golden("small.gnuplot", scripts);
}

TEST(Formats, HaveDistinctNamesExtensionsAndFiles) {
  std::set<std::string_view> names, extensions, files;
  for (const Format* format : formats()) {
    EXPECT_TRUE(names.insert(format->name).second) << format->name;
    EXPECT_TRUE(extensions.insert(format->extension).second) << format->name;
    EXPECT_TRUE(format->file.empty() || files.insert(format->file).second) << format->name;
    EXPECT_TRUE(format->extension.starts_with('.')) << format->name;
    EXPECT_TRUE(format->file.empty() || format->file.ends_with(format->extension)) << format->name;
    EXPECT_FALSE(format->summary.empty()) << format->name;
    EXPECT_EQ(&find_format(format->name), format);
  }
  EXPECT_EQ(files, (std::set<std::string_view>{"index.html", "report.md", "data.csv"}));
}

TEST(Formats, SuggestTheNameThatWasMeant) {
  try {
    find_format("htlm");
    FAIL() << "found a format that is none";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_STREQ(error.what(), "no format 'htlm'; did you mean 'html'?");
  }
}

TEST(Formats, RenderTheSameBytesTwice) {
  for (const Format* format : formats())
    EXPECT_EQ(format->render(rich_document()), format->render(rich_document())) << format->name;
}

TEST(Formats, ShowTitleAndVerdictOfADocumentWithoutCharts) {
  const Document document{.title = "Nothing yet", .blocks = {Verdict{"No results."}, ChartGroup{"Empty", {}}, Table{}}};
  for (const Format* format : formats()) {
    const std::string bytes = format->render(document);
    if (format == &kCsvFormat) {
      EXPECT_EQ(bytes, "chart,series,mark,x,y,low,high,note\n");
      continue;
    }
    EXPECT_THAT(bytes, HasSubstr("Nothing yet")) << format->name;
    EXPECT_THAT(bytes, HasSubstr("No results.")) << format->name;
  }
}

TEST(Html, AsksForNothingFromTheNetwork) {
  const std::string page = kHtmlFormat.render(rich_document());
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  for (const char* request : {" src=", "<link", "@import", "url("})
    EXPECT_THAT(page, Not(HasSubstr(request))) << request;
}

TEST(Html, CarriesItsAssetsByteForByte) {
  EXPECT_TRUE(kChartJs.starts_with("/*!\n * Chart.js v")) << "the licence must stay";
  EXPECT_TRUE(kReportCss.ends_with("}\n"));
  EXPECT_TRUE(kReportJs.ends_with("})();\n"));
  for (std::string_view script : {kChartJs, kReportJs}) EXPECT_EQ(script.find("</script"), std::string_view::npos);
}

/// Paper is narrow too: rules for small screens, which cut filters, must not reach it.
TEST(Html, KeepsRulesForSmallScreensOffPaper) {
  EXPECT_EQ(kReportCss.find("@media (max-width"), std::string_view::npos);
  EXPECT_NE(kReportCss.find("@media screen and (max-width"), std::string_view::npos);
  EXPECT_NE(kReportCss.find(".printing .chips { flex-wrap: wrap; gap: 0 .6rem; overflow: visible; }"),
            std::string_view::npos);
  EXPECT_NE(kReportJs.find("classList.add(\"printing\")"), std::string_view::npos);
}

TEST(CsvFormat, WritesEveryLineWithEightFields) {
  const std::string csv = kCsvFormat.render(rich_document());
  std::size_t commas = 0;
  bool quoted = false;
  for (char c : csv) {
    if (c == '"') quoted = !quoted;
    if (c == ',' && !quoted) ++commas;
    if (c != '\n') continue;
    ASSERT_EQ(commas, 7u);
    commas = 0;
  }
  EXPECT_FALSE(quoted);
}

}  // namespace
}  // namespace hbench::formats_test
