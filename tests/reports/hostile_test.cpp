
#include <nlohmann/json.hpp>

#include "reports/formats/formats.hpp"
#include "reports/formats/gnuplot.hpp"
#include "reports/formats/plain_text.hpp"
#include "reports/formats/prepare.hpp"
#include "tests/reports/samples.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::hostile_test {
namespace {

const std::string kHostile[] = {"</script><script>alert(1)</script>",
                                "\"><img src=x onerror=alert(1)>",
                                "' onmouseover='alert(1)",
                                "<!--<script>",
                                "a\nb\r\n# c\n| d |",
                                "`touch x` $(touch x) @x \\",
                                "it's '; system 'touch x'; '",
                                "=HYPERLINK(\"http://x\")",
                                "+1+cmd|' /C calc'!A0",
                                "-2+3",
                                "@SUM(A1)",
                                "\t=1+1",
                                "[x](javascript:alert(1)) ![y](z) **b** _i_",
                                std::string("nul\0byte", 8),
                                "\xff\xfe broken \xc3( \xed\xa0\x80 \xf8",
                                "line\xe2\x80\xa8separator \xe2\x80\xaereversed",
                                "\x1b[2Jescape \xc2\x9b",
                                "../../etc/passwd"};

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t i = text.find(what); i != std::string::npos; i = text.find(what, i + 1)) ++found;
  return found;
}

TEST(Hostile, TextAddsNoElementToHtml) {
  const std::string plain = kHtmlFormat.render(document_saying("plain"));
  for (const std::string& text : kHostile) {
    const std::string page = kHtmlFormat.render(document_saying(text));
    for (const char* mark : {"<", ">", "<script", "</script", "<!--"})
      EXPECT_EQ(count(page, mark), count(plain, mark)) << mark << " in " << text;
    // A quote that got through would begin or end an attribute.
    for (const char* mark : {"=\"", "\">"}) EXPECT_EQ(count(page, mark), count(plain, mark)) << mark << " in " << text;
  }
}

TEST(Hostile, TextComesOutOfTheDataOfHtmlAsItWentIn) {
  const std::string open = "<script type=\"application/json\">";
  for (const std::string& text : kHostile) {
    const std::string page = kHtmlFormat.render(document_saying(text));
    const std::size_t begin = page.find(open) + open.size();
    const auto json = nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin));
    EXPECT_EQ(json["series"][0]["label"], clean_text(text));
    EXPECT_EQ(json["series"][0]["points"][0][5], clean_text(text));
    EXPECT_EQ(json["series"][0]["notes"][0], clean_text(text));
    EXPECT_EQ(json["lines"][0]["label"], clean_text(text));
  }
}

TEST(Hostile, TextAddsNoLineToAnyFormat) {
  for (const Format* format : formats()) {
    if (format == &kTextFormat) continue;  // it wraps
    const std::string plain = format->render(document_saying("plain"));
    for (const std::string& text : kHostile)
      EXPECT_EQ(count(format->render(document_saying(text)), "\n"), count(plain, "\n")) << format->name << ": " << text;
  }
}

TEST(Hostile, NoFormatWritesControlCharactersOrBrokenUtf8) {
  for (const Format* format : formats())
    for (const std::string& text : kHostile) {
      std::string bytes = format->render(document_saying(text));
      std::erase(bytes, '\n');
      EXPECT_EQ(clean_text(bytes), bytes) << format->name << ": " << text;
    }
}

TEST(Hostile, CsvDisarmsFormulasAndKeepsNumbers) {
  const auto cell = [](const std::string& text) {
    const Document document{.title = "", .blocks = {Table{"t", {"c"}, {{text}}}}};
    const std::string csv = kCsvFormat.render(document);
    return csv.substr(csv.find('\n') + 1);
  };
  EXPECT_EQ(cell("=1+1"), "t,c,cell,1,,,,\"'=1+1\"\n");
  EXPECT_EQ(cell(" @x"), "t,c,cell,1,,,,\"' @x\"\n");
  EXPECT_EQ(cell("-2+3"), "t,c,cell,1,,,,\"'-2+3\"\n");
  EXPECT_EQ(cell("|calc"), "t,c,cell,1,,,,\"'|calc\"\n");
  EXPECT_EQ(cell("%0A"), "t,c,cell,1,,,,\"'%0A\"\n");
  EXPECT_EQ(cell("50 %"), "t,c,cell,1,,,,50 %\n");
  EXPECT_EQ(cell("\t=a"), "t,c,cell,1,,,,\"' =a\"\n");
  EXPECT_EQ(cell("-2.5"), "t,c,cell,1,-2.5,,,-2.5\n");
  EXPECT_EQ(cell("a \"b\", c"), "t,c,cell,1,,,,\"a \"\"b\"\", c\"\n");
}

TEST(CsvField, IsQuotedWhereItWouldEndTheField) {
  EXPECT_EQ(csv_field("plain text"), "plain text");
  for (const char* text : {"a,b", "a;b", "a'b", "a\nb", "a\rb"})
    EXPECT_EQ(csv_field(text), '"' + std::string(text) + '"');
  EXPECT_EQ(csv_field("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(csv_field(""), "");
}

TEST(CsvField, LeavesNumbersAsTheyAre) {
  for (const char* number : {"-2.5", "-1e-9", "7"}) EXPECT_EQ(csv_field(number), number);
  EXPECT_EQ(csv_field("-inf"), "\"'-inf\"") << "no spreadsheet's number";
  EXPECT_EQ(csv_field(std::string_view("-25").substr(0, 2)), "-2") << "what follows the text is not read";
}

TEST(Hostile, MarkdownShowsItAsText) {
  const std::string markdown =
      kMarkdownFormat.render({.title = "t",
                              .blocks = {Paragraph{"<b> [x](y) *a* _b_ `c` | ~d~ & \\"}, Paragraph{"# x"},
                                         Paragraph{"12. x"}, Paragraph{"   - x"}}});
  EXPECT_EQ(
      markdown,
      "# t\n\n&lt;b&gt; \\[x\\](y) \\*a\\* \\_b\\_ \\`c\\` \\| \\~d\\~ &amp; \\\\\n\n\\# x\n\n12\\. x\n\n\\- x\n");
}

TEST(Hostile, MarkdownNotifiesNobodyAndDoesNothing) {
  const std::string markdown = kMarkdownFormat.render(
      {.title = "t", .blocks = {Paragraph{"@name, a@b, #12, @ # @! #x"}, Paragraph{"/close"}, Paragraph{"a / b"}}});
  EXPECT_EQ(markdown, "# t\n\n@&#8203;name, a@&#8203;b, #&#8203;12, @ # @! #x\n\n\\/close\n\na / b\n");
}

TEST(Hostile, GnuplotStringsHoldOnlyPairedQuotes) {
  for (const std::string& text : kHostile) {
    const Document document = drawable(document_saying(text));
    const auto charts = charts_of(document);
    const std::string script = gnuplot_script(*charts[0], Styles(charts), {"a.svg", "a.png"});
    bool inside = false;
    std::string outside;
    for (char c : script) {
      if (c == '\'') inside = !inside;
      ASSERT_FALSE(inside && c == '\n') << "a string runs over its line: " << script;
      if (!inside) outside += c;
    }
    EXPECT_FALSE(inside) << script;
    for (const char* command : {"system", "touch", "`", "alert", "\\ "}) EXPECT_THAT(outside, Not(HasSubstr(command)));
  }
}

TEST(Hostile, FileNamesOfChartsStayInTheirFolder) {
  const Document document = readable(document_saying("../../x y"));
  const auto charts = charts_of(document);
  ASSERT_EQ(charts.size(), 3u);
  EXPECT_EQ(charts[0]->id, "------x-y");
  EXPECT_EQ(charts[1]->id, "------x-y-2");
  EXPECT_EQ(charts[2]->id, "------x-y-3");
}

}  // namespace
}  // namespace hbench::hostile_test
