#include "reports/write_report.hpp"

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <fstream>
#include <set>

#include "collectives/base/error.hpp"
#include "tests/reports/run_gnuplot.hpp"
#include "tests/reports/samples.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::write_report_test {
namespace {

namespace fs = std::filesystem;

class WriteReport : public testing::Test {
 protected:
  static std::set<std::string> files_in(const fs::path& folder) {
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (!entry.is_directory()) names.insert(fs::relative(entry.path(), folder).string());
    return names;
  }

  const TemporaryFolder own_;
  const fs::path& folder_ = own_.path();
};

int no_gnuplot(const std::vector<std::string>&, const std::string&) { return 127; }
int broken_gnuplot(const std::vector<std::string>&, const std::string&) { return 1; }

/// Writes what gnuplot would: some bytes into each `set output '<file>'`.
int obedient_gnuplot(const std::vector<std::string>&, const std::string& script) {
  const std::string command = "set output '";
  for (std::size_t i = script.find(command); i != std::string::npos; i = script.find(command, i + 1)) {
    const std::size_t begin = i + command.size();
    std::ofstream(script.substr(begin, script.find('\'', begin) - begin)) << "picture";
  }
  return 0;
}

const std::set<std::string> kDocuments{"index.html", "report.md", "data.csv", ".hbench-report"};

TEST_F(WriteReport, WritesDocumentsAndPicturesAndLeavesNothingElse) {
  EXPECT_EQ(write_report(small_document(), folder_ / "new" / "report", obedient_gnuplot), "");
  std::set<std::string> expected = kDocuments;
  for (const char* chart : {"efficiency", "step-time", "panels", "empty"})
    for (const char* extension : {".svg", ".png"}) expected.insert(std::string("charts/").append(chart) + extension);
  EXPECT_EQ(files_in(folder_ / "new" / "report"), expected);
}

TEST_F(WriteReport, StartsOneGnuplotForAllCharts) {
  int started = 0;
  write_report(rich_document(), folder_, [&](const auto& argv, const auto& script) {
    ++started;
    EXPECT_THAT(argv, ElementsAre("gnuplot", "-d", "-"));
    return obedient_gnuplot(argv, script);
  });
  EXPECT_EQ(started, 1);
}

TEST_F(WriteReport, WarnsWithoutGnuplotAndStillWritesTheRest) {
  EXPECT_EQ(write_report(small_document(), folder_, no_gnuplot),
            "charts were not drawn as SVG and PNG: gnuplot is not installed");
  EXPECT_EQ(files_in(folder_), kDocuments);
}

TEST_F(WriteReport, WarnsWhenGnuplotFails) {
  EXPECT_EQ(write_report(small_document(), folder_, broken_gnuplot),
            "charts were not all drawn as SVG and PNG: gnuplot ended with exit code 1");
  EXPECT_EQ(files_in(folder_), kDocuments);
}

TEST_F(WriteReport, WarnsWhenAPictureIsMissingThoughGnuplotSaysGood) {
  const auto lazy = [](const auto&, const auto&) { return 0; };
  EXPECT_THAT(write_report(small_document(), folder_, lazy),
              AllOf(HasSubstr("gnuplot could not write them into"), HasSubstr("TMPDIR")));
}

TEST_F(WriteReport, LeavesNoPictureOfAnEarlierReportWhereNoneIsDrawn) {
  write_report(small_document(), folder_, obedient_gnuplot);
  write_report(small_document(), folder_, broken_gnuplot);
  EXPECT_EQ(files_in(folder_), kDocuments);
}

TEST_F(WriteReport, DoesNotWaitForAListOfItsFilesThatIsAPipe) {
  ASSERT_EQ(mkfifo((folder_ / ".hbench-report").c_str(), 0600), 0);
  EXPECT_NO_THROW(check_report_files(folder_));
}

TEST_F(WriteReport, StartsNoGnuplotWithoutCharts) {
  const Document document{.title = "t", .blocks = {Paragraph{"p"}}};
  const auto runner = [](const auto&, const auto&) {
    ADD_FAILURE() << "nothing to draw";
    return 0;
  };
  EXPECT_EQ(write_report(document, folder_, runner), "");
}

TEST_F(WriteReport, NamesTheFolderThatCannotBeMade) {
  std::ofstream(folder_ / "file") << "in the way";
  try {
    write_report(small_document(), folder_ / "file" / "report", obedient_gnuplot);
    FAIL() << "wrote into a file";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::environment);
    EXPECT_THAT(error.what(), HasSubstr((folder_ / "file" / "report").string()));
    EXPECT_FALSE(error.hint().empty());
  }
}

TEST_F(WriteReport, KeepsTheOldReportWhenItCannotWrite) {
  write_report(small_document(), folder_, obedient_gnuplot);
  const std::string before = bytes_of(folder_ / "index.html");
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit small{.rlim_cur = 1000, .rlim_max = limit.rlim_max};
  const auto on_limit = std::signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  try {
    write_report(rich_document(), folder_, obedient_gnuplot);
    ADD_FAILURE() << "did not notice";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::environment);
    EXPECT_THAT(error.what(), HasSubstr(": File too large"));
  }
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, on_limit);
  EXPECT_EQ(bytes_of(folder_ / "index.html"), before);
}

TEST_F(WriteReport, ReplacesOnlyWhatAReportHasWritten) {
  for (const std::string name : {"index.html", "report.md", "data.csv", "charts/efficiency.png"}) {
    const fs::path folder = folder_ / fs::path(name).stem();
    fs::create_directories(folder / "charts");
    std::ofstream(folder / name) << "precious";
    try {
      write_report(small_document(), folder, obedient_gnuplot);
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
      EXPECT_THAT(error.what(), HasSubstr(name + " is there, and no report of hbench has written it"));
    }
    EXPECT_EQ(bytes_of(folder / name), "precious");
    fs::remove(folder / name);
    write_report(small_document(), folder, obedient_gnuplot);
    EXPECT_EQ(write_report(small_document(), folder, obedient_gnuplot), "") << "its own";
    EXPECT_NO_THROW(check_report_files(folder));
  }
}

class Gnuplot : public WriteReport {
 protected:
  void SetUp() override {
    if (run_gnuplot({"gnuplot", "-d", "-"}, "") == 127) GTEST_SKIP() << "gnuplot is not installed";
  }
};

TEST_F(Gnuplot, DrawsTheSameBytesTwice) {
  EXPECT_EQ(write_report(small_document(), folder_ / "a", run_gnuplot), "");
  EXPECT_EQ(write_report(small_document(), folder_ / "b", run_gnuplot), "");
  for (const std::string& name : files_in(folder_ / "a"))
    EXPECT_EQ(bytes_of(folder_ / "a" / name), bytes_of(folder_ / "b" / name)) << name;
}

TEST_F(Gnuplot, DrawsHostileTextAsText) {
  const std::string text = "it's \\n `touch pwned` <script> & {/Bold x} @x \"; system('touch pwned')";
  EXPECT_EQ(write_report(document_saying(text), folder_ / "it's", run_gnuplot), "");
  const std::string svg = bytes_of(folder_ / "it's" / "charts" /
                                   "it-s--n--touch-pwned---script------Bold-x---x----system--touch-pwned--.svg");
  EXPECT_THAT(svg, HasSubstr("it's \\n `touch pwned` &lt;script"));
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
  EXPECT_FALSE(fs::exists("pwned"));
}

TEST_F(Gnuplot, DrawsOnePointNoPointAndNegativeFigures) {
  const auto chart = [](const char* id, bool log2, std::vector<ChartPoint> points) {
    return Chart{.id = id, .title = id, .x_log2 = log2, .series = {{.label = "s", .points = std::move(points)}}};
  };
  const Document document{
      .title = "t",
      .blocks = {chart("one", false, {{3, 0, {}, {}, ""}}), chart("one-log", true, {{3, 2, {}, {}, ""}}),
                 chart("none", true, {}), chart("negative", false, {{-1, -5, -6.0, {}, ""}, {1, 5, {}, {}, ""}}),
                 chart("huge", true, {{1, 1e300, {}, {}, ""}, {1e9, 1e-300, {}, {}, ""}})}};
  EXPECT_EQ(write_report(document, folder_, run_gnuplot), "");
}

}  // namespace
}  // namespace hbench::write_report_test
