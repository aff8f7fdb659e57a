#include "workloads/engine/reducer.hpp"

#include "tests/support/matchers.hpp"

namespace hbench::reducer_test {
namespace {

/// The all-reduce of a synchronous plan.
constexpr int kReduce = 2;

class Done final : public Operation {
 public:
  bool progress() override { return true; }
  std::string waiting_for() const override { return {}; }
  std::vector<Rank> waiting_ranks() const override { return {}; }
};

/// Notes where the buffers lie that it is asked to reduce, and leaves them as they are.
class Recorder final : public Endpoint {
 public:
  Transport& transport() override { return inner_->transport(); }
  std::unique_ptr<Operation> vendor(CollectiveKind, const Operand& operand) override {
    buffers.push_back(operand.buffer);
    return std::make_unique<Done>();
  }
  void abort(int code) override { inner_->abort(code); }

  std::vector<std::span<std::byte>> buffers;

 private:
  std::unique_ptr<Endpoint> inner_ = std::move(make_thread_endpoints(1).front());
};

class ReducerTest : public ::testing::Test {
 protected:
  ReducerTest() {
    request_.world = {.workers = 1};
    request_.strategy.algorithm = parse_algorithm_rule("vendor");
    for (std::size_t i = 0; i < gradients_.size(); ++i) gradients_[i] = static_cast<float>(i);
  }

  /// Where the buffer of `bucket` lies: first float and number of floats; a first of -1 is a copy.
  std::pair<std::ptrdiff_t, std::size_t> buffer_of(Bucket bucket) {
    Recorder endpoint;
    const StepPlan plan = request_.strategy.method.plan(true);
    Reducer reducer(request_, endpoint, layout_, plan, {.gradients = gradients_, .parameters = {}});
    reducer.launch({kReduce, std::move(bucket)});
    reducer.progress();
    const auto* const data = reinterpret_cast<const float*>(endpoint.buffers.at(0).data());
    const bool in_place = data >= gradients_.data() && data < gradients_.data() + gradients_.size();
    return {in_place ? data - gradients_.data() : -1, endpoint.buffers[0].size() / sizeof(float)};
  }

  TrainingRequest request_;
  GradientLayout layout_{.parameters = {2, 1, 0}, .elements = {3, 4, 5}};
  std::vector<float> gradients_ = std::vector<float>(12);
};

using Place = std::pair<std::ptrdiff_t, std::size_t>;

TEST_F(ReducerTest, ReducesALoneTensorWhereItLies) { EXPECT_EQ(buffer_of({1}), Place(3, 4)); }

TEST_F(ReducerTest, ReducesNeighboursWhereTheyLie) { EXPECT_EQ(buffer_of({1, 2}), Place(3, 9)); }

TEST_F(ReducerTest, ReducesAPieceOfATensorWhereItLies) { EXPECT_EQ(buffer_of(Bucket::piece(2, 8, 16)), Place(9, 2)); }

TEST_F(ReducerTest, CopiesOthersTogetherAndBack) {
  const std::vector<float> before = gradients_;
  EXPECT_EQ(buffer_of({0, 2}), Place(-1, 8));
  EXPECT_EQ(gradients_, before);
}

/// Two nodes of two ranks, all of which the test drives. A rank's gradients are its number plus one.
class ReducerOnNodesTest : public ::testing::Test {
 protected:
  static constexpr Rank kRanks = 4;
  /// Tasks that add up between nodes, within them, and between them what was added up within them.
  static constexpr int kBetween = 1, kWithin = 2, kAfterwards = 3;

  ReducerOnNodesTest() {
    request_.world = {.workers = kRanks};
    request_.node_of_rank = {0, 0, 1, 1};
    request_.strategy.algorithm = parse_algorithm_rule("ring");
    for (Rank rank = 0; rank < kRanks; ++rank) {
      gradients_.emplace_back(layout_.total(), static_cast<float>(rank + 1));
      reducers_.push_back(std::make_unique<Reducer>(request_, *endpoints_[at(rank)], layout_, plan_,
                                                    ModelMemory{.gradients = gradients_.back(), .parameters = {}}));
    }
  }

  static std::size_t at(int index) { return static_cast<std::size_t>(index); }
  void launch(const std::vector<Rank>& ranks, int task, int tensor) {
    for (const Rank rank : ranks) reducers_[at(rank)]->launch({task, {tensor}});
  }

  /// Lets all ranks do what they can. Returns the tasks that have ended, by rank.
  std::vector<std::vector<int>> ended() {
    constexpr int kLooks = 100;
    std::vector<std::vector<int>> tasks(kRanks);
    for (int look = 0; look < kLooks; ++look)
      for (Rank rank = 0; rank < kRanks; ++rank)
        for (const Reducer::Arrival& arrival : reducers_[at(rank)]->progress()) tasks[at(rank)].push_back(arrival.task);
    return tasks;
  }

  /// Returns what `tensor` has become, by rank; -1 where its elements differ.
  std::vector<float> sums(int tensor) const {
    std::vector<float> all;
    const std::vector<std::int64_t> offsets = layout_.offsets();
    for (const std::vector<float>& gradients : gradients_) {
      const auto begin = gradients.begin() + offsets[at(tensor)], end = gradients.begin() + offsets[at(tensor + 1)];
      all.push_back(std::equal(begin + 1, end, begin) ? *begin : -1);
    }
    return all;
  }

 private:
  static Task reduction(const RankGroups& groups, int after) {
    return {.kind = TaskKind::collective, .groups = groups, .after = {{after}}};
  }

  TrainingRequest request_;
  GradientLayout layout_{.parameters = {3, 2, 1, 0}, .elements = {5, 300, 70, 900}};
  StepPlan plan_{.tasks = {{.kind = TaskKind::backward},
                           reduction({.size = 0, .stride = 2}, 0),
                           reduction({.size = 2}, 0),
                           reduction({.size = 0, .stride = 2}, kWithin)}};
  std::vector<std::vector<float>> gradients_;
  std::vector<std::unique_ptr<Endpoint>> endpoints_ = make_thread_endpoints(kRanks);
  std::vector<std::unique_ptr<Reducer>> reducers_;
};

// The other node comes later, and to the buckets in another order: it finds those between nodes begun.
TEST_F(ReducerOnNodesTest, ReducesWithinNodesBesideWhatLeavesThem) {
  const auto launch_all = [&](const std::vector<Rank>& ranks) {
    for (const int tensor : {0, 1}) launch(ranks, kBetween, tensor), launch(ranks, kWithin, tensor + 2);
  };
  launch_all({0, 1});
  EXPECT_THAT(ended(), ElementsAre(ElementsAre(kWithin, kWithin), ElementsAre(kWithin, kWithin), IsEmpty(), IsEmpty()));
  launch_all({2, 3});
  const auto all = UnorderedElementsAre(kBetween, kWithin, kBetween, kWithin);
  EXPECT_THAT(ended(), ElementsAre(ElementsAre(kBetween, kBetween), ElementsAre(kBetween, kBetween), all, all));
  for (const int tensor : {0, 1}) EXPECT_THAT(sums(tensor), ElementsAre(4, 6, 4, 6));
  for (const int tensor : {2, 3}) EXPECT_THAT(sums(tensor), ElementsAre(3, 3, 7, 7));
}

// Rank 0 has all of it ordered while rank 1 has not begun.
TEST_F(ReducerOnNodesTest, ReducesBetweenNodesWhatHasEndedWithinThemOnThisRank) {
  const auto launch_all = [&](const std::vector<Rank>& ranks) {
    launch(ranks, kWithin, 0), launch(ranks, kAfterwards, 0);
  };
  launch_all({0, 2, 3});
  EXPECT_THAT(ended(), ElementsAre(IsEmpty(), IsEmpty(), ElementsAre(kWithin), ElementsAre(kWithin)));
  launch_all({1});
  EXPECT_THAT(ended(), ElementsAre(ElementsAre(kWithin, kAfterwards), ElementsAre(kWithin, kAfterwards),
                                   ElementsAre(kAfterwards), ElementsAre(kAfterwards)));
  EXPECT_THAT(sums(0), ElementsAre(10, 10, 10, 10));
}

}  // namespace
}  // namespace hbench::reducer_test
