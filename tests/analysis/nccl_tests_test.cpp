#include "analysis/fit/imported_curve.hpp"

#include <fmt/format.h>

#include "collectives/base/text.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::nccl_tests_test {
namespace {

/// As `hbench calibrate --from` reads it.
ImportedCurve parse_nccl_tests(const std::string& text, const std::string& file, int ranks = 0, int nodes = 0) {
  const ImportHints hints{.ranks = ranks, .nodes = nodes};
  return curve_of(find_import_format("nccl-tests").parse(text, file, hints), file, hints);
}

/// A table of an all-reduce on four GPUs of two nodes: `rows` is what follows its head.
std::string output_of(const std::string& rows, const std::string& prefix = "") {
  std::string text =
      "# nThread 1 nGpus 1 minBytes 8 maxBytes 4096 step: 2(factor) warmup iters: 5 iters: 20\n#\n# Using devices\n";
  for (int rank = 0; rank < 4; ++rank)
    text += fmt::format("#  Rank  {} Group  0 Pid   68{} on node-{} device  {} [0000:04:00] NVIDIA H100\n", rank, rank,
                        rank / 2, rank % 2);
  text +=
      "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw "
      "#wrong\n";
  text += rows + "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 0.5\n";
  std::string prefixed;
  for (const std::string_view line : lines_of(text)) prefixed += fmt::format("{}{}\n", prefix, line);
  return prefixed;
}

/// Out of place 10 % slower than in place, unless `wrong` says that data were.
std::string row(int size, double microseconds, const std::string& wrong = "0", const std::string& redop = "sum",
                double factor = 1.5) {
  const double algbw = size / microseconds / 1e3;
  // Where ranks have shares, the count is of one; and only a broadcast of these has a root.
  return fmt::format("  {} {}  float  {}  {}  {:.2f}  {:.6f}  {:.6f}  {}  {:.2f}  {:.6f}  {:.6f}  0\n", size,
                     factor < 1 ? size / 16 : size / 4, redop, factor == 1 ? 0 : -1, microseconds * 1.1, algbw / 1.1,
                     algbw * factor / 1.1, wrong, microseconds, algbw, algbw * factor);
}

const std::string kRows = row(1024, 20) + row(2048, 21) + row(4096, 22) + row(8192, 25);

std::vector<std::int64_t> sizes(const MeasuredCurve& curve) {
  std::vector<std::int64_t> all;
  for (const auto& point : curve.points) all.push_back(point.bytes);
  return all;
}

TEST(NcclTests, GiveTheSoonerTimeOfEachSizeAndTheWorldOfTheirDevices) {
  for (const char* prefix : {"", "0: ", " 12:", "[1,0]<stdout>:"}) {
    const ImportedCurve output = parse_nccl_tests(output_of(kRows, prefix), "ar.txt");
    EXPECT_EQ(output.curve.ranks, 4) << prefix;
    EXPECT_EQ(output.curve.nodes, 2) << prefix;
    EXPECT_EQ(output.curve.collective, CollectiveKind::all_reduce) << prefix;
    EXPECT_EQ(output.curve.algorithm, "vendor");
    EXPECT_THAT(sizes(output.curve), ElementsAre(1024, 2048, 4096, 8192)) << prefix;
    EXPECT_NEAR(output.curve.points[1].time.value, 21e-6, 1e-12) << prefix;
    EXPECT_THAT(output.notes, IsEmpty());
  }
}

TEST(NcclTests, NameTheirCollectiveOrShowItByTheirBusBandwidth) {
  const auto kind = [](const std::string& rows, const std::string& name = "") {
    return parse_nccl_tests((name.empty() ? "" : "# Collective test starting: " + name + "\n") + output_of(rows), "x")
        .curve.collective;
  };
  const auto rows = [](const std::string& redop, double factor) {
    std::string text;
    for (const int size : {1024, 2048, 4096, 8192}) text += row(size, 10 + size / 100.0, "0", redop, factor);
    return text;
  };
  EXPECT_EQ(kind(rows("none", 0.75), "all_gather_perf"), CollectiveKind::all_gather);
  EXPECT_EQ(kind(rows("sum", 0.75)), CollectiveKind::reduce_scatter);
  EXPECT_EQ(kind(rows("none", 1)), CollectiveKind::broadcast);
  EXPECT_EQ(kind(rows("sum", 1.5), "all_reduce_perf"), CollectiveKind::all_reduce);
  expect_error([&] { kind(rows("sum", 1.5), "all_gather_perf"); }, ExitCode::usage,
               "x:10: its busbw is 1.5 times size / time, and that of all_gather on 4 ranks is 0.75");
  expect_error([&] { kind(rows("sum", 1.5), "alltoall_perf"); }, ExitCode::usage,
               "x: hbench has no collective of alltoall_perf");
  expect_error(
      [&] { kind(rows("sum", 1.2)); }, ExitCode::usage,
      "x: its bus bandwidth is 1.2 times its algorithm's, which no collective of 4 ranks with these columns has");
}

TEST(NcclTests, LeaveOutWhatALargerSizeUndercuts) {
  const ImportedCurve output = parse_nccl_tests(output_of(row(512, 166) + kRows + row(0, 5)), "ar.txt");
  EXPECT_THAT(sizes(output.curve), ElementsAre(1024, 2048, 4096, 8192));
  EXPECT_THAT(output.notes,
              ElementsAre("Left out: 1 row of 0 bytes.", "Left out, since a larger size took less time: 512B."));
}

// Each is an iteration of one launch, as `hbench import` has it.
TEST(NcclTests, OfASizeThatIsRepeatedCountTheMedian) {
  const ImportedCurve output = parse_nccl_tests(output_of(kRows + row(8192, 24) + row(8192, 30)), "ar.txt");
  EXPECT_NEAR(output.curve.points.back().time.value, 25e-6, 1e-12);
}

TEST(NcclTests, HaveTheRanksThatAreGivenWhereDevicesAreNotListed) {
  const std::string bare = "# nThread 1 nGpus 1\n" + kRows;
  EXPECT_EQ(parse_nccl_tests(bare, "ar.txt", 4, 1).curve.nodes, 1);
}

TEST(NcclTests, ThatAreNoMeasurementNameTheirLine) {
  expect_error([] { parse_nccl_tests(output_of(kRows + row(16384, 30, "12")), "ar.txt"); }, ExitCode::usage,
               "ar.txt:13: 12 elements were wrong",
               "wrong data are no measurement: repair the machine, and measure again");
  expect_error([] { parse_nccl_tests(output_of("1024 256 float sum -1 x 1 1 0 1 1 1 0\n"), "ar.txt"); },
               ExitCode::usage, "ar.txt: none of its rows can be read (line 9: 'x' is no time)");
  expect_error([] { parse_nccl_tests(output_of("1024 256 float sum -1 -3 1 1 0 1 1 1 0\n"), "ar.txt"); },
               ExitCode::usage, "ar.txt: none of its rows can be read (line 9: its time is -3)");
  expect_error([] { parse_nccl_tests(output_of(kRows) + output_of(kRows), "ar.txt"); }, ExitCode::usage,
               "ar.txt: it has the same test 2 times", "give the file of one test");
  expect_error([] { parse_nccl_tests(output_of(""), "ar.txt"); }, ExitCode::usage, "ar.txt: it has no rows");
  expect_error([] { parse_nccl_tests(output_of(row(1024, 20) + row(2048, 21)), "ar.txt"); }, ExitCode::usage,
               "ar.txt: 2 of its sizes can be used, and a curve needs 4");
}

// Errors of older versions (1e-07) are no counts; cut anywhere, a text is read or refused.
TEST(NcclTests, AreReadOrRefusedWhereverTheyAreCut) {
  std::string text = output_of(row(1024, 20, "1e-07") + row(2048, 21, "0e+00") + kRows);
  EXPECT_NO_THROW(parse_nccl_tests(text, "ar.txt"));
  for (; !text.empty(); text.pop_back()) {
    try {
      parse_nccl_tests(text, "ar.txt");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage);
    }
  }
}

}  // namespace
}  // namespace hbench::nccl_tests_test
