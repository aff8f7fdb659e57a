/// What every fusion policy must do, whatever the order and the times.

#include <numeric>
#include <random>

#include "collectives/base/parameters.hpp"
#include "collectives/base/table.hpp"
#include "collectives/fusion/fusion.hpp"
#include "tests/collectives/drive.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::fusion_test {
namespace {

using namespace ::hbench::support;

/// Every policy with its defaults and with parameters that bite on small tensors.
const std::vector<std::string> kChoices = split_list(
    "none,threshold,threshold:1B,threshold:700B,horovod,horovod-2018,horovod:500B:100 us,"
    "horovod:1B:300us,horovod:1GiB:2ms,horovod-2018:2000B,ddp,ddp:600B:100B,ddp:1B:1B,ddp:1B:1GiB,byteps,"
    "byteps:100B:300B,byteps:1B:1B,byteps:64B:1GiB,mg-wfbp,mg-wfbp:100us:8Mbit/s,mg-wfbp:1s,"
    "mg-wfbp:1ns:1GB/s,recorded,recorded:1-3-2,recorded:3x2-1",
    "policies");

TEST(Fusions, AreListedInTheDocumentedOrder) {
  EXPECT_THAT(names_of(fusions()),
              ElementsAre("none", "threshold", "horovod", "horovod-2018", "ddp", "byteps", "mg-wfbp", "recorded"));
  for (const Fusion* fusion : fusions()) {
    EXPECT_THAT(fusion->summary, Not(IsEmpty())) << fusion->name;
    EXPECT_THAT(fusion->citation, Not(IsEmpty())) << fusion->name;
    EXPECT_EQ(fusion->fields.empty(), fusion->defaults.empty()) << fusion->name;
    EXPECT_EQ(std::ranges::count(fusion->fields, ':'), std::ranges::count(fusion->defaults, ':')) << fusion->name;
  }
}

TEST(Fusions, OnlyHorovodNegotiatesSinceItsResponseCacheByBits) {
  for (const Fusion* fusion : fusions()) {
    const Negotiation expected = fusion->name == "horovod"        ? Negotiation::bits
                                 : fusion->name == "horovod-2018" ? Negotiation::names
                                                                  : Negotiation::none;
    EXPECT_EQ(fusion->negotiation, expected) << fusion->name;
  }
}

/// Every byte left exactly once, in no empty bucket, and not before all of its bucket were ready.
void expect_total(const std::vector<Launch>& launches, const std::vector<Ready>& ready,
                  const std::vector<std::int64_t>& bytes) {
  std::vector<double> ready_at(ready.size());
  for (const Ready& event : ready) ready_at.at(static_cast<std::size_t>(event.tensor)) = event.at;
  std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> left(ready.size());
  for (const Launch& launch : launches) {
    ASSERT_THAT(launch.bucket.tensors, Not(IsEmpty()));
    ASSERT_TRUE(launch.bucket.whole() || launch.bucket.tensors.size() == 1) << "a piece of one tensor";
    for (const int tensor : launch.bucket.tensors) {
      const auto index = static_cast<std::size_t>(tensor);
      left.at(index).emplace_back(launch.bucket.begin, launch.bucket.whole() ? bytes[index] : launch.bucket.end);
      ASSERT_GE(launch.at, ready_at[index]);
    }
  }
  for (std::size_t tensor = 0; tensor < left.size(); ++tensor) {
    ASSERT_THAT(left[tensor], Not(IsEmpty())) << "tensor " << tensor << " did not leave";
    std::ranges::sort(left[tensor]);
    std::int64_t end = 0;
    for (const auto& [begin, piece_end] : left[tensor]) {
      ASSERT_EQ(begin, end) << "a gap or an overlap in tensor " << tensor;
      ASSERT_EQ(begin % 4, 0) << "a float32 is cut in tensor " << tensor;
      end = piece_end;
    }
    ASSERT_EQ(end, bytes[tensor]);
    if (bytes[tensor] == 0) {
      ASSERT_EQ(left[tensor].size(), 1U);
    }
  }
}

struct Step {
  std::vector<Ready> ready;
  double backward_done = 0;
};

Step random_step(std::size_t tensors, bool overlap, std::mt19937& random) {
  std::vector<int> order(tensors);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::shuffle(order, random);
  std::exponential_distribution<double> gap(1 / 3e-4);
  std::bernoulli_distribution at_once(0.2);
  Step step;
  for (const int tensor : order) {
    if (!at_once(random)) step.backward_done += gap(random);
    step.ready.push_back({step.backward_done, tensor});
  }
  step.backward_done += gap(random);
  if (!overlap)
    for (Ready& event : step.ready) event.at = step.backward_done;
  return step;
}

/// The buckets of a random step, whenever and in which order they leave.
std::vector<Bucket> random_buckets(FusionPolicy& policy, std::size_t tensors, std::mt19937& random) {
  const Step step = random_step(tensors, true, random);
  std::vector<Bucket> buckets;
  for (const Launch& launch : drive(policy, step.ready, step.backward_done)) buckets.push_back(launch.bucket);
  std::ranges::sort(buckets, {}, &Bucket::tensors);
  return buckets;
}

TEST(Fusions, SayWhetherTheirBucketsVaryFromStepToStep) {
  const std::vector<std::int64_t> bytes(12, 400);
  for (const Fusion* fusion : fusions()) {
    std::mt19937 random(5);
    const auto policy = fusion->make(fusion->name.starts_with("horovod") ? "1MiB:300us"
                                     : fusion->name == "threshold"       ? "900B"
                                                                         : "",
                                     bytes);
    random_buckets(*policy, bytes.size(), random);  // from which some learn
    const std::vector<Bucket> usual = random_buckets(*policy, bytes.size(), random);
    bool differs = false;
    for (int i = 0; i < 20; ++i) differs |= random_buckets(*policy, bytes.size(), random) != usual;
    EXPECT_EQ(differs, fusion->varies) << fusion->name;
  }
}

TEST(Fusions, LetEveryByteLeaveOnceInEveryStep) {
  std::mt19937 random(4);
  std::uniform_int_distribution<std::size_t> tensor_count(0, 12);
  std::uniform_int_distribution<std::int64_t> size(0, 400);
  std::exponential_distribution<double> late(1 / 2e-4);
  for (const std::string& text : kChoices)
    for (int trial = 0; trial < 200; ++trial) {
      std::vector<std::int64_t> bytes(tensor_count(random));
      for (auto& tensor_bytes : bytes) tensor_bytes = size(random);
      const auto policy = parse_fusion(text).make(bytes);
      const auto twin = parse_fusion(parse_fusion(text).text()).make(bytes);
      for (int step_index = 0; step_index < 4; ++step_index) {
        SCOPED_TRACE(text + ", trial " + std::to_string(trial) + ", step " + std::to_string(step_index));
        const Step step = random_step(bytes.size(), trial % 3 != 0, random);
        std::mt19937 same_lateness(static_cast<unsigned>(trial));
        std::mt19937 again = same_lateness;
        const bool punctual = trial % 2 == 0;
        const auto launches =
            drive(*policy, step.ready, step.backward_done, [&] { return punctual ? 0 : late(same_lateness); });
        ASSERT_NO_FATAL_FAILURE(expect_total(launches, step.ready, bytes));
        late.reset();
        const auto twin_launches =
            drive(*twin, step.ready, step.backward_done, [&] { return punctual ? 0 : late(again); });
        late.reset();
        ASSERT_EQ(launches, twin_launches) << "not deterministic";
        ASSERT_EQ(policy->wakeup(), std::nullopt);
      }
    }
}

TEST(Fusions, NeverAskForATimerInThePast) {
  const std::vector<std::int64_t> bytes{100, 100, 100};
  for (const Fusion* fusion : fusions()) {
    const auto policy = fusion->make({}, bytes);
    policy->on({FusionEventKind::step_begin, Seconds(0), 0});
    double now = 0;
    for (int tick = 0; tick < 50 && policy->wakeup(); ++tick) {
      ASSERT_GT(policy->wakeup()->value, now) << fusion->name;
      now = policy->wakeup()->value * 1.3;
      policy->on({FusionEventKind::timer, Seconds(now), 0});
    }
  }
}

}  // namespace
}  // namespace hbench::fusion_test
