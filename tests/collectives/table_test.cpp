#include "collectives/base/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/base/toml_reader.hpp"
#include "collectives/fusion/fusion.hpp"
#include "collectives/placement/placement.hpp"
#include "tests/support/expect_error.hpp"

namespace hbench::table_test {
namespace {

constexpr std::array<std::string_view, 5> kNames{"ring", "ps", "vendor", "horovod", "horovod-2018"};

TEST(NearestName, ForgivesASlip) {
  EXPECT_EQ(nearest_name("rng", kNames), "ring");
  EXPECT_EQ(nearest_name("RING", kNames), "ring");
  EXPECT_EQ(nearest_name("venodr", kNames), "vendor");
  EXPECT_EQ(nearest_name("horovod2018", kNames), "horovod-2018");
  EXPECT_EQ(nearest_name("vendorxy", kNames), "vendor") << "two letters too many are two slips";
  EXPECT_EQ(nearest_name("vedr", kNames), "vendor") << "two letters too few as well";
  EXPECT_EQ(nearest_name("vendorwxyz", kNames), "") << "four are too many";
}

TEST(TomlText, IsReadBackAsWhatItWas) {
  EXPECT_EQ(toml_text(R"(a "quoted" \path\)"), R"("a \"quoted\" \\path\\")");
  EXPECT_EQ(toml_text("plain"), R"("plain")");
  EXPECT_EQ(toml_text("a\n\tb\r\x1b\x7f"), R"("a\n\tb\u000D\u001B\u007F")");
  const std::string command = "# a \"comment\"\nprintf 'took\t12\\n'\x01";
  EXPECT_EQ(parse_toml("run = " + toml_text(command), "x.toml")["run"].value<std::string>(), command);
}

TEST(NearestName, TakesABeginning) {
  EXPECT_EQ(nearest_name("ven", kNames), "vendor");
  EXPECT_EQ(nearest_name("horo", kNames), "horovod");
}

TEST(NearestName, IsSilentWhenNothingIsNear) {
  EXPECT_EQ(nearest_name("butterfly", kNames), "");
  EXPECT_EQ(nearest_name("", kNames), "");
  EXPECT_EQ(nearest_name("ring", {}), "");
}

TEST(FindEntry, ReturnsTheEntryOfThatName) {
  EXPECT_EQ(find_entry(algorithms(), "ps", "algorithm").name, "ps");
  EXPECT_EQ(find_entry(placements(), "sliced", "placement").name, "sliced");
}

TEST(FindEntry, SuggestsAndListsOnAnUnknownName) {
  expect_usage_error([] { find_entry(algorithms(), "rng", "algorithm"); }, "no algorithm 'rng'; did you mean 'ring'?",
                     "known: ring, ring-segmented, ");
  expect_usage_error([] { find_entry(placements(), "zebra", "placement"); }, "no placement 'zebra'",
                     "known: greedy, round-robin, sliced");
}

template <class T>
void expect_distinct_names(std::span<const T* const> table) {
  auto names = names_of(table);
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end()) << *std::ranges::adjacent_find(names);
}

TEST(Tables, HaveDistinctNames) {
  for (const CollectiveKind collective : {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
                                          CollectiveKind::all_gather, CollectiveKind::broadcast})
    expect_distinct_names(std::span<const Algorithm* const>(algorithms_for(collective)));
  expect_distinct_names(placements());
  expect_distinct_names(fusions());
}

}  // namespace
}  // namespace hbench::table_test
