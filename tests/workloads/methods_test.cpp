#include "workloads/methods/method.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/base/error.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "workloads/methods/plan_check.hpp"
#include "workloads/methods/plan_ranks.hpp"
#include "workloads/methods/step_progress.hpp"
#include "workloads/simulation/method_drawing.hpp"

namespace hbench::methods_test {
namespace {

/// In the place of hundreds of iterations, and with the same remainders by what follows as the usual 500.
constexpr double kFew = 20;

class EveryMethod : public ::testing::TestWithParam<const Method*> {
 protected:
  static std::vector<MethodChoice> choices() {
    const Method& method = *GetParam();
    std::vector<MethodChoice> all{parse_method(method.name)};
    for (std::size_t field = 0; field < method.fields.size(); ++field)
      for (const double value : {1, 2, 3, 8}) {
        std::string text(method.name);
        for (std::size_t other = 0; other < method.fields.size(); ++other) {
          const NumberField& given = method.fields[other];
          text += fmt::format(":{}", other == field ? std::clamp(value, given.smallest, given.largest)
                                                    : std::min(given.standard, kFew));
        }
        all.push_back(parse_method(text));
      }
    return all;
  }
};

TEST_P(EveryMethod, HasAPlanThatIsProved) {
  for (const MethodChoice& choice : choices())
    for (const bool overlap : {false, true})
      for (const int ranks : {2, 3, 5}) {
        const StepPlan plan = choice.plan(overlap);
        // Hundreds of iterations are proved once: of more ranks few of them say the same.
        if (plan.start() + plan.cycle() > 200 && ranks > 2) continue;
        EXPECT_EQ(prove_plan(plan, ranks).refusal, "") << choice.text() << ", " << ranks << " groups";
      }
}

TEST_P(EveryMethod, IsReadBackFromItsText) {
  for (const MethodChoice& choice : choices()) {
    const MethodChoice again = parse_method(choice.text());
    EXPECT_EQ(again.method, choice.method);
    EXPECT_EQ(again.values, choice.values);
    EXPECT_EQ(again.division, choice.division);
  }
}

TEST_P(EveryMethod, IsDrawnWithAllItsTasks) {
  for (const MethodChoice& choice : choices()) {
    const std::string drawing = to_text(drawn(choice.plan(true)));
    for (const Task& task : choice.plan(true).tasks)
      EXPECT_THAT(drawing, HasSubstr(std::string(task.computes()                ? to_string(task.kind)
                                                 : task.among == Among::servers ? "pull parameters"
                                                 : task.among == Among::all     ? to_string(task.collective)
                                                                                : to_string(task.among))))
          << drawing;
    for (std::size_t begin = 0; begin < drawing.size(); begin = drawing.find('\n', begin) + 1)
      EXPECT_LE(drawing.find('\n', begin) - begin, 80) << drawing;
  }
}

// The notes below a picture name a box by its text.
TEST_P(EveryMethod, IsDrawnWithoutTwoTextsAlikeButOfUnits) {
  for (const MethodChoice& choice : choices()) {
    const StepPlan plan = choice.plan(true);
    std::set<std::string> texts;
    for (const Lanes::Row& row : drawn(plan).rows)
      for (const Lanes::Box& box : row.boxes)
        EXPECT_TRUE(texts.insert(box.text).second || !plan.units.empty()) << choice.text() << ": " << box.text;
  }
}

TEST(Methods, AreDrawnWithGradientsThatLeaveDuringTheBackwardPass) {
  EXPECT_EQ(to_text(drawn(parse_method("synchronous").plan(true))),
            "compute  [forward][---backward---]          [apply]\n"
            "network               [all-reduce gradients]\n");
}

TEST(Methods, AreDrawnWithWhatIsCodedLater) {
  EXPECT_EQ(to_text(drawn(parse_method("late-compression:10").plan(true))),
            "compute  [forward][---backward---]                [apply]\n"
            "network               [all-reduce gradients]\n"
            "                      [all-reduce coded gradients]\n"
            "The all-reduce of gradients is a part of the first 10 iterations.\n"
            "The all-reduce of coded gradients is a part of all iterations after 10.\n");
}

TEST(Methods, AreDrawnInAPictureOfStagesAndOneOfWhatEachReplicaDoes) {
  const auto titles = [](const char* method) {
    std::vector<std::string> all;
    for (const Lanes& picture : drawn(parse_method(method))) all.push_back(picture.title);
    return all;
  };
  const std::string synchronous = fmt::format("synchronous: {}", parse_method("synchronous").method->summary);
  EXPECT_THAT(titles("synchronous"), ElementsAre(synchronous));
  EXPECT_THAT(titles("pipeline:2:3"), ElementsAre("pipeline:2:3: micro-batches through the stages",
                                                  "pipeline:2:3" + synchronous.substr(synchronous.find(':'))));
}

TEST(Methods, HaveAnOuterUpdateWithTheirValues) {
  const StepPlan plan = parse_method("diloco:8:1:0:0:0.5:0.25").plan(true);
  ASSERT_TRUE(plan.outer);
  EXPECT_EQ(plan.outer->rate, 0.5);
  EXPECT_THAT(plan.outer->optimizer.values, ElementsAre(0.25));
  EXPECT_FALSE(parse_method("local-sgd:8").plan(true).outer);
}

TEST(Methods, ExchangeFragmentsByTurnsBesidePasses) {
  const StepPlan plan = parse_method("diloco:6:2:1:0.5").plan(true, {.elements = {5, 1, 2, 2}});
  EXPECT_THAT(plan.units, ElementsAre(ElementsAre(1, 2, 3), ElementsAre(0))) << "from the first layer on";
  std::string done;
  for (int iteration = 0; iteration < 12; ++iteration) {
    done += ' ';
    for (const Task& task : plan.tasks) {
      if (task.unit < 0) continue;
      if (!task.computes() && task.ends_in(iteration)) done += 'e';
      if (task.is_in(iteration)) done += fmt::format("{}{}", to_string(task.kind)[0], task.unit);
    }
  }
  EXPECT_EQ(done, "  d0c0 eo0  d1c1 eo1  d0c0 eo0  d1c1 eo1");
  EXPECT_EQ(prove_plan(plan).refusal, "");
  EXPECT_EQ(prove_plan(plan).facts.staleness, 6);
  EXPECT_EQ(prove_plan(parse_method("diloco:6:2").plan(true)).facts.staleness, 5);
  EXPECT_EQ(prove_plan(parse_method("diloco:6:1:0:1").plan(true)).facts.staleness, std::nullopt) << "ranks stay apart";
}

TEST(Methods, CutTheModelIntoFragmentsOfAboutTheSameSize) {
  const auto sizes = [](const char* method, const std::vector<std::int64_t>& elements) {
    std::vector<std::int64_t> all;
    for (const auto& unit : parse_method(method).plan(true, {.elements = elements}).units) {
      all.push_back(0);
      for (const int tensor : unit) all.back() += elements[static_cast<std::size_t>(tensor)];
    }
    return all;
  };
  EXPECT_THAT(sizes("diloco:8:4", {1, 1, 1, 1, 1, 1, 1, 1}), ElementsAre(2, 2, 2, 2));
  EXPECT_THAT(sizes("diloco:8:3", {100, 1, 1}), ElementsAre(1, 1, 100));
  EXPECT_THAT(sizes("diloco:8:2", {1, 1, 100}), ElementsAre(100, 2));
  EXPECT_THAT(sizes("diloco:8:1:3", {4, 5}), ElementsAre(9));
}

TEST(Methods, RefuseFragmentsThatDoNotGoTogether) {
  const auto refusal = [](const char* method) {
    return refusal_of([&] { parse_method(method).plan(true, {.elements = {1, 2}}); });
  };
  EXPECT_THAT(refusal("diloco:2:3"),
              HasSubstr("diloco:2:3: one fragment is exchanged at a time, and 3 are more than the 2 iterations"));
  EXPECT_THAT(refusal("diloco:6:2:3"),
              HasSubstr("turn begins after 3 iterations, and a delay of 3 has not ended then"));
  EXPECT_EQ(refusal("diloco:6:2:2"), "");
  EXPECT_THAT(refusal("diloco:6:3"), HasSubstr("has 3 fragments, and the model 2 tensors"));
}

TEST(Methods, AreRefusedWhereSomethingDisturbsAnExchangeBesidePasses) {
  const StepPlan plan = parse_method("diloco:6:2:1").plan(true);
  ASSERT_EQ(refuse_order(plan), "");
  StepPlan broken = plan;
  broken.tasks[4].lag = 3;
  EXPECT_THAT(refuse_order(broken), HasSubstr("uses what task 4"));
  broken.tasks[5].before_last = 1;
  broken.tasks[6].before_last = broken.tasks[7].before_last = 2;
  EXPECT_THAT(refuse_order(broken), HasSubstr("begins while task 4"));
  broken = plan;
  broken.tasks[4].unit = Task::kWhole;
  EXPECT_THAT(refuse_order(broken), HasSubstr("cannot go on beside later iterations"));
  broken = plan;
  broken.tasks[4].until = 0;
  EXPECT_EQ(prove_plan(broken).refusal, "outer updates of rank 1 start from other parameters than those of rank 0");
}

TEST_P(EveryMethod, HasUnitsWhereItSaysSo) {
  for (const MethodChoice& choice : choices()) EXPECT_EQ(passes_by_unit(choice.plan(true)), choice.goes_by_units());
}

TEST_P(EveryMethod, SaysWhereItIsFrom) {
  EXPECT_FALSE(GetParam()->summary.empty());
  EXPECT_FALSE(GetParam()->citation.empty());
  for (const NumberField& field : GetParam()->fields) {
    EXPECT_FALSE(field.name.empty());
    EXPECT_GE(field.standard, field.smallest);
    EXPECT_LE(field.standard, field.largest);
  }
}

INSTANTIATE_TEST_SUITE_P(Methods, EveryMethod, ::testing::ValuesIn(methods().begin(), methods().end()),
                         [](const auto& test) {
                           std::string name(test.param->name);
                           std::erase(name, '-');
                           return name;
                         });

// A database of another hbench may have some.
TEST(Methods, ThatNobodyKnowsAreNone) {
  for (const char* text : {"hpz:8", "zero++:8", "zero++", "exponential", "tensor:8+zero++:4"})
    EXPECT_FALSE(known_method(text)) << text;
  EXPECT_TRUE(known_method("")->is_synchronous());
}

TEST(Methods, DifferInHowOldAGradientMayBe) {
  for (const auto& [method, staleness] : {std::pair<const char*, std::optional<int>>{"synchronous", 0},
                                          {"zero:2", 0},
                                          {"local-sgd:1", 0},
                                          {"local-sgd:8", 7},
                                          {"ssp:2", 2},
                                          {"async-ps", std::nullopt},
                                          {"diloco:8", 7},
                                          {"post-local-sgd:8:3", 7}})
    EXPECT_EQ(prove_plan(parse_method(method).plan(true)).facts.staleness, staleness) << method;
}

TEST(Methods, StartWithWholeCyclesOnceAllTasksAreAsEverAfter) {
  EXPECT_EQ(parse_method("local-sgd:8").plan(true).start(), 0);
  EXPECT_EQ(parse_method("post-local-sgd:8:3").plan(true).start(), 8);
  EXPECT_EQ(parse_method("post-local-sgd:8:16").plan(true).start(), 16);
  const StepPlan plan = parse_method("post-local-sgd:2:5").plan(true);
  std::string exchanged;
  for (int iteration = 0; iteration < 10; ++iteration)
    exchanged += plan.task(2).is_in(iteration) ? 'g' : plan.task(4).is_in(iteration) ? 'p' : '-';
  EXPECT_EQ(exchanged, "gggggp-p-p");
}

// What one iteration has and another has not uses nothing beside it.
TEST(Methods, AreProvedWithExchangesThatTakeEachOthersPlace) {
  StepPlan plan = parse_method("qadam:3").plan(true);
  EXPECT_EQ(refuse_order(plan), "");
  plan.tasks[3].from = 2;
  EXPECT_THAT(refuse_order(plan), HasSubstr("use the same gradients at once"));
}

TEST(Methods, OfMomentaBeginAsSynchronousOnesWithGradientsAsTheyAre) {
  for (const char* method : {"1-bit-adam:3", "qadam:3"}) {
    const StepPlan plan = parse_method(method).plan(true);
    EXPECT_EQ(plan.start(), 3) << method;
    for (int iteration = 0; iteration < 5; ++iteration) {
      std::string travels;
      for (const Task& task : plan.tasks)
        if (!task.computes() && task.is_in(iteration))
          travels += fmt::format("{}{}", to_string(task.carried), task.coded() ? ", coded" : "");
      EXPECT_EQ(travels, iteration < 3 ? "gradients" : "momenta, coded") << method;
      EXPECT_EQ(carries_momenta(plan, iteration), iteration >= 3);
    }
  }
  EXPECT_FALSE(carries_momenta(parse_method("synchronous").plan(true)));
}

TEST(StepProgress, WaitsForNothingBeforeItsFirstIteration) {
  const StepProgress progress(parse_method("synchronous").plan(true), parse_fusion("horovod:1KiB:10ms"), {4, 8});
  EXPECT_EQ(progress.wakeup(), std::nullopt);
  EXPECT_TRUE(progress.ended());
  EXPECT_FALSE(progress.holds_ready());
}

TEST(Methods, ShardWhatTheirStageSays) {
  const auto kept = [](const char* method) { return sharded(parse_method(method).plan(true)); };
  EXPECT_FALSE(kept("synchronous").optimizer);
  EXPECT_TRUE(kept("zero:1").optimizer);
  EXPECT_FALSE(kept("zero:1").gradients);
  EXPECT_TRUE(kept("zero:2").optimizer);
  EXPECT_TRUE(kept("zero:2").gradients);
  EXPECT_FALSE(kept("zero:2").parameters);
  EXPECT_TRUE(kept("fsdp").parameters);
  EXPECT_EQ(kept("fsdp").groups.size_among(64), 64);
  EXPECT_TRUE(kept("hsdp:4").parameters);
  EXPECT_EQ(kept("hsdp:4").groups.size_among(64), 4);
  EXPECT_EQ(parse_method("zero:3").text(), "fsdp") << "DeepSpeed's name of it";
}

TEST(Methods, GatherTheParametersWhoseGradientsTheyScatter) {
  const StepPlan zero = parse_method("zero:1").plan(true);
  const auto gather = std::ranges::find(zero.tasks, CollectiveKind::all_gather, &Task::collective);
  ASSERT_NE(gather, zero.tasks.end());
  const int scatter = scatter_of(zero, static_cast<int>(gather - zero.tasks.begin()));
  ASSERT_GE(scatter, 0);
  EXPECT_EQ(zero.task(scatter).collective, CollectiveKind::reduce_scatter);
  const StepPlan alone{
      .tasks = {{.kind = TaskKind::forward}, {.kind = TaskKind::collective, .collective = CollectiveKind::all_gather}}};
  EXPECT_EQ(scatter_of(alone, 1), -1);
}

TEST(Methods, GoTogetherWhereTheyDivideTheModel) {
  const MethodChoice all = parse_method("zero:1+pipeline:4:16:2+tensor:8");
  EXPECT_EQ(all.division, (ModelDivision{.tensor = 8, .stages = 4, .micro_batches = 16, .chunks = 2}));
  EXPECT_EQ(all.text(), "tensor:8+pipeline:4:16:2+zero:1");
  EXPECT_EQ(parse_method("tensor:2+synchronous").text(), "tensor:2");
  EXPECT_EQ(parse_method("pipeline:4:16:1").text(), "pipeline:4:16");
  EXPECT_TRUE(parse_method("tensor:1+pipeline:1:1").is_synchronous());
  EXPECT_FALSE(parse_method("tensor:2").is_synchronous());
}

TEST(Methods, RefuseTheirValuesWithWhatIsRight) {
  const auto refusal = [](const char* text) { return refusal_of([&] { parse_method(text); }); };
  EXPECT_THAT(refusal("local-sgd:0"), HasSubstr("'0' is not the period of local-sgd, a whole number from 1 to"));
  EXPECT_THAT(refusal("local-sgd:8x"), HasSubstr("write local-sgd:8"));
  EXPECT_THAT(refusal("zero:4"), HasSubstr("from 1 to 2"));
  EXPECT_THAT(refusal("zero:1.5"), HasSubstr("a whole number from 1 to 2"));
  EXPECT_THAT(refusal("zero:1:2"), HasSubstr("zero takes 1 at most after its name"));
  EXPECT_THAT(refusal("synchronous:2"), HasSubstr("synchronous takes no number after its name"));
  EXPECT_THAT(refusal("tensor:2+fsdp"), HasSubstr("fsdp does not go with a model that is divided / synchronous and"));
  EXPECT_THAT(refusal("tensor:2+zero:2"), HasSubstr("zero does not go with"));
  EXPECT_THAT(refusal("tensor:2+tensor:4"), HasSubstr("says twice what its ranks do"));
  EXPECT_THAT(refusal("zero:1+local-sgd:8"), HasSubstr("says twice what its ranks do"));
  for (const char* alone : {"fsdp+diloco:100", "local-sgd:8+zero:1", "tensor:8+diloco:100"})
    EXPECT_THAT(refusal(alone), AllOf(HasSubstr("replicas of several GPUs that train alone are not modelled"),
                                      HasSubstr("gpus_per_node = 1")))
        << alone;
  EXPECT_THAT(refusal("fsdp+zero:1"), Not(HasSubstr("train alone")));
  EXPECT_THAT(refusal("syncronous"), HasSubstr("did you mean 'synchronous'"));
  EXPECT_THAT(refusal("tensor:8++zero:1"), HasSubstr("no method 'tensor:8++zero:1' / known: synchronous, zero, fsdp"));
  EXPECT_THAT(refusal("zero+"), HasSubstr("no method 'zero+'; did you mean 'zero'?"));
}

/// The share of each of five ranks' parameters in what rank 2 has aside after an exchange.
std::vector<double> shares_of(const char* method, int iteration) {
  const StepPlan plan = parse_method(method).plan(true);
  PlanRanks ranks(plan, 5);
  for (int rank = 0; rank < 5; ++rank) ranks.held(rank, 0).parameters = {{{rank, 0}, 1.0}};
  EXPECT_EQ(hbench::exchange(ranks, plan, plan.task(2), 0, iteration), "");
  std::vector<double> shares;
  for (int rank = 0; rank < 5; ++rank) {
    const auto found = ranks.held(2, 0).aside->find({rank, 0});
    shares.push_back(found == ranks.held(2, 0).aside->end() ? 0 : found->second);
  }
  return shares;
}

TEST(PlanRanks, TakeTheMeanWithBothNeighboursOrWithOne) {
  for (const int iteration : {0, 1})
    EXPECT_THAT(shares_of("decentralized", iteration), ElementsAre(0, 1.0 / 3, 1.0 / 3, 1.0 / 3, 0));
  EXPECT_THAT(shares_of("gossip", 0), ElementsAre(0, 0, 0.5, 0.5, 0));
  EXPECT_THAT(shares_of("gossip", 1), ElementsAre(0, 0.5, 0.5, 0, 0));
}

constexpr Task kForward{.kind = TaskKind::forward};

Task backward() { return {.kind = TaskKind::backward, .after = {{0}}}; }
Task reduce(int after, bool by_tensor = true) { return {.kind = TaskKind::collective, .after = {{after, by_tensor}}}; }
Task apply(int after, bool own_part = false) {
  return {.kind = TaskKind::apply, .own_part = own_part, .after = {{after}}};
}
Task delta(int after) { return {.kind = TaskKind::delta, .after = {{after}}}; }
Task average(int after) { return {.kind = TaskKind::collective, .carried = Carried::deltas, .after = {{after}}}; }
Task gather(int after) {
  return {.kind = TaskKind::collective,
          .collective = CollectiveKind::all_gather,
          .carried = Carried::parameters,
          .after = {{after}}};
}

Task exchange(Among among, Carried carried, int after) {
  return {.kind = TaskKind::collective, .among = among, .carried = carried, .after = {{after}}};
}

struct Broken {
  const char* name;
  std::vector<Task> tasks;
  const char* refusal;
};

/// What is wrong with each, and the first task that is.
const std::vector<Broken>& broken_plans() {
  static const std::vector<Broken> plans{
      {"TaskThatWaitsForALaterOne",
       {kForward, backward(), reduce(3, false), apply(2)},
       "task 2 (all-reduce of gradients) waits for task 3, which is not before it"},
      {"UpdateOfWhatIsStillReduced",
       {kForward, backward(), reduce(1), apply(1)},
       "task 2 (all-reduce of gradients) and task 3 (apply) use the same gradients at once"},
      {"ReductionOfWhatIsStillMade",
       {kForward, backward(), reduce(0, false), apply(2)},
       "task 1 (backward) and task 2 (all-reduce of gradients) use the same gradients at once"},
      {"NoReduction",
       {kForward, backward(), apply(1)},
       "no task brings the gradient of rank 1 in iteration 0 to rank 0"},
      {"NoUpdate", {kForward, backward(), reduce(1)}, "no task brings the gradient of rank 0 in iteration 0 to rank 0"},
      {"SecondReduction",
       {kForward, backward(), reduce(1), reduce(2, false), apply(3)},
       "task 3 (all-reduce of gradients) adds up what is a sum already"},
      {"SecondUpdate",
       {kForward, backward(), reduce(1), apply(2), apply(3)},
       "task 4 (apply) applies the gradient of rank 0 in iteration 0 a second time"},
      {"UpdateOfPartsThatAreElsewhere",
       {kForward,
        backward(),
        {.kind = TaskKind::collective, .collective = CollectiveKind::reduce_scatter, .after = {{1, true}}},
        apply(2),
        gather(3)},
       "task 3 (apply) reads gradients that are not there on rank 0"},
      {"PartsThatAreNotGathered",
       {kForward, backward(), reduce(1), apply(2, true)},
       "no task brings the gradient of rank 0 in iteration 0 to rank 0"},
      {"ComputeThatFollowsATensorAtATime",
       {kForward, backward(), reduce(1), {.kind = TaskKind::apply, .after = {{2, true}}}},
       "task 3 (apply) cannot follow task 2 (all-reduce of gradients) tensor by tensor"},
      {"OuterUpdateWithoutAMean",
       {kForward, backward(), apply(1), delta(2), {.kind = TaskKind::outer, .after = {{3}}}},
       "no task brings the gradient of rank 1 in iteration 0 to rank 0"},
      {"MeanOfDeltasThatAreStillTaken",
       {kForward, backward(), apply(1), delta(2), average(2), {.kind = TaskKind::outer, .after = {{4}}}},
       "task 3 (delta) and task 4 (all-reduce of deltas) use the same gradients at once"},
      {"UpdateByDeltas",
       {kForward, backward(), apply(1), delta(2), average(3), apply(4)},
       "task 5 (apply) reads gradients that are not there on rank 0"},
      {"OuterUpdateByGradients",
       {kForward, backward(), apply(1), {.kind = TaskKind::outer, .every = 2, .after = {{2}}}},
       "task 3 (outer, every 2 iterations) reads deltas that are not there on rank 0"},
      {"UpdateBeforeThereAreGradients",
       {kForward, {.kind = TaskKind::apply, .after = {{0}}}, {.kind = TaskKind::backward, .after = {{1}}}},
       "task 1 (apply) reads gradients that are not there on rank 0"},
      {"MeanThatNobodyTakes",
       {kForward, backward(), apply(1), exchange(Among::neighbours, Carried::parameters, 2)},
       "no task takes the mean that lies aside on rank 0"},
      {"ServersThatGetGradientsTwice",
       {kForward, backward(), exchange(Among::servers, Carried::gradients, 1),
        exchange(Among::servers, Carried::gradients, 2)},
       "task 3 (exchange of gradients with servers) sends gradients that rank 0 lacks"},
      {"ParametersThatArriveWhileTheyAreRead",
       {kForward, backward(), exchange(Among::servers, Carried::gradients, 0)},
       "task 1 (backward) and task 2 (exchange of gradients with servers) use the same gradients at once"},
  };
  return plans;
}

class BrokenPlan : public ::testing::TestWithParam<Broken> {};

TEST_P(BrokenPlan, IsRefusedWithItsFirstWrongTask) {
  EXPECT_THAT(prove_plan({GetParam().tasks}).refusal, HasSubstr(GetParam().refusal));
}

INSTANTIATE_TEST_SUITE_P(Plans, BrokenPlan, ::testing::ValuesIn(broken_plans()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace hbench::methods_test
