// Cases that are stored launch by launch.

#include <gmock/gmock.h>

#include <limits>

#include "collectives/base/error.hpp"
#include "store_cases.hpp"

namespace hbench::store_launches_test {
namespace {

using StoreLaunches = WithStore;

TEST_F(StoreLaunches, JoinTheirCaseInTheOrderInWhichTheyCame) {
  std::vector<CaseResult> all{example_result(0, 3), example_result(1, 2)};
  const std::vector<Sample> more = example_result(7, 5).samples;
  const std::int64_t run = store.begin_run(kExampleRun);
  const std::int64_t first = store.append(run, all[0]);
  const std::int64_t second = store.append(run, all[1]);
  store.add(first, more);
  store.add(second, {});
  store.add(first, {more.front()});
  all[0].samples.insert(all[0].samples.end(), more.begin(), more.end());
  all[0].samples.push_back(more.front());
  EXPECT_EQ(texts_of(store.results()), texts_of(all));
}

TEST_F(StoreLaunches, AreThereWholeOrNotAtAll) {
  const CaseResult result = example_result(0, 3);
  const std::int64_t id = store.append(store.begin_run(kExampleRun), result);
  std::vector<Sample> bad = result.samples;
  bad.back().value = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(store.add(id, bad), Error);
  EXPECT_EQ(texts_of(store.results()), texts_of({result}));
}

TEST_F(StoreLaunches, OfManyCasesJoinThemAllAtOnceOrNone) {
  std::vector<CaseResult> all{example_result(0, 3), example_result(1, 2)};
  const std::int64_t run = store.begin_run(kExampleRun);
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

TEST_F(StoreLaunches, OfACaseThatIsNotThereAreRefused) {
  EXPECT_THROW(store.add(5, example_result(0, 1).samples), Error);
}

}  // namespace
}  // namespace hbench::store_launches_test
