// What hbench collective printed, as a curve for a profile.

#include "analysis/fit/imported_curve.hpp"

#include <nlohmann/json.hpp>

#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::collective_output_test {
namespace {

using testing::_;
using Json = nlohmann::json;

Json row(std::int64_t bytes, double seconds) {
  return {{"collective", "all-reduce"},
          {"peer", false},
          {"ranks", 4},
          {"algorithm", "ring"},
          {"compressor", "none"},
          {"servers", nullptr},
          {"size", bytes},
          {"status", "done"},
          {"in_place_seconds", seconds},
          {"in_place_wrong", 0},
          {"evidence", "measured"},
          {"nodes", 2}};
}

Json output(const std::vector<Json>& rows) { return {{"command", "hbench collective --json"}, {"results", rows}}; }

const std::vector<Json> kRows{row(1024, 20e-6), row(2048, 21e-6), row(4096, 22e-6), row(8192, 25e-6)};

/// The rows with one field of the second changed.
std::string with(const char* field, const Json& value) {
  std::vector<Json> rows = kRows;
  rows[1][field] = value;
  return output(rows).dump();
}

TEST(CollectiveOutput, GivesTheTimesInPlaceAndWhereTheyWereMeasured) {
  const std::string text = output(kRows).dump(1);
  ASSERT_TRUE(is_collective_output(text));
  const ImportedCurve imported = parse_collective_output(text, "two.json");
  EXPECT_EQ(imported.curve.collective, CollectiveKind::all_reduce);
  EXPECT_EQ(imported.curve.algorithm, "ring");
  EXPECT_EQ(imported.curve.ranks, 4);
  EXPECT_EQ(imported.curve.nodes, 2);
  ASSERT_EQ(imported.curve.points.size(), 4U);
  EXPECT_EQ(imported.curve.points[3].bytes, 8192);
  EXPECT_DOUBLE_EQ(imported.curve.points[3].time.value, 25e-6);
  EXPECT_THAT(imported.notes, IsEmpty());
  EXPECT_EQ(parse_collective_output(text, "two.json", 0, 4).curve.nodes, 4);
}

TEST(CollectiveOutput, LeavesOutPeersOtherCountsAndWhatTookLongerThanALargerSize) {
  std::vector<Json> rows = kRows;
  rows.push_back(row(512, 90e-6));
  rows.push_back(row(8192, 1));
  rows.back()["peer"] = true;
  rows.push_back(row(8192, 2));
  rows.back()["ranks"] = 8;
  const ImportedCurve imported = parse_collective_output(output(rows).dump(), "two.json", 4);
  EXPECT_EQ(imported.curve.points.size(), 4U);
  EXPECT_THAT(imported.notes, ElementsAre("Left out, since a larger size took less time: 512B."));
}

TEST(CollectiveOutput, SaysWhatIsNoMeasurementOfOneCollective) {
  const auto refused = [](const std::string& text, const char* what, const char* hint) {
    expect_error([&] { parse_collective_output(text, "two.json"); }, ExitCode::usage, HasSubstr(what), HasSubstr(hint));
  };
  refused(with("evidence", "simulated"), "two.json: its 2048 B are simulated", "");
  refused(with("status", "failed"), "its 2048 B have failed", "measure them again");
  refused(with("in_place_wrong", 3), "its 2048 B have failed, were wrong", "measure them again");
  refused(with("in_place_wrong", nullptr), "or were not checked", "measure them again");
  refused(with("compressor", "fp16"), "no curves of compressors", "without them");
  refused(with("servers", 2), "parameter servers", "without them");
  refused(with("algorithm", "torus"), "it has several algorithms: ring, torus", "--algorithm with one");
  refused(with("collective", "broadcast"), "several collectives: all-reduce, broadcast", "--collective with one");
  refused(with("ranks", 8), "several numbers of ranks: 4, 8", "--ranks with one");
  refused(with("nodes", 1), "several numbers of nodes: 1, 2", "--nodes");
  refused(output({}).dump(), "no rows of ours", "--json");
  refused(output({kRows[0], kRows[1], kRows[2]}).dump(), "3 of its sizes can be used, and a curve needs 4", "-b 1K");
  refused(with("size", "many"), "two.json: results[1].size (\"many\") is no number", "");
  refused("{\"hbench collective", "two.json:1: its JSON is cut off here", "");
  EXPECT_FALSE(is_collective_output("workload,profile\n"));
  EXPECT_FALSE(is_collective_output("{\"results\": []}"));
}

}  // namespace
}  // namespace hbench::collective_output_test
