#include "analysis/prediction/simulate.hpp"

#include "analysis/prediction/case_memory.hpp"
#include "collectives/base/error.hpp"
#include "tests/bench/plan_example.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::simulate_test {
namespace {

std::vector<std::pair<std::string, double>> values(const CaseResult& result) {
  std::vector<std::pair<std::string, double>> all;
  for (const Sample& sample : result.samples) all.emplace_back(sample.metric, sample.value);
  return all;
}

double value(const CaseResult& result, std::string_view metric) {
  for (const Sample& sample : result.samples)
    if (sample.metric == metric) return sample.value;
  ADD_FAILURE() << "no " << metric;
  return 0;
}

/// Worlds, servers and networks in an order that changes all of them.
Plan varied_plan() {
  SweepRequest request = small_request();
  request.gpus = {1, 2, 12};
  request.profiles = {"hkbu-10gbe", "azure-nd96asr-v4"};
  request.algorithms = {"ring", "ps"};
  request.compressors = {"none", "fp16"};
  request.servers = {{true, 0}, {false, 3}};
  return plan_of(request);
}

TEST(SimulatedRunner, GivesTheSameTwiceInWhateverOrder) {
  const Plan plan = varied_plan();
  SimulatedRunner forwards(plan.catalog), backwards(plan.catalog);
  std::vector<std::vector<std::pair<std::string, double>>> first, second;
  for (const PlannedCase& each : plan.cases) first.push_back(values(forwards.run(each)));
  for (auto each = plan.cases.rbegin(); each != plan.cases.rend(); ++each)
    second.push_back(values(backwards.run(*each)));
  std::ranges::reverse(second);
  EXPECT_EQ(first, second);
}

TEST(SimulatedRunner, KeepsTheCaseAndIsDone) {
  const Plan plan = varied_plan();
  SimulatedRunner runner(plan.catalog);
  for (const PlannedCase& each : plan.cases) {
    const CaseResult result = runner.run(each);
    EXPECT_EQ(result.asked.key(), each.asked.key());
    EXPECT_EQ(result.status, CaseStatus::done);
  }
}

TEST(SimulatedRunner, GivesABandAroundItsStepAndTheWorldsTimeIsAccountedFor) {
  const Plan plan = varied_plan();
  SimulatedRunner runner(plan.catalog);
  for (const PlannedCase& each : plan.cases) {
    const CaseResult result = runner.run(each);
    const double step = value(result, "step_seconds");
    EXPECT_LE(value(result, "step_seconds_low"), step) << each.asked.key();
    EXPECT_GE(value(result, "step_seconds_low"), value(result, "ledger/compute")) << each.asked.key();
    EXPECT_GE(value(result, "step_seconds_high"), step) << each.asked.key();
    const double parts = value(result, "ledger/compute") + value(result, "ledger/straggler") +
                         value(result, "ledger/slowdown") + value(result, "ledger/exposed") +
                         value(result, "ledger/negotiation") + value(result, "ledger/coding");
    EXPECT_NEAR(parts, step, 1e-9 * step) << each.asked.key();
  }
}

TEST(SimulatedRunner, ShowsTheUpdateAsTheOptimizersPartOfTheStep) {
  const Plan plan = varied_plan();
  SimulatedRunner without(plan.catalog);
  Plan with = plan;
  for (auto& [name, trace] : with.catalog.traces) trace.timeline.update = trace.timeline.backward;
  SimulatedRunner runner(with.catalog);
  for (const PlannedCase& each : with.cases) {
    const CaseResult result = runner.run(each);
    EXPECT_GT(value(result, "ledger/optimizer"), 0) << each.asked.key();
    double parts = 0;
    for (const Sample& sample : result.samples)
      if (sample.metric.starts_with("ledger/")) parts += sample.value;
    EXPECT_NEAR(parts, value(result, "step_seconds"), 1e-9 * parts) << each.asked.key();
  }
  for (const PlannedCase& each : plan.cases)
    EXPECT_TRUE(std::ranges::none_of(without.run(each).samples,
                                     [](const Sample& sample) { return sample.metric == "ledger/optimizer"; }));
}

/// Every 23rd case.
std::vector<PlannedCase> sampled(const Plan& plan) {
  std::vector<PlannedCase> some;
  for (std::size_t i = 0; i < plan.cases.size(); i += 23) some.push_back(plan.cases[i]);
  return some;
}

SweepRequest default_request() {
  SweepRequest request;
  request.gpus = {1, 2, 4, 8, 16, 32, 64, 128};
  request.evidence = {Evidence::simulated};
  return request;
}

TEST(SimulatedRunner, KeepsEveryStepOfTheDefaultSweepInItsBand) {
  const Plan plan = plan_of(default_request());
  SimulatedRunner runner(plan.catalog);
  int bands = 0;
  for (const PlannedCase& each : sampled(plan)) {
    const CaseResult result = runner.run(each);
    const double low = value(result, "step_seconds_low"), high = value(result, "step_seconds_high");
    EXPECT_LE(low, value(result, "step_seconds")) << each.asked.key();
    EXPECT_GE(high, value(result, "step_seconds")) << each.asked.key();
    bands += low < high;
  }
  EXPECT_GT(bands, 20);
}

TEST(SimulatedRunner, WidensTheBandOfServersByTheFactorOfTheirRate) {
  Plan plan = varied_plan();
  Profile& profile = plan.catalog.profiles.at("hkbu-10gbe");
  for (const PlannedCase& each : plan.cases) {
    if (each.asked.profile != "hkbu-10gbe" || each.asked.gpus < 12) continue;
    const auto result_with = [&](double factor) {
      profile.server_factor = factor;
      return SimulatedRunner(plan.catalog).run(each);
    };
    const CaseResult sure = result_with(1), unsure = result_with(4);
    EXPECT_EQ(value(unsure, "step_seconds"), value(sure, "step_seconds"));
    if (each.asked.strategy.uses_servers()) {
      EXPECT_GT(value(unsure, "step_seconds_high"), 1.5 * value(sure, "step_seconds_high")) << each.asked.key();
      // Faster servers answer in another order, which may cost a little elsewhere.
      EXPECT_LE(value(unsure, "step_seconds_low"), 1.001 * value(sure, "step_seconds_low")) << each.asked.key();
    } else {
      EXPECT_EQ(values(unsure), values(sure)) << each.asked.key();
    }
  }
}

// The ends are steps of a slower and of a faster GPU on a better and a worse network, against that GPU alone.
TEST(SimulatedRunner, WidensTheBandByTheFactorOfTheSpeedOfOneGpu) {
  Plan plan = varied_plan();
  plan.catalog.profiles.at("hkbu-10gbe").rates.at("resnet50").factor = 1.5;
  for (PlannedCase each : plan.cases) {
    if (each.asked.profile != "hkbu-10gbe" || each.asked.workload != "resnet50" || each.asked.gpus < 2) continue;
    const SimulatedStep unsure = SimulatedRunner(plan.catalog).step(each);
    const auto at_rate = [&](double rate) {
      each.asked.single_gpu_rate = rate;
      return SimulatedRunner(plan.catalog).step(each);
    };
    EXPECT_EQ(at_rate(unsure.rate).times.step, unsure.times.step);
    EXPECT_NEAR(unsure.fast / at_rate(unsure.rate / 1.5).fast, 1 / 1.5, 1e-9) << each.asked.key();
    EXPECT_NEAR(unsure.slow / at_rate(unsure.rate * 1.5).slow, 1.5, 1e-9) << each.asked.key();
    EXPECT_GT(unsure.slow, at_rate(unsure.rate).slow) << each.asked.key();
  }
}

// The node makes less than simulated: its GPUs count as that much slower, on several nodes too, and less is unknown.
TEST(SimulatedRunner, StartsFromTheRateOfAFullNodeWhereItIsKnown) {
  const Plan plan = varied_plan();
  const int full = plan.catalog.profiles.at("hkbu-10gbe").gpus_per_node;
  for (const PlannedCase& each : plan.cases) {
    if (each.asked.profile != "hkbu-10gbe" || each.asked.gpus < 12 || each.asked.strategy.uses_servers()) continue;
    SimulatedRunner runner(plan.catalog);
    const SimulatedStep plain = runner.step(each);
    PlannedCase node = each;
    node.asked.gpus = full;
    const double simulated = each.asked.batch_per_gpu * full / runner.step(node).times.step.value;
    EXPECT_EQ(runner.step(each, simulated).times.step, plain.times.step) << "as simulated: nothing new";
    const SimulatedStep slow = runner.step(each, simulated / 1.5);
    EXPECT_GT(slow.times.step, plain.times.step) << each.asked.key();
    EXPECT_LE(slow.times.step, plain.times.step * 1.5 * 1.001) << each.asked.key();
    EXPECT_LT(slow.high / slow.times.step, plain.high / plain.times.step * 1.001) << each.asked.key();
    // One full node is as it was seen.
    EXPECT_NEAR(
        runner.step(node, simulated / 1.5).times.step.value / (each.asked.batch_per_gpu * full * 1.5 / simulated), 1,
        0.1)
        << each.asked.key();
    EXPECT_EQ(runner.step(each, simulated * 1000).times.step, plain.times.step) << "in another unit";
    node.asked.gpus = 1;
    EXPECT_EQ(runner.step(node, simulated / 1.5).times.step, runner.step(node).times.step) << "one GPU alone";
  }
}

/// A transformer on 16 GPUs of two nodes.
SweepRequest request_of(std::vector<std::string> methods) {
  SweepRequest request = small_request();
  request.gpus = {16};
  request.workloads = {"gpt2_medium"};
  request.profiles = {"azure-nd96asr-v4"};
  request.methods = std::move(methods);
  return request;
}

/// The steps of all cases, by method.
std::map<std::string, SimulatedStep> steps_of(const SweepRequest& request) {
  const Plan plan = plan_of(request);
  EXPECT_EQ(plan.cases.size(), request.methods.size()) << reasons(plan.refused);
  SimulatedRunner runner(plan.catalog);
  std::map<std::string, SimulatedStep> steps;
  for (const PlannedCase& each : plan.cases) steps.emplace(each.strategy.method.text(), runner.step(each));
  return steps;
}

TEST(SimulatedRunner, ChargesEveryMethodWhatItsFrameworkLoses) {
  for (const Method* const method : methods()) {
    SCOPED_TRACE(method->name);
    SweepRequest request = request_of({std::string(method->name)});
    const StepPlan of_method = parse_method(method->name).plan(true);
    const bool servers = exchanges_among(of_method, Among::servers);
    // Ranks that do not wait for all are simulated iteration by iteration, each on its own: few are enough.
    const bool waits_for_all =
        !servers && !exchanges_among(of_method, Among::neighbours) && !exchanges_among(of_method, Among::partner);
    request.gpus = {waits_for_all ? 8 : 2};
    request.batch = 8;
    request.optimizer = parse_optimizer("adam");
    request.compressors = {method->name == "late-compression" ? "powersgd" : "none"};
    request.algorithms.clear();
    request.presets = {servers ? "mxnet-ps" : "ddp"};
    const SimulatedStep step = steps_of(request).begin()->second;
    EXPECT_GT(step.lost, 1);
    EXPECT_EQ(step.lost, expected_loss(step.unknowns));
  }
}

// With a period of one iteration, or a group of all GPUs.
TEST(SimulatedRunner, GivesMethodsThatDoTheSameWorkTheSameStep) {
  for (const std::vector<std::string>& alike : std::vector<std::vector<std::string>>{
           {"synchronous", "local-sgd:1", "post-local-sgd:1:5"}, {"zero:1", "zero:2"}, {"fsdp", "hsdp:16"}}) {
    SweepRequest request = request_of(alike);
    request.algorithms.clear();
    request.presets = {"ddp"};
    request.overlap = false;
    const auto steps = steps_of(request);
    const SimulatedStep& first = steps.begin()->second;
    for (const auto& [method, step] : steps) {
      EXPECT_NEAR(step.step() / first.step(), 1, 1e-3) << method;
      EXPECT_NEAR(step.lost / first.lost, 1, 1e-3) << method;
    }
  }
}

TEST(SimulatedRunner, GivesMicroBatchesTheSameStepAsAPipelineOfOneStage) {
  SweepRequest request = request_of({"synchronous"});
  request.algorithms.clear();
  request.presets = {"deepspeed"};
  request.overlap = false;
  request.accumulate = 4;
  request.batch = 8;
  const SimulatedStep plain = steps_of(request).begin()->second;
  request.methods = {"pipeline:1:4"};
  request.accumulate = 0;
  request.batch = 4 * 8;
  const SimulatedStep pipeline = steps_of(request).begin()->second;
  EXPECT_NEAR(pipeline.step() / plain.step(), 1, 0.01);
}

// Of three micro-batches, the gradients of each are scattered where no GPU keeps them, and parameters gathered once.
TEST(SimulatedRunner, ScattersAsOftenAsItFreesGradients) {
  SweepRequest request = request_of({"zero:1", "zero:2"});
  request.accumulate = 3;
  request.batch = 4;
  const Plan plan = plan_of(request);
  SimulatedRunner runner(plan.catalog);
  const auto sent = [&](const PlannedCase& planned) {
    const Moved moved = runner.step(planned).times.sent.value();
    return moved.within + moved.between;
  };
  EXPECT_NEAR(sent(plan.cases[1]) / sent(plan.cases[0]), (3 + 1) / 2.0, 1e-3);
  EXPECT_NEAR(memory_of(plan.cases[0], plan.catalog).gradients / memory_of(plan.cases[1], plan.catalog).gradients, 16,
              1e-9);
  EXPECT_GT(runner.step(plan.cases[1]).step(), runner.step(plan.cases[0]).step());
  request.evidence = {Evidence::measured};
  request.gpus = {1, 2};
  request.methods = {"zero:2"};
  request.workloads = {"resnet50"};
  EXPECT_THAT(refusals(plan_of(request)),
              Contains(HasSubstr("each micro-batch of zero:2 has exchanges of its own, which are simulated only")));
}

// A single stream of 4 Gbit/s on a line of 10: between 1 and 10 with a factor of 4.
TEST(SimulatedRunner, WidensTheBandByTheFactorOfAStreamsCapUpToTheLine) {
  Plan plan = varied_plan();
  Profile& profile = plan.catalog.profiles.at("hkbu-10gbe");
  const auto band = [&](const PlannedCase& planned, double gbits, double factor) {
    profile.stream_cap = BytesPerSecond(gbits * 1e9 / 8);
    profile.stream_factor = factor;
    return SimulatedRunner(plan.catalog, {}, true).step(planned);
  };
  profile.uncertainty = 0;
  for (const PlannedCase& each : plan.cases) {
    if (each.asked.profile != "hkbu-10gbe" || each.asked.gpus < 12 || each.asked.strategy.uses_servers()) continue;
    const SimulatedStep unsure = band(each, 4, 4);
    EXPECT_EQ(unsure.fast, band(each, 10, 1).fast) << each.asked.key();
    EXPECT_EQ(unsure.times.step, band(each, 4, 1).times.step) << each.asked.key();
    EXPECT_EQ(unsure.slow, band(each, 1, 1).slow) << each.asked.key();
  }
}

/// Seconds of a simulated step on a network that is so many times slower.
double step_with(const Plan& plan, const PlannedCase& planned, double network_factor) {
  const auto& [asked, strategy] = planned;
  const Profile& profile = plan.catalog.profiles.at(asked.profile);
  const StepTimeline timeline =
      plan.catalog.traces.at(asked.workload)
          .timeline.rescaled(profile.rates.at(asked.workload).samples_per_second, asked.batch_per_gpu);
  StepSimulator simulator(profile, planned.world(profile.gpus_per_node));
  return simulator.run(timeline, strategy, network_factor).step.value;
}

// Graham's anomalies: where a queue serves whole messages, those of gradients that became ready at fixed times come in
// another order on a network that is a little faster, and a step can end later. Connections that share links have none.
TEST(SimulatedRunner, TakesNoLongerOnAFasterNetwork) {
  const Plan plan = plan_of(default_request());
  int servers = 0;
  for (const PlannedCase& each : sampled(plan)) {
    const double step = step_with(plan, each, 1);
    EXPECT_LE(step_with(plan, each, 0.9), step) << each.asked.key();
    EXPECT_GE(step_with(plan, each, 1.1), step) << each.asked.key();
    servers += each.asked.strategy.uses_servers();
  }
  EXPECT_GT(servers, 10);
}

TEST(SimulatedRunner, EndsInsideACaseWhenAStopIsRequestedAndGoesOnLater) {
  const Plan plan = plan_of(small_request());
  const PlannedCase& asked = plan.cases.back();
  int questions = 0;
  SimulatedRunner counting(plan.catalog, [&] { return ++questions < 0; });
  const CaseResult whole = counting.run(asked);
  ASSERT_GT(questions, 100);

  bool stop = true;
  SimulatedRunner runner(plan.catalog, [&, left = questions / 2]() mutable { return stop && --left < 0; });
  try {
    runner.run(asked);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::interrupted);
  }
  stop = false;
  EXPECT_EQ(values(runner.run(asked)), values(whole));
}

// 2 N (N - 1) messages of 88 bytes while they are prepared, 8 bytes for each of N x N times, and 16 for each rank. In
// 12 GiB = 12,884,901,888 bytes there is room for 176 N (N - 1) + 8 N^2 + 16 N up to N = 8,368.
TEST(RefuseSize, NamesTheNeedAndWhatFits) {
  TrainingStrategy direct;
  direct.algorithm = parse_algorithm_rule("direct");
  direct.fusion = parse_fusion("none");
  const StepTimeline timeline{.gradients = {{"a", 1000, Seconds(0.1)}}};
  const std::string why = refuse_size({.workers = 65'536}, timeline, direct, std::int64_t{12} << 30);
  for (const char* part : {"736 GiB", "8.6 billion transfers", "up to 8,368 GPUs", "12 GiB"})
    EXPECT_THAT(why, HasSubstr(part));
  EXPECT_EQ(refuse_size({.workers = 8'368}, timeline, direct, std::int64_t{12} << 30), "");
  EXPECT_NE(refuse_size({.workers = 8'369}, timeline, direct, std::int64_t{12} << 30), "");
  EXPECT_THAT(refuse_size({.workers = 1000}, timeline, direct, 0), HasSubstr("2 million transfers"));
}

TEST(RefuseChoice, CountsTheLargestCandidate) {
  EXPECT_EQ(refuse_choice({}, 65'536, INT64_MAX), "");
  EXPECT_THAT(refuse_choice({}, 65'536, std::int64_t{12} << 30), HasSubstr("billion transfers"));
}

TEST(SimulationEstimate, OfLargeCasesIsCounted) {
  SweepRequest request = small_request();
  request.gpus = {8, 2048};
  const Plan plan = plan_of(request);
  EXPECT_LT(simulation_time(plan.cases[0], plan.catalog).value, 0.01);
  EXPECT_GT(simulation_time(plan.cases[1], plan.catalog).value, 0.5);
}

TEST(SimulatedRunner, StartsFromTheRateOfOneGpuOfTheProfileOrTheFlag) {
  SweepRequest request = small_request();
  request.gpus = {1};
  const Plan of_profile = plan_of(request);
  const double rate = of_profile.catalog.profiles.at("hkbu-10gbe").rates.at("resnet50").samples_per_second;
  EXPECT_EQ(value(SimulatedRunner(of_profile.catalog).run(of_profile.cases.front()), "baseline_throughput"), rate);

  request.single_gpu_rate = 2 * rate;
  const Plan of_flag = plan_of(request);
  const CaseResult result = SimulatedRunner(of_flag.catalog).run(of_flag.cases.front());
  EXPECT_EQ(value(result, "baseline_throughput"), 2 * rate);
  EXPECT_NEAR(value(result, "ledger/compute"), of_flag.cases.front().asked.batch_per_gpu / (2 * rate), 1e-9);
}

}  // namespace
}  // namespace hbench::simulate_test
