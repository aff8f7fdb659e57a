#include "workloads/simulation/step_simulator.hpp"

#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/workloads/simulated_step.hpp"

namespace hbench::step_simulator_test {
namespace {

using namespace ::hbench::support;

// Nothing leaves before the backward pass has ended at 30 ms; then 3 + 4 + 5 ms, one after the other.
TEST(StepSimulator, WithoutOverlapAllCommunicationIsExposed) {
  const StepTimes times = run_pair(round_cluster(), three_tensors(5, 10, 20), ring("none", false));
  EXPECT_NEAR(times.step.value, 0.042, kTolerance);
  EXPECT_NEAR(times.exposed.value, 0.012, kTolerance);
  EXPECT_NEAR(times.communication.value, 0.012, kTolerance);
  EXPECT_EQ(times.buckets, 3);
}

// 15 to 18, 20 to 24, 25 to 30 ms: the last one ends with the step.
TEST(StepSimulator, OverlapHidesWhatEndsWithTheStep) {
  const StepTimes times = run_pair(round_cluster(), three_tensors(5, 10, 15), ring("none"));
  EXPECT_NEAR(times.step.value, 0.030, kTolerance);
  EXPECT_NEAR(times.exposed.value, 0, kTolerance);
  EXPECT_NEAR(times.communication.value, 0.012, kTolerance);
}

// The last gradient comes with the end of the backward pass, at 30 ms: its 5 ms are the tail.
TEST(StepSimulator, TheLastGradientCannotHide) {
  const StepTimes times = run_pair(round_cluster(), three_tensors(5, 10, 20), ring("none"));
  EXPECT_NEAR(times.step.value, 0.035, kTolerance);
  EXPECT_NEAR(times.exposed.value, 0.005, kTolerance);
}

// Ready at 26, 27 and 28 ms: 26 to 29, then 29 to 33, then 33 to 38 on the one stream.
TEST(StepSimulator, BucketsFollowEachOtherOnOneStream) {
  const StepTimes times = run_pair(round_cluster(), three_tensors(16, 17, 18), ring("none"));
  EXPECT_NEAR(times.step.value, 0.038, kTolerance);
}

/// Of the 20 ms of the backward pass the last five are the optimizer's.
StepTimeline with_update() {
  StepTimeline timeline = three_tensors(5, 10, 15);
  timeline.backward = Seconds(0.015);
  timeline.update = Seconds(0.005);
  return timeline;
}

// The last gradient is reduced from 25 to 30 ms, and only then the optimizer begins: as long as it counted as a part of
// the backward pass it hid those 5 ms.
TEST(StepSimulator, TheUpdateBeginsWhenTheLastGradientWasReduced) {
  const StepTimes times = run_pair(round_cluster(), with_update(), ring("none"));
  EXPECT_NEAR(times.step.value, 0.035, kTolerance);
  EXPECT_NEAR(times.compute.value, 0.025, kTolerance);
  EXPECT_NEAR(times.exposed.value, 0.005, kTolerance);
  EXPECT_NEAR(times.update.value, 0.005, kTolerance);
  EXPECT_NEAR(run_pair(round_cluster(), with_update().merged(), ring("none")).step.value, 0.030, kTolerance);
}

// The passes of the slowest of two ranks take longer; its update does not.
TEST(StepSimulator, TheUpdateTakesAsLongOnAllRanks) {
  Profile profile = round_cluster();
  profile.straggler = 0.1;
  const StepTimes times = run_pair(profile, with_update(), ring("none", false));
  EXPECT_NEAR(times.straggler.value, 0.025 * 0.1 * expected_largest_normal(2), kTolerance);
  EXPECT_NEAR(times.update.value, 0.005, kTolerance);
}

TEST(StepSimulator, WorkersUpdateAfterServersHaveAddedUpAndServersThatApplyGradientsDoSoBeside) {
  TrainingStrategy servers = ring("none");
  servers.algorithm = parse_algorithm_rule("ps");
  const World world{.workers = 2, .servers = 1};
  StepTimeline passes = with_update();
  passes.update = Seconds(0);
  const StepTimes without = run(round_cluster(), world, passes, servers);
  EXPECT_NEAR(run(round_cluster(), world, with_update(), servers).step.value, without.step.value + 0.005, kTolerance);
  constexpr Preset kApplies{.name = "applies", .servers_update = true};
  servers.preset = &kApplies;
  const StepTimes beside = run(round_cluster(), world, with_update(), servers);
  EXPECT_NEAR(beside.step.value, run(round_cluster(), world, with_update().merged(), servers).step.value, kTolerance);
  EXPECT_EQ(beside.update.value, 0);
}

// One bucket of 6000 elements after the backward pass: 2 + 6 ms instead of 12.
TEST(StepSimulator, FusionSavesLatency) {
  const StepTimes times = run_pair(round_cluster(), three_tensors(5, 10, 20), ring("threshold:1GiB"));
  EXPECT_NEAR(times.step.value, 0.038, kTolerance);
  EXPECT_EQ(times.buckets, 1);
}

// Memory of 96 MB/s: packing and unpacking read and write 24,000 bytes each, 4 x 24,000 / 96e6 = 1 ms; the ring adds
// as fast as data come.
TEST(StepSimulator, FusedTensorsArePacked) {
  Profile profile = round_cluster();
  profile.memory_rate = BytesPerSecond(96e6);
  const StepTimes fused = run_pair(profile, three_tensors(5, 10, 20), ring("threshold:1GiB"));
  EXPECT_NEAR(fused.step.value, 0.038 + 0.001, kTolerance);
  const StepTimes lone = run_pair(profile, three_tensors(5, 10, 20), ring("none", false));
  EXPECT_NEAR(lone.step.value, 0.042, kTolerance) << "a lone tensor is reduced in place";
}

// Compute runs at 2/3 of its pace while a collective is under way. 15 to 18 ms: 2 ms of work are done, so the next
// gradient comes at 21 ms. Until 25 ms 8/3 ms of work are done, 22 2/3 in all; the last 7 1/3 end at 32 1/3 ms.
TEST(StepSimulator, CommunicationSlowsCompute) {
  Profile profile = round_cluster();
  profile.overlap_slowdown = 0.5;
  const StepTimes times = run_pair(profile, three_tensors(5, 10, 20), ring("none"));
  EXPECT_NEAR(times.slowdown.value, 0.007 / 3, kTolerance);
  EXPECT_NEAR(times.exposed.value, 0.005, kTolerance);
  EXPECT_NEAR(times.step.value, 0.035 + 0.007 / 3, kTolerance);
  EXPECT_NEAR(run_pair(profile, three_tensors(5, 10, 20), ring("none", false)).slowdown.value, 0, kTolerance);
}

// The slower of two ranks is late by 1/sqrt(pi) deviations of 10 % of 30 ms.
TEST(StepSimulator, TheSlowestRankIsWaitedFor) {
  Profile profile = round_cluster();
  profile.straggler = 0.1;
  const StepTimes times = run_pair(profile, three_tensors(5, 10, 20), ring("none", false));
  EXPECT_NEAR(times.straggler.value, 0.003 * 0.5641895835477563, 1e-11);
  EXPECT_NEAR(times.step.value, 0.042 + 0.003 * 0.5641895835477563, 1e-11);
}

// Ready at 15.5, 20.5 and 29.5 ms: Horovod's cycles of 1 ms notice them at 16, 21 and 30. All have seen these tensors
// before: an all-reduce of bits between two ranks is one message each, 1 ms. So they travel from 17 to 20, 22 to 26 and
// 31 to 36 ms. Without the response cache rank 0 asks and tells, a tree of one message each way: 2 ms.
TEST(StepSimulator, HorovodWaitsForItsCycleAndItsCoordinator) {
  const StepTimeline timeline = three_tensors(5.5, 10.5, 19.5, 19.5);
  const StepTimes times = run_pair(round_cluster(), timeline, ring("horovod"));
  EXPECT_NEAR(times.step.value, 0.036, kTolerance);
  EXPECT_NEAR(times.exposed.value, 0.0065, kTolerance);
  EXPECT_EQ(times.buckets, 3);
  EXPECT_NEAR(run_pair(round_cluster(), timeline, ring("horovod-2018:128MiB:1ms")).step.value, 0.037, kTolerance);
}

// Eight workers ask and tell by trees of three messages each way, 6 ms; rank 0's thread is busy as long, so that b,
// ready one cycle after c, is not asked for at 17 but at 22 ms. A direct exchange of 800 elements takes 2 ms and
// 2 x 7 x 0.1 ms: c travels from 22 to 25.4, b from 28 to 31.4 ms.
TEST(StepSimulator, ACycleBeginsWhenTheCoordinatorHasToldEveryoneAboutTheLastOne) {
  const StepTimeline timeline{.batch = 1,
                              .forward = Seconds(0.010),
                              .backward = Seconds(0.008),
                              .gradients = {{"c", 800, Seconds(0.0055)}, {"b", 800, Seconds(0.0062)}}};
  TrainingStrategy strategy = ring("horovod-2018:64MiB:1ms");
  strategy.algorithm = parse_algorithm_rule("direct");
  const StepTimes times = run(round_cluster(), {.workers = 8}, timeline, strategy);
  EXPECT_EQ(times.buckets, 2);
  EXPECT_NEAR(times.step.value, 0.0314, kTolerance);
  EXPECT_NEAR(times.exposed.value, 0.0314 - 0.018, kTolerance);
}

// On 8 workers 800 elements are 3200 bytes: below 4 KB they take the direct exchange, at 3 KB and more the ring.
TEST(StepSimulator, BucketsTakeTheAlgorithmOfTheirBytes) {
  const StepTimeline one{
      .batch = 1, .forward = Seconds(0.010), .backward = Seconds(0.020), .gradients = {{"a", 800, Seconds(0.020)}}};
  const auto exposed = [&](const char* rule) {
    TrainingStrategy strategy = ring("none");
    strategy.algorithm = parse_algorithm_rule(rule);
    return run(round_cluster(), {.workers = 8}, one, strategy).exposed.value;
  };
  EXPECT_DOUBLE_EQ(exposed("direct@4000B/ring"), exposed("direct"));
  EXPECT_DOUBLE_EQ(exposed("direct@3000B/ring"), exposed("ring"));
  EXPECT_NE(exposed("ring"), exposed("direct"));
}

StepTimes run_compressed(const Profile& profile, int workers, const char* compressor,
                         std::optional<CodingRate> measured = std::nullopt) {
  const StepTimeline one{
      .batch = 1, .forward = Seconds(0.010), .backward = Seconds(0.020), .gradients = {{"a", 10'000, Seconds(0.020)}}};
  TrainingStrategy strategy = ring("none");
  strategy.compressor = parse_compressor(compressor);
  strategy.compressor.measured = measured;
  return run(profile, {.workers = workers}, one, strategy);
}

// 10,000 elements are 100 x 100; factors of rank 4 have 400 elements each, which take 2 + 0.4 ms around a ring of two,
// twice. Memory of 320 MB/s adds as fast as data come; the gradient of 40,000 bytes is
// read and written with a declared traffic of 4, once for either factor: 2 x 4 x 40,000 / 320e6 = 1 ms.
TEST(StepSimulator, PowerSgdReducesTwoFactors) {
  Profile profile = round_cluster();
  EXPECT_NEAR(run_compressed(profile, 2, "powersgd:4").exposed.value, 2 * 0.0024, kTolerance);
  profile.memory_rate = BytesPerSecond(320e6);
  EXPECT_NEAR(run_compressed(profile, 2, "powersgd:4").exposed.value, 2 * 0.0024 + 0.001, kTolerance);
}

// 100 elements are kept: a count of 4 bytes, then 8 for each, 804. Around a ring of N travel N - 1 lengths of 8 bytes,
// then N - 1 encodings, one message each round. Memory of 123.6 MB/s and a declared traffic of 1.03: the gradient of
// 40,000 bytes is encoded once and decoded N times.
TEST(StepSimulator, TopKGathersLengthsAndEncodingsAndDecodesThemAll) {
  Profile profile = round_cluster();
  for (const int workers : {2, 4}) {
    const double sent = (workers - 1) * (2 * 0.001 + (8 + 804) / 4e6);
    profile.memory_rate = BytesPerSecond(0);
    EXPECT_NEAR(run_compressed(profile, workers, "topk:0.01").exposed.value, sent, kTolerance);
    profile.memory_rate = BytesPerSecond(123.6e6);
    EXPECT_NEAR(run_compressed(profile, workers, "topk:0.01").exposed.value,
                sent + (1 + workers) * 1.03 * 40'000 / 123.6e6, kTolerance);
  }
}

// The gradient of 40,000 bytes is encoded once, at 10 ns a byte, and decoded by N at 2 ns, 0.1 ms for each call; a ring
// codes each half of it twice. Memory tells nothing then.
TEST(StepSimulator, CodesAsLongAsItWasMeasured) {
  Profile profile = round_cluster();
  profile.memory_rate = BytesPerSecond(123.6e6);
  const CodingRate measured{.encode = 1e-8, .decode = 2e-9, .call = 1e-4};
  EXPECT_NEAR(run_compressed(profile, 2, "topk:0.01", measured).exposed.value,
              2 * 0.001 + (8 + 804) / 4e6 + 40'000 * (1e-8 + 2 * 2e-9) + 3 * 1e-4, kTolerance);
  profile.memory_rate = BytesPerSecond(0);
  const double plain = run_compressed(profile, 2, "fp16").exposed.value;
  EXPECT_NEAR(run_compressed(profile, 2, "fp16", measured).exposed.value,
              plain + 2 * (20'000 * (1e-8 + 2e-9) + 2 * 1e-4), kTolerance);
}

// All three ready between two cycles of 20 ms, at 20 and 40: one bucket of 6000 elements, 40 + 1 + 8 ms.
TEST(StepSimulator, HorovodFusesWhatACycleFinds) {
  const StepTimes times = run_pair(round_cluster(), three_tensors(11, 12, 18), ring("horovod:64MiB:20ms"));
  EXPECT_NEAR(times.step.value, 0.049, kTolerance);
  EXPECT_EQ(times.buckets, 1);
}

// Pieces of at most 1000 elements, 2 + 1 ms each, and all the credit: the ring starts six times, 30 + 6 x 3 ms.
TEST(StepSimulator, PiecesOfTensorsTravelApart) {
  const StepTimes times = run_pair(round_cluster(), three_tensors(5, 10, 20), ring("byteps:4kB:1GiB", false));
  EXPECT_EQ(times.buckets, 6);
  EXPECT_NEAR(times.step.value, 0.048, kTolerance);
}

// The model of the cluster is 2 ms + 1 ms per 4000 B = 4 MB/s, so the merge is what ends soonest here. Ready at 26, 27
// and 28 ms, 1000 + 2000 + 3000 elements: all at once 28 + 8 = 36 ms; the first alone 26 to 29, the others 29 + 7 = 36
// ms; two and one 27 to 32, 32 + 5 = 37 ms; one by one 38 ms. Of equals, the fewer all-reduces.
TEST(StepSimulator, MergingFollowsTheModelOfTheNetwork) {
  const StepTimes times = run_pair(round_cluster(), three_tensors(16, 17, 18), ring("mg-wfbp:2ms:4MB/s"));
  EXPECT_EQ(times.buckets, 1);
  EXPECT_NEAR(times.step.value, 0.036, kTolerance);
}

StepTimes run_servers(int servers) {
  const StepTimeline two{.batch = 1,
                         .forward = Seconds(0.010),
                         .backward = Seconds(0.020),
                         .gradients = {{"b", 1000, Seconds(0.020)}, {"a", 1000, Seconds(0.020)}}};
  TrainingStrategy strategy = ring("none");
  strategy.algorithm = parse_algorithm_rule("ps");
  strategy.placement = &find_entry(placements(), "greedy", "placement");
  return run(round_cluster(), {.workers = 2, .servers = servers}, two, strategy);
}

// A tensor takes 1 ms per NIC, and 1 ms of latency. With a server for each, a worker sends both in 2 ms, and each
// server has taken its own from both by then: 3 ms there, as much back. With one server, the second tensor is in
// after 4 ms (5 with latency), behind the first one; it leaves from 5 to 7 ms and is there at 8.
TEST(StepSimulator, TensorsOfDifferentServersGoAtOnce) {
  EXPECT_NEAR(run_servers(2).step.value, 0.036, kTolerance);
  EXPECT_NEAR(run_servers(1).step.value, 0.038, kTolerance);
}

/// A framework of round figures: 1 ms for each bucket, half a ms to 6; communication beside compute at 100 or 50 %.
constexpr Preset kRound{.name = "round",
                        .per_bucket = {.stated = 1e-3, .better = 0.5e-3, .worse = 6e-3},
                        .overlap = {.stated = 1, .better = 1, .worse = 0.5}};

StepTimes run_in(const Preset& framework, End end, const StepTimeline& timeline, TrainingStrategy strategy) {
  strategy.preset = &framework;
  const Profile cluster = round_cluster();
  StepSimulator simulator(cluster, {.workers = 2});
  return simulator.run(timeline, strategy, 1, end);
}

// All leave at 30 ms. The processor has called for them at 31, 32 and 33 ms, and they take 3, 4 and 5 ms; at 6 ms a
// call they begin at 36, 42 and 48 ms.
TEST(StepSimulator, AFrameworkCallsForOneBucketAfterTheOther) {
  const StepTimeline timeline = three_tensors(5, 10, 20);
  const TrainingStrategy strategy = ring("none", false);
  EXPECT_NEAR(run_in(kRound, End::stated, timeline, strategy).step.value, 0.043, kTolerance);
  EXPECT_NEAR(run_in(kRound, End::better, timeline, strategy).step.value, 0.0425, kTolerance);
  EXPECT_NEAR(run_in(kRound, End::worse, timeline, strategy).step.value, 0.053, kTolerance);
}

// 15 to 18, 20 to 24 and 25 to 30 ms at the full rate. At half of it until compute ends at 30 ms: 15 to 21, 21 to 29,
// and of the last 5 ms half a ms is done by then.
TEST(StepSimulator, CommunicationBesideComputeMayBeSlower) {
  constexpr Preset kHalf{.name = "half", .overlap = kRound.overlap};
  const StepTimeline timeline = three_tensors(5, 10, 15);
  const StepTimes slow = run_in(kHalf, End::worse, timeline, ring("none"));
  EXPECT_NEAR(slow.step.value, 0.0345, kTolerance);
  EXPECT_NEAR(slow.exposed.value, 0.0045, kTolerance);
  EXPECT_NEAR(slow.communication.value, 0.0195, kTolerance);
  EXPECT_NEAR(run_in(kHalf, End::stated, timeline, ring("none")).step.value, 0.030, kTolerance);
  EXPECT_NEAR(run_in(kHalf, End::worse, timeline, ring("none", false)).step.value, 0.042, kTolerance)
      << "nothing runs beside compute";
}

// Nothing hides what a framework takes for each step; coding comes before each bucket that is more than cast.
TEST(StepSimulator, AFrameworkTakesTimeForEachStepAndForWhatItCodes) {
  constexpr Preset kStep{.name = "step", .per_step = {.stated = 2e-3, .better = 1e-3, .worse = 9e-3}};
  constexpr Preset kCoder{.name = "coder", .coding_per_tensor = {.stated = 0.04, .better = 0.04, .worse = 0.04}};
  constexpr Preset kNothing{.name = "nothing"};
  const StepTimeline timeline = three_tensors(5, 10, 20);
  TrainingStrategy strategy = ring("none", false);
  const auto step = [&](const Preset& preset, End end) { return run_in(preset, end, timeline, strategy).step.value; };
  const double plain = step(kNothing, End::stated);
  EXPECT_NEAR(step(kStep, End::stated), plain + 0.002, kTolerance);
  EXPECT_NEAR(step(kStep, End::worse), plain + 0.009, kTolerance);
  EXPECT_NEAR(step(kCoder, End::stated), plain, kTolerance) << "nothing is coded";
  strategy.compressor = parse_compressor("fp16");
  EXPECT_NEAR(step(kCoder, End::stated), step(kNothing, End::stated), kTolerance) << "a cast";
  strategy.compressor = parse_compressor("int8");
  EXPECT_NEAR(step(kCoder, End::stated), step(kNothing, End::stated) + 3 * 0.04, kTolerance);
}

TEST(StepSimulator, WithoutANamedFrameworkCostsAreStatedAsNoneAndMayBeSome) {
  const StepTimeline timeline = three_tensors(5, 10, 20);
  const Profile cluster = round_cluster();
  StepSimulator simulator(cluster, {.workers = 2}), alone(cluster, {.workers = 1});
  EXPECT_NEAR(simulator.run(timeline, ring("none", false)).step.value, 0.042, kTolerance);
  EXPECT_NEAR(simulator.run(timeline, ring("none", false), 1, End::worse).step.value, 0.0422, kTolerance);
  EXPECT_NEAR(alone.run(timeline, ring("none"), 1, End::worse).step.value, 0.030, kTolerance);
}

// The first of three buckets leaves 0.2 ms later; the others wait for the network anyway.
TEST(StepSimulator, AWorkerAloneWithAServerHasTheCostsOfAFramework) {
  const StepTimeline timeline = three_tensors(5, 10, 20);
  const Profile cluster = round_cluster();
  StepSimulator simulator(cluster, {.workers = 1, .servers = 1});
  TrainingStrategy servers = ring("none", false);
  servers.algorithm = parse_algorithm_rule("ps");
  const double stated = simulator.run(timeline, servers).step.value;
  EXPECT_NEAR(simulator.run(timeline, servers, 1, End::worse).step.value, stated + 0.0002, kTolerance);
}

TEST(StepSimulator, ANetworkFactorScalesCommunicationOnly) {
  const StepTimeline timeline = three_tensors(5, 10, 20);
  const StepTimes doubled = run(round_cluster(), {.workers = 2}, timeline, ring("none", false), 2);
  EXPECT_NEAR(doubled.step.value, 0.030 + 2 * 0.012, kTolerance);
  const StepTimes halved = run(round_cluster(), {.workers = 2}, timeline, ring("none", false), 0.5);
  EXPECT_NEAR(halved.step.value, 0.030 + 0.006, kTolerance);
  TrainingStrategy servers = ring("none", false);
  servers.algorithm = parse_algorithm_rule("ps");
  const World world{.workers = 2, .servers = 1};
  const double exposed = run(round_cluster(), world, timeline, servers).exposed.value;
  EXPECT_NEAR(run(round_cluster(), world, timeline, servers, 2).exposed.value, 2 * exposed, kTolerance);
}

TEST(StepSimulator, OneWorkerOnlyComputes) {
  Profile profile = round_cluster();
  profile.straggler = 0.1;
  profile.overlap_slowdown = 0.5;
  profile.memory_rate = BytesPerSecond(96e6);
  for (const char* fusion : {"none", "threshold:1GiB", "horovod"}) {
    const StepTimes times = run(profile, {.workers = 1}, three_tensors(5, 10, 19.5), ring(fusion));
    EXPECT_EQ(times.step.value, times.compute.value) << fusion;
    EXPECT_NEAR(times.step.value, 0.030, kTolerance) << fusion;
    EXPECT_EQ(times.communication.value, 0) << fusion;
  }
}

// One bucket when the backward pass ends: what is exposed is the library's time for 24,000 bytes.
TEST(StepSimulator, ABucketOfTheVendorsLibraryTakesWhatItsModelSays) {
  TrainingStrategy strategy = ring("threshold:1GiB", false);
  strategy.algorithm = parse_algorithm_rule("vendor");
  const StepTimes times = run(round_cluster(), {.workers = 4}, three_tensors(5, 10, 20), strategy);
  const Seconds alone = library_time(round_cluster(), CollectiveKind::all_reduce, 4, Bytes(24'000)).time;
  EXPECT_NEAR(times.exposed.value, alone.value, kTolerance);
}

TEST(StepSimulator, ACurveOfTheClusterReplacesTheModel) {
  Profile profile = round_cluster();
  profile.curves.push_back({.algorithm = "ring",
                            .ranks = 4,
                            .nodes = 4,
                            .source = "test",
                            .points = {{1000, Seconds(0.5)}, {100'000, Seconds(0.5)}}});
  const StepTimes times = run(profile, {.workers = 4}, three_tensors(5, 10, 20), ring("threshold:1GiB", false));
  EXPECT_NEAR(times.exposed.value, 0.5, kTolerance);
}

TEST(StepSimulator, GivesTheSameTwice) {
  Profile profile = round_cluster();
  profile.overlap_slowdown = 0.15;
  profile.straggler = 0.015;
  profile.gpus_per_node = 4;
  for (const Fusion* fusion : fusions())
    for (const Algorithm* entry : algorithms_for(CollectiveKind::all_reduce)) {
      TrainingStrategy strategy = ring(std::string(fusion->name).c_str());
      strategy.algorithm = parse_algorithm_rule(entry->name);
      const World world{.workers = 12, .servers = entry->uses_servers ? 3 : 0, .colocated = entry->uses_servers};
      StepSimulator warm(profile, world);
      const StepTimes first = warm.run(three_tensors(5, 10, 20), strategy);
      warm.run(three_tensors(1, 2, 3), strategy, 1.1);
      const StepTimes again = warm.run(three_tensors(5, 10, 20), strategy);
      const StepTimes fresh = run(profile, world, three_tensors(5, 10, 20), strategy);
      EXPECT_EQ(first.step, again.step) << fusion->name << ' ' << entry->name;
      EXPECT_EQ(first.step, fresh.step) << fusion->name << ' ' << entry->name;
      EXPECT_EQ(first.communication, fresh.communication) << fusion->name << ' ' << entry->name;
    }
}

TEST(StepSimulator, RefusesAStepOfMoreCyclesThanAnybodyWaitsFor) {
  const StepTimeline an_hour = three_tensors(5, 10, 4e6, 4e6);
  EXPECT_NO_THROW(StepSimulator(round_cluster(), {.workers = 2}).run(an_hour, ring("horovod:64MiB:5ms")));
  for (const double milliseconds : {4e8, 6.4e17}) {  // the last is so long that a cycle does not change the clock
    const StepTimeline weeks = three_tensors(5, 10, milliseconds, milliseconds);
    expect_error([&] { StepSimulator(round_cluster(), {.workers = 2}).run(weeks, ring("horovod:64MiB:1ms")); },
                 ExitCode::usage, HasSubstr("more than 10000000 cycles of horovod:64MiB:1ms"), ::testing::_);
  }
}

// Tabulated expectations of the largest of n standard normal draws: 1/sqrt(pi), 3/(2 sqrt(pi)), then Harter 1961.
TEST(ExpectedLargestNormal, MatchesTheTables) {
  EXPECT_EQ(expected_largest_normal(1), 0);
  EXPECT_NEAR(expected_largest_normal(2), 0.5641895835477563, 1e-9);
  EXPECT_NEAR(expected_largest_normal(3), 0.8462843753216345, 1e-9);
  EXPECT_NEAR(expected_largest_normal(5), 1.1629644736, 1e-9);
  EXPECT_NEAR(expected_largest_normal(10), 1.5387527308, 1e-9);
  EXPECT_NEAR(expected_largest_normal(100), 2.5075936, 1e-6);
  EXPECT_GT(expected_largest_normal(1024), expected_largest_normal(1023));
}

// 30 ms of passes three times, and gradients with the last: 85 ms after the step began instead of 25.
TEST(StepTimeline, OfMicroBatchesSendsGradientsWithTheLast) {
  const StepTimeline all = three_tensors(5, 10, 15).accumulated(3);
  EXPECT_EQ(all.batch, 9);
  EXPECT_NEAR(all.forward.value, 0.070, kTolerance);
  EXPECT_NEAR(all.backward.value, 0.020, kTolerance);
  const StepTimes times = run_pair(round_cluster(), all, ring("none"));
  EXPECT_NEAR(times.step.value, 0.090, kTolerance);
  EXPECT_NEAR(times.communication.value, 0.012, kTolerance) << "once for all of them";
  EXPECT_EQ(times.buckets, 3);
}

TEST(StepTimeline, IsRescaledToARateAndABatch) {
  const StepTimeline scaled = three_tensors(5, 10, 20).rescaled(200, 12);  // 30 ms for 3 samples become 60 ms for 12
  EXPECT_EQ(scaled.batch, 12);
  EXPECT_DOUBLE_EQ(scaled.samples_per_second(), 200);
  EXPECT_DOUBLE_EQ(scaled.forward.value, 0.020);
  EXPECT_DOUBLE_EQ(scaled.backward.value, 0.040);
  EXPECT_DOUBLE_EQ(scaled.gradients[1].ready.value, 0.020);
  EXPECT_EQ(scaled.gradients[1].elements, 2000);
}

// 25 ms of passes and 5 ms of update for 3 samples. For 12 at the same rate per pass they are 100 and 5 ms.
TEST(StepTimeline, OfALargerBatchHasTheSameUpdate) {
  const StepTimeline scaled = with_update().rescaled(12 / 0.105, 12);
  EXPECT_DOUBLE_EQ(scaled.forward.value, 0.040);
  EXPECT_DOUBLE_EQ(scaled.backward.value, 0.060);
  EXPECT_DOUBLE_EQ(scaled.update.value, 0.005);
  EXPECT_DOUBLE_EQ(scaled.gradients[1].ready.value, 0.040);
}

TEST(StepTimeline, OnAFasterGpuHasAShorterUpdate) {
  const StepTimeline scaled = with_update().rescaled(2 * with_update().samples_per_second(), 3);
  EXPECT_DOUBLE_EQ(scaled.passes().value, 0.0125);
  EXPECT_DOUBLE_EQ(scaled.update.value, 0.0025);
}

}  // namespace
}  // namespace hbench::step_simulator_test
