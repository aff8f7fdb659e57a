// The forms of a check that other programs read, with text in them that somebody means ill with.

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "reports/formats/formats.hpp"
#include "reports/formats/plain_text.hpp"
#include "reports/trace/traced.hpp"
#include "reports/track/check.hpp"
#include "tests/support/hostile_text.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::track_outputs_test {
namespace {

/// A case of each verdict, and one that failed, with the text wherever text from outside goes.
TrackReport report_saying(const std::string& text) {
  TrackReport report;
  report.request.baseline = {{"branch", text}};
  report.head.version = "0.1.0";
  report.head.started_at = "2026-11-23T00:00:00Z";
  report.head.labels = {{"branch", text}};
  report.head.id = 7;
  report.runs = {report.head};
  for (const TrackVerdict verdict :
       {TrackVerdict::pass, TrackVerdict::improved, TrackVerdict::regressed, TrackVerdict::inconclusive,
        TrackVerdict::missing, TrackVerdict::fresh, TrackVerdict::incomparable}) {
    TrackedResult result;
    result.sides.name = fmt::format("{}, {} ranks", text, report.results.size() + 1);
    result.sides.question = "workload=" + text;
    result.sides.unit = "s";
    if (verdict == TrackVerdict::missing) {
      result.sides.failure = text;
      result.sides.failure_code = 5;
    }
    TrackJudgement& judged = result.judgement;
    judged.verdict = verdict;
    judged.reason = text;
    judged.next_step = text;
    result.changed = {text, text};
    if (verdict != TrackVerdict::missing && verdict != TrackVerdict::fresh && verdict != TrackVerdict::incomparable) {
      judged.before = 0.1;
      judged.after = 0.106;
      judged.shift = 0.06;
      judged.interval = {.low = 0.05, .high = 0.07};
      judged.runs = judged.baseline_launches = judged.head_launches = 10;
    }
    report.results.push_back(std::move(result));
  }
  return report;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t found = 0;
  for (std::size_t i = text.find(what); i != std::string::npos; i = text.find(what, i + 1)) ++found;
  return found;
}

/// What every form promises: clean text on as many lines as for plain text.
void expect_as_many_lines(const std::string& form, const std::string& plain, const std::string& text) {
  EXPECT_EQ(lines_of(form).size(), lines_of(plain).size()) << text;
  std::string bytes = form;
  std::erase(bytes, '\n');
  EXPECT_EQ(clean_text(bytes), bytes) << text;
}

TEST(TrackOutputs, JunitHoldsNoMarkOfATextAndOnlyCharactersThatXmlHas) {
  const std::string plain = track_junit(report_saying("plain"));
  EXPECT_THAT(plain, AllOf(HasSubstr("tests=\"7\" failures=\"1\" errors=\"1\" skipped=\"3\""), StartsWith("<?xml")));
  for (const std::string& text : kHostile) {
    const std::string form = track_junit(report_saying(text));
    expect_as_many_lines(form, plain, text);
    for (const char* mark : {"<", ">", "\"", "]]>"}) EXPECT_EQ(count(form, mark), count(plain, mark)) << text;
    EXPECT_THAT(form, AllOf(Not(HasSubstr("\xEF\xBF\xBE")), Not(HasSubstr("\xEF\xBF\xBF")))) << text;
  }
}

TEST(TrackOutputs, JunitShowsTextAsItIs) {
  EXPECT_THAT(track_junit(report_saying("<a> & \"b\" 'c' ]]>")),
              HasSubstr("name=\"&lt;a&gt; &amp; &quot;b&quot; 'c' ]]&gt;, 1 ranks\""));
  EXPECT_THAT(track_junit(report_saying("\xEF\xBF\xBE|\xEF\xBF\xBF|\xEF\xBF\xBC|\xC3\xA4")),
              HasSubstr("name=\"\xEF\xBF\xBD|\xEF\xBF\xBD|\xEF\xBF\xBC|\xC3\xA4, 1 ranks\""));
}

TEST(TrackOutputs, AnnotationsAreOneCommandALineEach) {
  const std::regex command("::(error|warning) title=[^:,]*::[^\n]*");
  const std::string plain = track_annotations(report_saying("plain"));
  EXPECT_EQ(lines_of(plain).size(), 4u) << "regressed, inconclusive, missing because it failed, incomparable";
  for (const std::string& text : kHostile) {
    const std::string form = track_annotations(report_saying(text));
    expect_as_many_lines(form, plain, text);
    for (const std::string& line : lines_of(form)) EXPECT_TRUE(std::regex_match(line, command)) << line;
  }
  EXPECT_THAT(track_annotations(report_saying("50%,::error")),
              HasSubstr("::error title=regressed%3A 50%25%2C%3A%3Aerror%2C 3 ranks::regressed by 6.0 %25: 106 ms, "
                        "before 100 ms; 50%25,::error. 50%25,::error 50%25,::error\n"));
}

TEST(TrackOutputs, CommandsAreStoppedByATokenThatNobodyForesees) {
  const auto [stop, resume] = without_commands();
  const std::regex token("::stop-commands::(hbench-[0-9a-f]{32})\n");
  std::smatch found;
  ASSERT_TRUE(std::regex_match(stop, found, token)) << stop;
  EXPECT_EQ(resume, fmt::format("::{}::\n", found[1].str()));
  EXPECT_NE(without_commands().first, stop);
}

TEST(TrackOutputs, PageBeginsWithTheCaseThatHasRegressedMost) {
  TrackReport report = report_saying("plain");
  const std::string rest =
      "1 incomparable, 1 missing, 1 inconclusive, 1 improved, 1 new, 1 pass, against 1 run with branch=plain.";
  const auto verdict = [&] { return std::get<Verdict>(track_document(report).blocks.front()).text; };
  EXPECT_EQ(verdict(),
            "plain, 3 ranks regressed by 6.0 %: 106 ms, before 100 ms. run 7 (branch=plain): 1 regressed, " + rest);
  TrackedResult slower = report.results[2];
  slower.sides.name = "rate";
  slower.sides.unit = "items/s";
  slower.judgement.shift = -0.099;
  slower.judgement.before = 1000;
  slower.judgement.after = 901;
  slower.judgement.against_limit = true;
  report.results.push_back(slower);
  EXPECT_EQ(
      verdict(),
      "rate regressed by 9.9 %: 901 items/s, limit 1000 items/s; and 1 more. run 7 (branch=plain): 2 regressed, " +
          rest);
}

TEST(TrackOutputs, MetricsHaveAFigureALine) {
  const std::string plain = track_metrics(report_saying("plain"));
  EXPECT_EQ(plain,
            "# TYPE hbench_track_seconds gauge\n"
            "# UNIT hbench_track_seconds seconds\n"
            "# HELP hbench_track_seconds Median over launches of the median iteration's time.\n"
            "hbench_track_seconds{case=\"plain, 1 ranks\"} 0.106\n"
            "hbench_track_seconds{case=\"plain, 2 ranks\"} 0.106\n"
            "hbench_track_seconds{case=\"plain, 3 ranks\"} 0.106\n"
            "hbench_track_seconds{case=\"plain, 4 ranks\"} 0.106\n"
            "# TYPE hbench_track_change_ratio gauge\n"
            "# UNIT hbench_track_change_ratio ratio\n"
            "# HELP hbench_track_change_ratio By which fraction the figure is above the baseline's (Hodges and "
            "Lehmann), or its limit.\n"
            "hbench_track_change_ratio{case=\"plain, 1 ranks\"} 0.06\n"
            "hbench_track_change_ratio{case=\"plain, 2 ranks\"} 0.06\n"
            "hbench_track_change_ratio{case=\"plain, 3 ranks\"} 0.06\n"
            "hbench_track_change_ratio{case=\"plain, 4 ranks\"} 0.06\n"
            "# TYPE hbench_track_cases gauge\n"
            "# HELP hbench_track_cases Cases with each verdict.\n"
            "hbench_track_cases{verdict=\"pass\"} 1\n"
            "hbench_track_cases{verdict=\"regressed\"} 1\n"
            "hbench_track_cases{verdict=\"improved\"} 1\n"
            "hbench_track_cases{verdict=\"inconclusive\"} 1\n"
            "hbench_track_cases{verdict=\"missing\"} 1\n"
            "hbench_track_cases{verdict=\"new\"} 1\n"
            "hbench_track_cases{verdict=\"incomparable\"} 1\n"
            "# EOF\n");
  const std::regex line("# .*|hbench_track_[a-z_]+\\{(case|verdict)=\"([^\"\\\\#]|\\\\[\\\\\"])*\"\\} [-+.e0-9]+");
  for (const std::string& text : kHostile) {
    const std::string form = track_metrics(report_saying(text));
    expect_as_many_lines(form, plain, text);
    for (const std::string& each : lines_of(form)) EXPECT_TRUE(std::regex_match(each, line)) << each;
    EXPECT_EQ(count(form, "# "), count(plain, "# ")) << text;
  }
}

TEST(TrackOutputs, FiguresThatAreNoTimesHaveTheirUnit) {
  TrackReport report = report_saying("plain");
  report.results[0].sides.unit = "B/s";
  report.results[1].sides.unit = "\"#1\"/s";
  EXPECT_THAT(track_metrics(report),
              AllOf(HasSubstr("\nhbench_track_value{case=\"plain, 1 ranks\",unit=\"B/s\"} 0.106\n"),
                    HasSubstr("\nhbench_track_value{case=\"plain, 2 ranks\",unit=\"\\\"\xEF\xBC\x83"
                              "1\\\"/s\"} 0.106\n"),
                    Not(HasSubstr("seconds{case=\"plain, 1 ranks\"}"))));
  EXPECT_THAT(track_junit(report), HasSubstr("name=\"plain, 1 ranks\" time=\"0\""));
}

TEST(TrackOutputs, MetricsLeaveOutWhatIsNoNumber) {
  TrackReport report = report_saying("plain");
  report.results[0].judgement.after = std::nan("");
  EXPECT_THAT(track_metrics(report), Not(HasSubstr("seconds{case=\"plain, 1 ranks\"}")));
  EXPECT_THAT(track_junit(report), AllOf(HasSubstr("time=\"0\""), Not(HasSubstr("nan"))));
}

TEST(TrackOutputs, JsonSaysWhatItWasGivenButForBrokenBytes) {
  for (const std::string& text : kHostile) {
    const auto json = nlohmann::json::parse(track_json(report_saying(text)));
    const std::string label = json.at("head").at("labels").at("branch");
    if (text.find("broken") == std::string::npos)
      EXPECT_EQ(label, text);
    else
      EXPECT_THAT(label, HasSubstr("\xEF\xBF\xBD"));
  }
}

TEST(TrackOutputs, MarkdownMentionsNobodyAndHoldsNoMarks) {
  const std::string plain = kMarkdownFormat.render(track_document(report_saying("plain")));
  for (const std::string& text : kHostile) {
    const std::string form = kMarkdownFormat.render(track_document(report_saying(text)));
    expect_as_many_lines(form, plain, text);
    EXPECT_EQ(count(form, "<"), count(plain, "<")) << text;
    EXPECT_THAT(form, AllOf(Not(HasSubstr("@everyone")), Not(HasSubstr("#1")))) << text;
    EXPECT_THAT(lines_of(form), Each(Not(StartsWith("/")))) << text;
    // Cells are as many as columns: each bar that is not escaped begins or ends one.
    const std::regex bar("(^|[^\\\\])\\|");
    const auto bars = [&](const std::string& of) {
      return std::distance(std::sregex_iterator(of.begin(), of.end(), bar), std::sregex_iterator());
    };
    EXPECT_EQ(bars(form), bars(plain)) << text;
  }
}

TEST(TrackOutputs, PageHoldsNoMarks) {
  const std::string plain = kHtmlFormat.render(track_document(report_saying("plain")));
  for (const std::string& text : kHostile) {
    const std::string form = kHtmlFormat.render(track_document(report_saying(text)));
    for (const char* mark : {"<", ">"}) EXPECT_EQ(count(form, mark), count(plain, mark)) << text;
  }
}

TEST(TraceDocument, NamesEachCaseAboveWhatIsKnownOfIt) {
  std::vector<TracedCase> cases(2);
  cases[0].name = "resnet18, 2 ranks, ring";
  cases[1].name = "resnet18, 4 ranks, ring";
  std::vector<std::string> headings;
  const Document document = trace_document(cases);
  for (const Block& block : document.blocks)
    if (const auto* heading = std::get_if<Heading>(&block)) headings.push_back(heading->text);
  EXPECT_THAT(headings, ElementsAre("resnet18, 2 ranks, ring", "resnet18, 4 ranks, ring"));
  EXPECT_TRUE(std::holds_alternative<Heading>(document.blocks.front()));
}

/// Steps of two ranks, of which one takes twice as long as the other, which waits.
TracedCase late_case(int steps, const char* method = "", int period = 1) {
  TracedCase traced;
  traced.asked.evidence = Evidence::measured;
  traced.asked.gpus = 2;
  traced.asked.strategy.method = method;
  traced.period = period;
  for (int i = 0; i < steps; ++i) {
    TracedStep& step = traced.steps.emplace_back();
    step.iteration = i;
    step.spans.push_back({.rank = 0, .kind = SpanKind::wait, .begin = Seconds(0.1), .end = Seconds(0.2)});
    for (const Rank rank : {0, 1})
      for (const SpanKind kind : {SpanKind::step, SpanKind::backward})
        step.spans.push_back(
            {.rank = rank, .kind = kind, .end = Seconds(kind == SpanKind::step ? 0.2 : 0.1 * (1 + rank))});
  }
  return traced;
}

TEST(TraceDocument, SaysHowManyStepsTellALateRankFromChance) {
  const auto text_of = [](const TracedCase& traced) { return kTextFormat.render(trace_document({traced})); };
  EXPECT_THAT(text_of(late_case(3)), HasSubstr("rank 1 is late in 3 of 3 steps"));
  EXPECT_THAT(text_of(late_case(2)),
              HasSubstr("2 traced steps are too few to tell a late rank from chance: sweep with --trace 3."));
  EXPECT_THAT(text_of(late_case(1, "local-sgd:4", 4)),
              HasSubstr("1 traced step is too few to tell a late rank from chance: sweep with --trace 12, 3 periods of "
                        "local-sgd:4."));
}

}  // namespace
}  // namespace hbench::track_outputs_test
