// Processes that write to one database at once.

#include <set>

#include "tests/bench/program.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::append_test {
namespace {

TEST(TwoProcesses, ThatAppendToOneDatabaseLoseNothingAndCountNothingTwice) {
  const Workplace workplace;
  // Two sweeps begin with the same file, which neither has made yet, and two merges bring the same old runs.
  const Outcome outcome = workplace.shell(R"(
    sweep() { $HBENCH sweep --workload $1 --profile hkbu-10gbe --gpus 1..4 --evidence simulated --quiet \
              --single-gpu-rate 100 --label w=$1 --report report-$1 --db $2 > out-$1; }
    for i in 1 2; do sweep alexnet old.db || exit 90; done
    sweep resnet50 r.db & a=$!
    sweep vgg16 r.db & b=$!
    $HBENCH db merge old.db --db r.db > merged-1 & c=$!
    $HBENCH db merge old.db --db r.db > merged-2 & d=$!
    for process in $a $b $c $d; do wait $process || exit 91; done
    $HBENCH db merge old.db --db r.db > merged-3 || exit 92
    $HBENCH db check --db r.db > check || exit 93
    for w in resnet50 vgg16 alexnet; do $HBENCH export --db r.db --label w=$w > $w.json || exit 94; done
    for w in resnet50 vgg16; do sweep $w alone.db && $HBENCH export --db alone.db --workload $w > alone-$w.json; done
    $HBENCH db prune --db r.db --keep 1 --dry-run --json > runs.json)");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto read = [&](const std::string& file) { return nlohmann::json::parse(bytes_of(workplace / file)); };
  for (const std::string workload : {"resnet50", "vgg16"}) {
    EXPECT_FALSE(read("alone-" + workload + ".json").empty());
    EXPECT_EQ(read(workload + ".json").size(), read("alone-" + workload + ".json").size()) << workload;
  }
  EXPECT_FALSE(read("alexnet.json").empty());
  const nlohmann::json runs = read("runs.json").at("runs");
  EXPECT_EQ(runs.size() + 1, 4u) << "two sweeps and two that were merged";
  std::set<std::string> uuids;
  for (const auto& run : runs) uuids.insert(run.at("uuid").get<std::string>());
  EXPECT_EQ(uuids.size(), 3u);
  EXPECT_THAT(bytes_of(workplace / "merged-3"), HasSubstr("nothing new; 2 runs were there"));
}

}  // namespace
}  // namespace hbench::append_test
