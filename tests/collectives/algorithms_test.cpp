#include "collectives/algorithms/algorithm.hpp"

#include <map>
#include <random>
#include <set>

#include "collectives/schedule/checker.hpp"
#include "tests/collectives/counted_cost.hpp"
#include "tests/collectives/instances.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/sanitized.hpp"

namespace hbench::algorithms_test {
namespace {

using namespace ::hbench::support;

constexpr int kLargestWorld = support::kSanitized ? 20 : 64;
constexpr int kLargestGroupedWorld = support::kSanitized ? 12 : 24;
constexpr int kLargestOfSample = support::kSanitized ? 64 : 512;

std::vector<std::string_view> names_for(CollectiveKind collective) {
  std::vector<std::string_view> names;
  for (const Algorithm* algorithm : algorithms_for(collective)) names.push_back(algorithm->name);
  return names;
}

TEST(Algorithms, AreListedInTheDocumentedOrderWithAllReducesFirst) {
  EXPECT_THAT(names_for(CollectiveKind::all_reduce),
              ElementsAre("ring", "ring-segmented", "recursive-doubling", "halving-doubling", "binomial-tree",
                          "double-binary-tree", "hierarchical", "torus", "direct", "ps", "vendor"));
  EXPECT_THAT(names_for(CollectiveKind::reduce_scatter),
              ElementsAre("ring", "ring-segmented", "recursive-halving", "direct", "vendor"));
  EXPECT_THAT(names_for(CollectiveKind::all_gather),
              ElementsAre("ring", "ring-segmented", "recursive-doubling", "direct", "vendor"));
  EXPECT_THAT(names_for(CollectiveKind::broadcast), ElementsAre("binomial", "double-binary-tree", "chain", "vendor"));
  EXPECT_TRUE(std::ranges::is_sorted(algorithms(), {}, [](const Algorithm* entry) { return entry->collective; }));
}

TEST(Algorithms, SaySomethingAboutThemselvesAndWhereTheyComeFrom) {
  for (const Algorithm* algorithm : algorithms()) {
    EXPECT_THAT(algorithm->summary, Not(IsEmpty())) << algorithm->name;
    EXPECT_THAT(algorithm->citation, Not(IsEmpty())) << algorithm->name;
    ASSERT_NE(algorithm->refuses, nullptr) << algorithm->name;
    EXPECT_EQ(algorithm->build == nullptr, algorithm->shape == nullptr) << algorithm->name;
    EXPECT_EQ(algorithm->build == nullptr, algorithm->traffic == nullptr) << algorithm->name;
    EXPECT_EQ(algorithm->fields.empty(), algorithm->check_parameters == nullptr) << algorithm->name;
  }
}

TEST(Algorithms, ThatAreMadeOfTwoNameAReduceScatterAndAnAllGather) {
  for (const Algorithm* algorithm : algorithms()) {
    EXPECT_EQ(algorithm->reduce_scatter == nullptr, algorithm->all_gather == nullptr) << algorithm->name;
    if (algorithm->reduce_scatter == nullptr) continue;
    EXPECT_EQ(algorithm->collective, CollectiveKind::all_reduce) << algorithm->name;
    EXPECT_EQ(algorithm->reduce_scatter->collective, CollectiveKind::reduce_scatter) << algorithm->name;
    EXPECT_EQ(algorithm->all_gather->collective, CollectiveKind::all_gather) << algorithm->name;
  }
}

TEST(Algorithms, RefuseExactlyTheWorldsWithTheWrongRoles) {
  for (const Algorithm* algorithm : algorithms())
    for (const bool colocated : {false, true}) {
      const int needed = algorithm->uses_servers ? 2 : 0;
      const int wrong = algorithm->uses_servers ? 0 : 2;
      EXPECT_EQ(algorithm->refuses({3, needed, colocated}), "") << algorithm->name;
      EXPECT_NE(algorithm->refuses({3, wrong, colocated}), "") << algorithm->name;
      EXPECT_NE(algorithm->refuses({0, needed, colocated}), "") << algorithm->name;
    }
}

TEST(Algorithms, RefuseNoOtherWorldButThoseThatDoNotFillTheirNodes) {
  for (const Algorithm* algorithm : algorithms())
    for (int workers = 1; workers <= kLargestWorld; ++workers)
      for (const int group : {1, 2, 3, 4, 8, workers}) {
        const World world{.workers = workers, .servers = algorithm->uses_servers ? 2 : 0, .group = group};
        const bool full = !algorithm->uses_groups || workers % group == 0;
        EXPECT_EQ(algorithm->refuses(world).empty(), full) << algorithm->name << ' ' << workers << " by " << group;
      }
  const Algorithm& hierarchical = *parse_algorithm("hierarchical").algorithm;
  EXPECT_EQ(hierarchical.refuses({.workers = 10, .group = 4}),
            "it needs full nodes: 10 workers on nodes of 4 leave one node with 2");
  EXPECT_EQ(hierarchical.refuses({.workers = 10, .group = 0}), "a node has at least 1 worker");
}

void expect_proved(const Instance& instance) {
  const auto fault = check(instance.schedule);
  ASSERT_FALSE(fault.has_value()) << instance.name << ": " << fault->what;
  ASSERT_EQ(instance.schedule.collective, instance.algorithm->collective) << instance.name;
}

TEST(Algorithms, AreProvedForEveryWorldGoalAndMode) {
  std::map<std::string_view, int> proved;
  for (const Algorithm* algorithm : algorithms())
    for (int workers = 1; workers <= kLargestWorld; ++workers)
      for (const Instance& instance : instances(*algorithm, workers)) {
        ASSERT_EQ(algorithm->refuses(instance.world), "") << instance.name;
        ASSERT_NO_FATAL_FAILURE(expect_proved(instance));
        ++proved[algorithm->name];
      }
  EXPECT_EQ(proved["ring"], 3 * kLargestWorld);                // collectives
  EXPECT_EQ(proved["ring-segmented"], 3 * 3 * kLargestWorld);  // and numbers of segments
  EXPECT_EQ(proved["ps"], 4 * 2 * 4 * kLargestWorld);          // servers, modes, and even or placed in 3 ways
}

TEST(Algorithms, AreProvedForASampleOfLargeWorlds) {
  std::mt19937 random(20);
  std::uniform_int_distribution<int> workers(kLargestWorld + 1, kLargestOfSample);
  for (const Algorithm* algorithm : algorithms()) {
    if (algorithm->is_vendor()) continue;
    for (int sample = 0; sample < 2; ++sample) {
      World world{.workers = workers(random), .servers = algorithm->uses_servers ? 3 : 0};
      if (algorithm->uses_groups) {
        world.group = 8;
        world.workers = world.workers / 8 * 8;
      }
      const std::vector<std::string> choices = parameters_of(*algorithm);
      for (const int segments : algorithm->segments == nullptr ? std::vector{1} : std::vector{1, 3})
        ASSERT_NO_FATAL_FAILURE(expect_proved(
            support::completed({.algorithm = algorithm,
                                .world = world,
                                .segments = segments,
                                .parameters = choices[static_cast<std::size_t>(sample) % choices.size()]})));
    }
  }
}

TEST(Algorithms, AreProvedWhereTheWorkersOfANodeAddUpFirst) {
  int proved = 0;
  for (const Algorithm* algorithm : algorithms())
    for (int workers = 1; workers <= kLargestGroupedWorld; ++workers)
      for (const Instance& instance : grouped_instances(*algorithm, workers)) {
        ASSERT_NO_FATAL_FAILURE(expect_proved(instance));
        ++proved;
      }
  // 4 group sizes x 3 server counts x 2 modes x (even and 3 placements)
  EXPECT_EQ(proved, kLargestGroupedWorld * 4 * 3 * 2 * 4);
}

TEST(Algorithms, DeclareTheCostThatIsCounted) {
  for (const Algorithm* algorithm : algorithms())
    for (int workers = 1; workers <= kLargestWorld; ++workers)
      for (const Instance& instance : instances(*algorithm, workers)) {
        if (!instance.shards.empty()) continue;
        const Shape shape = algorithm->shape(instance.request());
        ASSERT_EQ(shape.chunks, instance.schedule.chunks) << instance.name;
        ASSERT_EQ(shape.rounds, instance.schedule.rounds) << instance.name;
        ASSERT_EQ(shape.transfers, std::ssize(instance.schedule.transfers)) << instance.name;
        const std::int64_t p = workers;
        const std::set<std::int64_t> counts{0, 1, 2, 3, 5, p - 1, p, p + 1, 2 * p - 1, 7919, 138'357'544};
        for (const std::int64_t elements : counts) {
          const Cost declared = algorithm->cost(instance.request(), elements);
          const Cost counted = support::count_cost(instance.schedule, elements);
          ASSERT_EQ(declared.rounds, counted.rounds) << instance.name << ", " << elements << " elements";
          ASSERT_EQ(declared.sent, counted.sent) << instance.name << ", " << elements << " elements";
          ASSERT_EQ(declared.received, counted.received) << instance.name << ", " << elements << " elements";
        }
      }
}

TEST(Algorithms, DeclareTheTransfersOfPlacedShardsAndOfGroups) {
  const auto expect_declared = [](const Instance& instance) {
    const Shape shape = instance.algorithm->shape(instance.request());
    ASSERT_EQ(shape.transfers, std::ssize(instance.schedule.transfers)) << instance.name;
    ASSERT_EQ(shape.chunks, instance.schedule.chunks) << instance.name;
    ASSERT_EQ(shape.rounds, instance.schedule.rounds) << instance.name;
  };
  for (const Algorithm* algorithm : algorithms())
    for (int workers = 1; algorithm->uses_servers && workers <= kLargestGroupedWorld; ++workers) {
      for (const Instance& instance : instances(*algorithm, workers))
        ASSERT_NO_FATAL_FAILURE(expect_declared(instance));
      for (const Instance& instance : grouped_instances(*algorithm, workers))
        ASSERT_NO_FATAL_FAILURE(expect_declared(instance));
    }
}

// A ring of 65,536 sends 2 x 65,536 x 65,535 messages: more than 2^32.
TEST(Algorithms, DeclareTheTransfersOfWorldsTooLargeToBuild) {
  const World world{.workers = 65'536};
  for (const char* name : {"ring", "direct"})
    EXPECT_EQ(parse_algorithm(name).algorithm->shape({.world = world}).transfers, 8'589'803'520) << name;
  EXPECT_EQ(parse_algorithm("ring-segmented").algorithm->shape({.world = world, .segments = 3}).transfers,
            3 * 8'589'803'520);
}

TEST(Algorithms, UseEveryRoundThatTheyDeclareAndSendNoRankItsOwn) {
  for (const Algorithm* algorithm : algorithms())
    for (const int workers : {1, 2, 3, 8, 13})
      for (const Instance& instance : instances(*algorithm, workers)) {
        std::set<int> used;
        for (const Transfer& transfer : instance.schedule.transfers) {
          ASSERT_NE(transfer.src, transfer.dst) << instance.name;
          used.insert(transfer.round);
        }
        ASSERT_EQ(std::ssize(used), instance.schedule.rounds) << instance.name;
      }
}

TEST(Algorithms, OfManyBucketsInFlightSendOneChunkInEachTransfer) {
  for (const Algorithm* entry : algorithms()) {
    if (!entry->concurrent) continue;
    for (const int group : {1, 4}) {
      const World world{.workers = 8, .servers = 3, .colocated = true, .group = group};
      for (const Transfer& transfer : entry->build({.world = world, .parameters = entry->defaults}).transfers)
        EXPECT_EQ(transfer.chunk_count, 1) << entry->name;
    }
  }
}

// Three workers push to two servers: each begins at another server. Each server answers another worker first, and then
// the others in turn.
TEST(ParameterServers, PushAndPullInTurn) {
  const Schedule schedule = parse_algorithm("ps").build({.workers = 3, .servers = 2}, 1);
  std::vector<std::pair<Rank, Rank>> pushes, pulls;
  for (const Transfer& transfer : schedule.transfers)
    (transfer.round == 0 ? pushes : pulls).emplace_back(transfer.src, transfer.dst);
  using Ways = std::vector<std::pair<Rank, Rank>>;
  EXPECT_EQ(pushes, (Ways{{0, 3}, {1, 4}, {2, 3}, {0, 4}, {1, 3}, {2, 4}}));
  EXPECT_EQ(pulls, (Ways{{3, 0}, {4, 1}, {3, 1}, {4, 2}, {3, 2}, {4, 0}}));
}

constexpr std::int64_t kKi = 1024;
constexpr std::int64_t kMi = 1024 * kKi;

int segments_at(const char* algorithm, CollectiveKind collective, int workers, std::int64_t bytes) {
  return parse_algorithm(algorithm, collective).segments({.workers = workers}, bytes);
}

// Of what a rank sends at a time: as many segments as whole or begun targets, but at least the fewest, as long as that
// leaves each 16 KiB; and at most the most.
TEST(Segments, OfARankedPartAreAbout256KiB) {
  const auto ring = [](std::int64_t part) {
    return segments_at("ring-segmented", CollectiveKind::all_reduce, 4, 4 * part);
  };
  EXPECT_EQ(ring(31 * kKi), 1);
  EXPECT_EQ(ring(32 * kKi), 2);
  EXPECT_EQ(ring(60 * kKi), 3);
  EXPECT_EQ(ring(1 * kMi), 4);
  EXPECT_EQ(ring(4 * kMi), 16);
  EXPECT_EQ(ring(4 * kMi + 1), 17);
  EXPECT_EQ(ring(16 * kMi), 64);
  EXPECT_EQ(ring(256 * kMi), 64);
  const auto hierarchy = [](std::int64_t part) {
    return segments_at("hierarchical:direct:ring-segmented", CollectiveKind::all_reduce, 8, 8 * part);
  };
  EXPECT_EQ(hierarchy(1 * kMi), 4);
  EXPECT_EQ(hierarchy(2 * kMi), 8);
  EXPECT_EQ(hierarchy(64 * kMi), 16);
}

// In segments or not, it is the same schedule where neither level cuts what it sends.
TEST(Segments, OfAHierarchyAreOneUnlessALevelHasThem) {
  for (const char* cut : {"hierarchical:ring-segmented:ring", "hierarchical:direct:double-binary-tree"})
    EXPECT_EQ(segments_at(cut, CollectiveKind::all_reduce, 8, 16 * kMi), 8) << cut;
  for (const char* whole : {"hierarchical", "hierarchical:ring:halving-doubling"})
    EXPECT_EQ(segments_at(whole, CollectiveKind::all_reduce, 8, 16 * kMi), 1) << whole;
  const AlgorithmChoice whole = parse_algorithm("hierarchical:ring:halving-doubling");
  const World world{.workers = 8, .group = 4};
  EXPECT_EQ(whole.build(world, 5).transfers, whole.build(world, 1).transfers);
}

// Half of the buffer goes down either tree, in 64 KiB, 4 to 64 of them; a chain passes on 128 KiB, 8 to 256 of them.
TEST(Segments, OfATreeAndOfAChainAreSmaller) {
  const auto tree = [](std::int64_t bytes) {
    return segments_at("double-binary-tree", CollectiveKind::all_reduce, 4, bytes);
  };
  EXPECT_EQ(tree(64 * kKi), 2);
  EXPECT_EQ(tree(256 * kKi), 4);
  EXPECT_EQ(tree(1 * kMi), 8);
  EXPECT_EQ(tree(64 * kMi), 64);
  const auto chain = [](std::int64_t bytes) { return segments_at("chain", CollectiveKind::broadcast, 4, bytes); };
  EXPECT_EQ(chain(32 * kKi), 2);
  EXPECT_EQ(chain(1 * kMi), 8);
  EXPECT_EQ(chain(4 * kMi), 32);
  EXPECT_EQ(chain(64 * kMi), 256);
}

TEST(Algorithms, CutIntoAtLeastOneSegmentAndBoundTheirNumber) {
  for (const Algorithm* algorithm : algorithms()) {
    if (algorithm->segments == nullptr) continue;
    for (const int workers : {1, 2, 16, 512})
      for (const std::int64_t bytes : {std::int64_t{0}, std::int64_t{1} << 20, std::int64_t{1} << 40}) {
        const int segments = algorithm->segments({.workers = workers}, bytes);
        EXPECT_GE(segments, 1) << algorithm->name;
        EXPECT_LE(segments, 256) << algorithm->name;
      }
    EXPECT_EQ(algorithm->segments({.workers = 4}, 1024), 1) << algorithm->name;
  }
}

}  // namespace
}  // namespace hbench::algorithms_test
