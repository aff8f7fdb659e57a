// Tables of collectives as they come: written again by other programs, half timed, wrapped, failed by their footer.

#include <fmt/format.h>

#include <algorithm>

#include "analysis/import/format.hpp"
#include "collectives/base/error.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::import_tables_test {
namespace {

ImportedOutput imported(const std::string& text, const ImportHints& hints = {}) {
  return recognise(text, "a.txt").parse(text, "a.txt", hints);
}

const ImportHints kEight{.collective = "all-reduce", .ranks = 8, .nodes = 1};

/// `1024: out_of_place_seconds 5e-05, ...`: the times of each case, or why it failed.
std::vector<std::string> times_of(const ImportedOutput& output) {
  std::vector<std::string> all;
  for (const CaseResult& each : output.cases) {
    std::string text =
        fmt::format("{}:{}", each.asked.collective.bytes, each.failure.empty() ? "" : " " + each.failure);
    for (const Sample& sample : each.samples)
      if (sample.unit == "s")
        text += fmt::format(" {} {:.4g}us", sample.metric.starts_with("in") ? "in" : "out", sample.value * 1e6);
    all.push_back(text);
  }
  return all;
}

std::string world_of(const ImportedOutput& output) {
  const Case& asked = output.cases.at(0).asked;
  return fmt::format("{} on {} ranks of {} nodes", asked.collective.name, asked.gpus, asked.nodes);
}

constexpr std::string_view kHead =
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw "
    "#wrong\n#        (B)    (elements)                     (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n";

std::string table_of(const std::string& rows, const std::string& footer = "") {
  return fmt::format("# all_reduce_perf\n{}{}{}", kHead, rows, footer);
}

TEST(ImportedTables, OfRcclTestsAsCsvHaveBothWaysApartAndTheirWorld) {
  const std::string rows =
      "0,\"AllReduce\",2,16,8,1,1048576,\"float\",\"sum\",0,46.200000,22.696451,42.555846,\"0\"\n"
      "0,\"AllReduce\",2,16,8,1,1048576,\"float\",\"sum\",1,46.000000,22.795130,42.740870,\"0\"\n"
      "1,\"AllReduce\",2,16,8,1,1048576,\"float\",\"sum\",0,47.200000,22.215593,41.654237,\"0\"\n"
      "1,\"AllReduce\",2,16,8,1,1048576,\"float\",\"sum\",1,47.000000,22.310128,41.831489,\"N/A\"\n";
  // Older versions do not name the nodes, and print them.
  for (const char* names :
       {"numCycle,collective,nodes,ranks,ranksPerNode,gpusPerRank,size,type,redop,inplace,time,algbw,busbw,#wrong\n",
        "numCycle,collective,ranks,rankspernode,gpusperrank,size,type,redop,inplace,time,algbw,busbw,#wrong\n"}) {
    const ImportedOutput output = imported(names + rows);
    EXPECT_THAT(times_of(output), ElementsAre("1048576: out 46.2us in 46us out 47.2us in 47us")) << names;
    EXPECT_EQ(world_of(output), "all-reduce on 16 ranks of 2 nodes") << names;
  }
  const ImportedOutput alone = imported(
      "numCycle,collective,gpus,size,type,redop,inplace,time,algbw,busbw,#wrong\n"
      "0,\"AllReduce\",8,1048576,\"float\",\"sum\",0,46.200000,22.696451,39.718790,\"0\"\n");
  EXPECT_EQ(world_of(alone), "all-reduce on 8 ranks of 0 nodes");
}

TEST(ImportedTables, ThatAnotherProgramWroteAgainKeepTheWayRanksAndNodes) {
  const std::string csv =
      "numCycle,collective,ranks,rankspernode,gpusperrank,size,type,redop,inplace,time,algbw,busbw,busbwfactor,#wrong\n"
      "0,AllReduce,8,1,1,1024,float,sum,0,50.0,0.02048,0.03584,1.75,0\n"
      "0,AllReduce,8,1,1,1024,float,sum,1,51.0,0.02008,0.03514,1.75,0\n";
  std::string blanks = csv;
  std::ranges::replace(blanks, ',', ' ');
  for (const std::string& text : {csv, blanks}) {
    const ImportedOutput output = imported(text);
    EXPECT_THAT(times_of(output), ElementsAre("1024: out 50us in 51us"));
    EXPECT_EQ(world_of(output), "all-reduce on 8 ranks of 8 nodes");
  }
  const ImportedOutput short_one =
      imported("size,type,redop,inplace,time,busbw\n1024,float,sum,1,51.0,0.0351\n", kEight);
  EXPECT_THAT(times_of(short_one), ElementsAre("1024: in 51us"));
}

TEST(ImportedTables, MayHaveQuotesAroundValues) {
  const ImportedOutput output =
      imported("size,type,redop,time,busbw\n\"1,048,576\",\"float\",\"sum\",\"148.2\",\"12.38\"\n", kEight);
  EXPECT_THAT(times_of(output), ElementsAre("1048576: out 148.2us"));
}

TEST(ImportedTables, KeepTheWayThatWasTimedAndNameTheOther) {
  const std::string good = "39.10 26.82 46.93 0", none = "N/A N/A N/A N/A", blank = "N/A", broken = "nan nan nan N/A";
  for (const std::string& bad : {none, blank, broken})
    for (const bool in_place : {true, false}) {
      const std::string row =
          fmt::format("1048576 262144 float sum -1 {} {}\n", in_place ? bad : good, in_place ? good : bad);
      const ImportedOutput output = imported(table_of(row), kEight);
      EXPECT_THAT(times_of(output), ElementsAre(fmt::format("1048576: {} 39.1us", in_place ? "in" : "out"))) << row;
      EXPECT_THAT(output.left_out, ElementsAre(HasSubstr(in_place ? "line 4: out of place: " : "line 4: in place: ")));
    }
}

TEST(ImportedTables, FailWhereTheirFooterSaysThatDataWereWrong) {
  const std::string rows = "1048576 262144 float sum -1 39.10 26.82 46.93 0 39.10 26.82 46.93 0\n";
  for (const char* check : {"Out of bounds values", "Bitwise mismatches"}) {
    const ImportedOutput output = imported(table_of(rows, fmt::format("# {} : 1 FAILED\n", check)), kEight);
    ASSERT_EQ(output.cases.size(), 1U);
    EXPECT_EQ(output.cases[0].status, CaseStatus::failed);
    EXPECT_EQ(output.cases[0].exit_code, static_cast<int>(ExitCode::wrong_data));
    EXPECT_EQ(output.cases[0].failure,
              fmt::format("a.txt:4: its footer says '{} : 1 FAILED', and no row which: all may be wrong", check));
    EXPECT_EQ(imported(table_of(rows, fmt::format("# {} : 0 OK\n", check)), kEight).cases[0].status, CaseStatus::done);
  }
}

TEST(ImportedTables, NameTheRowWhoseBitsDiffer) {
  const ImportedOutput output = imported(
      "# all_reduce_perf\n# size count type redop root time algbw busbw #wrong #bitdiff time algbw busbw #wrong "
      "#bitdiff\n"
      "1048576 262144 float sum -1 39.10 26.82 46.93 0 0 38.70 27.09 47.42 0 0\n"
      "1073741824 268435456 float sum -1 3961.2 271.06 474.36 0 77 3955.0 271.49 475.11 0 0\n"
      "# Bitwise mismatches   : 1 FAILED\n",
      kEight);
  EXPECT_THAT(times_of(output), ElementsAre("1048576: out 39.1us in 38.7us",
                                            "1073741824: a.txt:4: 77 bits differed when it was computed again"));
}

TEST(ImportedTables, ThatMayBeOfAnAllToAllAskForTheirName) {
  const std::string row = "1048576 32768 float none -1 18.00 58.25 50.97 0 17.90 58.58 51.26 0\n";
  const std::string bare = std::string(kHead) + row;
  expect_error([&] { imported(bare, {.ranks = 8, .nodes = 1}); }, ExitCode::usage,
               "a.txt: it does not name its test, and its columns are those of all_gather, alltoall, alltoallv",
               "if you know it, add --collective all-reduce, reduce-scatter, all-gather or broadcast");
  EXPECT_EQ(world_of(imported(bare, {.collective = "all-gather", .ranks = 8, .nodes = 1})),
            "all-gather on 8 ranks of 0 nodes");
}

/// What a terminal of that width shows.
std::string wrapped(const std::string& text, std::size_t width) {
  std::string all;
  std::size_t column = 0;
  for (const char c : text) {
    if (column == width && c != '\n') all += '\n', column = 0;
    all += c;
    column = c == '\n' ? 0 : column + 1;
  }
  return all;
}

TEST(ImportedTables, ThatATerminalHasWrappedAreRefusedForIt) {
  const std::string text = table_of(
      "     1048576        262144     float     sum      -1    39.10   26.82   46.93      0    39.10   26.82   46.93   "
      "   "
      "0\n");
  EXPECT_THAT(times_of(imported(text, kEight)), ElementsAre("1048576: out 39.1us in 39.1us"));
  for (const std::size_t width : {70U, 77U, 80U, 100U, 108U})
    expect_error([&] { imported(wrapped("# nThread 1\n" + text, width), kEight); }, ExitCode::usage,
                 HasSubstr(fmt::format("its table is wrapped at {} characters", width)),
                 HasSubstr("give the file that the program wrote"));
}

TEST(ImportedTables, NameTheColumnsThatTheyLack) {
  for (const auto& [names, what] :
       {std::pair{"size busbw algbw", "column type (it has size, busbw, algbw)"},
        {"| size | type | redop | time (ms) | algbw (GB/s) |", "column busbw (it has size, type, algbw, time, redop)"},
        {"size (B),time (us),algbw (GB/s),busbw (GB/s)", "column type (it has size, busbw, algbw, time)"},
        {"payload busbw algbw", "columns size and type (it has busbw, algbw)"}})
    expect_error([&] { imported(fmt::format("{}\n1048576 1 1 1\n", names)); }, ExitCode::usage,
                 fmt::format("a.txt: its table lacks the {}", what), HasSubstr("size type redop time busbw"));
}

TEST(ImportedTables, WithoutNamesSayThatTheirLastRowIsCut) {
  const ImportedOutput output = imported(
      "1048576 262144 float sum -1 39.10 26.82 46.93 0 39.10 26.82 46.93 0\n67108864 16777216 float sum\n", kEight);
  EXPECT_THAT(output.left_out, ElementsAre("line 2: it is cut off"));
}

}  // namespace
}  // namespace hbench::import_tables_test
