// Cases that are stored launch by launch.

#include <gmock/gmock.h>

#include <limits>

#include "analysis/store/store.hpp"
#include "collectives/base/error.hpp"
#include "example_results.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::store_launches_test {
namespace {

const Run kRun{.command = "hbench sweep", .version = "0.1.0", .started_at = "2026-11-22T09:00:00Z", .environment = {}};

TEST(StoreLaunches, JoinTheirCaseInTheOrderInWhichTheyCame) {
  const TemporaryFolder folder;
  std::vector<CaseResult> all{example_result(0, 3), example_result(1, 2)};
  const std::vector<Sample> more = example_result(7, 5).samples;
  Store store(folder / "results.db");
  const std::int64_t run = store.begin_run(kRun);
  const std::int64_t first = store.append(run, all[0]);
  const std::int64_t second = store.append(run, all[1]);
  store.add(first, more);
  store.add(second, {});
  store.add(first, {more.front()});
  all[0].samples.insert(all[0].samples.end(), more.begin(), more.end());
  all[0].samples.push_back(more.front());
  EXPECT_EQ(texts_of(store.results()), texts_of(all));
}

TEST(StoreLaunches, AreThereWholeOrNotAtAll) {
  const TemporaryFolder folder;
  Store store(folder / "results.db");
  const CaseResult result = example_result(0, 3);
  const std::int64_t id = store.append(store.begin_run(kRun), result);
  std::vector<Sample> bad = result.samples;
  bad.back().value = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(store.add(id, bad), Error);
  EXPECT_EQ(texts_of(store.results()), texts_of({result}));
}

TEST(StoreLaunches, OfManyCasesJoinThemAllAtOnceOrNone) {
  const TemporaryFolder folder;
  std::vector<CaseResult> all{example_result(0, 3), example_result(1, 2)};
  Store store(folder / "results.db");
  const std::int64_t run = store.begin_run(kRun);
  store.extend(run, {all[0]});
  store.extend(run, all);
  const std::vector<Sample> again = all[0].samples;
  all[0].samples.insert(all[0].samples.end(), again.begin(), again.end());
  EXPECT_EQ(texts_of(store.results()), texts_of(all));
  std::vector<CaseResult> bad{example_result(0, 3), example_result(2, 2)};
  bad[1].samples.back().value = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(store.extend(run, bad), Error);
  EXPECT_EQ(texts_of(store.results()), texts_of(all));
}

TEST(StoreLaunches, OfACaseThatIsNotThereAreRefused) {
  const TemporaryFolder folder;
  Store store(folder / "results.db");
  EXPECT_THROW(store.add(5, example_result(0, 1).samples), Error);
}

}  // namespace
}  // namespace hbench::store_launches_test
