#include "workloads/engine/reducer.hpp"

#include <gmock/gmock.h>

namespace hbench {
namespace {

using ::testing::ElementsAre;

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

}  // namespace
}  // namespace hbench
