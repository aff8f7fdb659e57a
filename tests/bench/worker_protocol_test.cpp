#include "bench/worker/protocol.hpp"

#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::worker_protocol_test {
namespace {

WorkOrder example_order() {
  WorkOrder order;
  order.asked.evidence = Evidence::measured;
  order.asked.workload = "lenet5";
  order.asked.gpus = 3;
  order.asked.profile = "local";
  order.asked.batch_per_gpu = 7;
  order.asked.image_size = 28;
  order.asked.strategy = {.algorithm = "ps",
                          .placement = "sliced",
                          .servers = 2,
                          .server_mode = "dedicated",
                          .compressor = "fp16",
                          .fusion = "horovod:64MiB:5ms",
                          .overlap = false};
  order.asked.training = {.device = "gpu", .executor = "cuda", .precision = "fp16"};
  order.warmup_steps = 4;
  order.steps = 11;
  order.budget = Seconds(0.3);
  order.timeout = Seconds(2.5);
  order.traced_steps = 5;
  order.delay = {.rank = 1, .time = Seconds(0.005)};
  order.checkpoint = CheckpointRequest{.folder = "/a b", .every = 7, .resume = true};
  order.faults = parse_faults("kill:rank=1@step=5,delay:rank=0:2ms@step=3..", "--inject");
  return order;
}

TEST(WorkOrder, ArrivesAsItWasSent) {
  const WorkOrder sent = example_order();
  const std::string text = to_json(sent);
  const WorkOrder got = parse_work_order(text);
  EXPECT_EQ(got.asked.key(), sent.asked.key());
  EXPECT_EQ(got.warmup_steps, 4);
  EXPECT_EQ(got.steps, 11);
  EXPECT_EQ(got.budget.value, 0.3);
  EXPECT_EQ(got.timeout.value, 2.5);
  EXPECT_EQ(got.traced_steps, 5);
  EXPECT_EQ(got.delay, sent.delay);
  EXPECT_EQ(got.faults, sent.faults);
  ASSERT_TRUE(got.checkpoint);
  EXPECT_EQ(got.checkpoint->folder, "/a b");
  EXPECT_EQ(got.checkpoint->every, 7);
  EXPECT_TRUE(got.checkpoint->resume);
  EXPECT_EQ(text.find('\n'), std::string::npos) << "an order is one argument on one line";
}

TEST(WorkOrder, OfAModelOfOnesOwnArrivesAsItWasSent) {
  WorkOrder sent = example_order();
  EXPECT_FALSE(parse_work_order(to_json(sent)).own);
  sent.own = {.file = "/a b/\"model\".pt", .loss = "/loss.pt", .input = {.sizes = {128, 2}, .vocabulary = 30522}};
  const std::optional<OwnModel> got = parse_work_order(to_json(sent)).own;
  ASSERT_TRUE(got);
  EXPECT_EQ(got->file, sent.own->file);
  EXPECT_EQ(got->loss, sent.own->loss);
  EXPECT_EQ(got->input.text(), "128x2:vocab=30522");
}

TEST(WorkOrder, OfAnEmulationArrivesAsItWasSent) {
  WorkOrder sent = example_order();
  EXPECT_FALSE(parse_work_order(to_json(sent)).emulation);
  EmulationOrder& emulation = sent.emulation.emplace();
  emulation.replay.timeline = {
      .batch = 32, .forward = Seconds(0.25), .backward = Seconds(0.5), .update = Seconds(0.75), .gradients = {}};
  emulation.replay.timeline.gradients = {{"a", 1000, Seconds(0.125)}, {"b", 123'456'789, Seconds(0.5)}};
  emulation.replay.dilation = 70;
  emulation.replay.straggler = 0.015;
  emulation.replay.overlap_slowdown = 0.15;
  emulation.replay.slower = {1, 1.2, 1};
  emulation.costs.local = {Seconds(1e-3), Seconds(2e-3), 3e-9};
  emulation.costs.network = {Seconds(4e-3), Seconds(5e-3), 6e-9};
  emulation.costs.node_of_rank = {0, 0, 1};
  emulation.costs.server_seconds_per_byte = {0, 0, 7e-9};
  emulation.costs.groups = true;
  emulation.costs.noticed_late = Seconds(8e-4);
  emulation.polling = Seconds(9e-4);
  const std::optional<EmulationOrder> got = parse_work_order(to_json(sent)).emulation;
  ASSERT_TRUE(got);
  const StepTimeline& timeline = got->replay.timeline;
  EXPECT_EQ(timeline.batch, 32);
  EXPECT_EQ(timeline.forward.value, 0.25);
  EXPECT_EQ(timeline.backward.value, 0.5);
  EXPECT_EQ(timeline.update.value, 0.75);
  ASSERT_EQ(timeline.gradients.size(), 2U);
  EXPECT_EQ(timeline.gradients[1].elements, 123'456'789);
  EXPECT_EQ(timeline.gradients[0].ready.value, 0.125);
  EXPECT_EQ(got->replay.dilation, 70);
  EXPECT_EQ(got->replay.straggler, 0.015);
  EXPECT_EQ(got->replay.overlap_slowdown, 0.15);
  EXPECT_EQ(got->replay.slower, emulation.replay.slower);
  for (const auto& [a, b] :
       {std::pair(got->costs.local, emulation.costs.local), std::pair(got->costs.network, emulation.costs.network)}) {
    EXPECT_EQ(a.latency.value, b.latency.value);
    EXPECT_EQ(a.low_latency.value, b.low_latency.value);
    EXPECT_EQ(a.seconds_per_byte, b.seconds_per_byte);
  }
  EXPECT_EQ(got->costs.node_of_rank, emulation.costs.node_of_rank);
  EXPECT_EQ(got->costs.server_seconds_per_byte, emulation.costs.server_seconds_per_byte);
  EXPECT_TRUE(got->costs.groups);
  EXPECT_EQ(got->costs.noticed_late.value, 8e-4);
  EXPECT_EQ(got->polling.value, 9e-4);
}

TEST(WorkOrder, ThatIsNoneIsOurOwnMistake) {
  for (const char* text : {"", "{}", "[]", "{\"case\": 3}", "not json", "{\"case\": {\"workload\": \"a\"}}"})
    expect_error([&] { parse_work_order(text); }, ExitCode::internal, HasSubstr("cannot read its order"), testing::_);
}

TEST(ProbeOrder, ArrivesAsItWasSent) {
  const ProbeOrder sent{.ranks = 5,
                        .passes = 16,
                        .threads = 3,
                        .window = Seconds(0.01),
                        .exchange = Seconds(0.03),
                        .timeout = Seconds(2.5),
                        .delay = {.rank = 1, .time = Seconds(0.005)}};
  const auto got = parse_probe_order(to_json(sent));
  ASSERT_TRUE(got);
  EXPECT_EQ(got->ranks, 5);
  EXPECT_EQ(got->passes, 16);
  EXPECT_EQ(got->threads, 3);
  EXPECT_EQ(got->window.value, 0.01);
  EXPECT_EQ(got->exchange.value, 0.03);
  EXPECT_EQ(got->timeout.value, 2.5);
  EXPECT_EQ(got->delay, sent.delay);
  EXPECT_FALSE(parse_probe_order(to_json(example_order()))) << "an order of another kind";
  expect_error([] { parse_probe_order(R"({"probe":{"ranks":2}})"); }, ExitCode::internal,
               HasSubstr("cannot read its order"), testing::_);
}

TEST(WorkerLine, OfEveryKindArrivesAsItWasSaid) {
  const auto hello = std::get<HelloLine>(*parse_worker_line(to_json(HelloLine{2, {4711, "a \"host\"", 1LL << 40}})));
  EXPECT_EQ(hello.rank, 2);
  EXPECT_EQ(hello.process, (ProcessIdentity{4711, "a \"host\"", 1LL << 40}));
  EXPECT_EQ(std::get<HelloLine>(*parse_worker_line(R"({"hello":{"rank":0,"pid":7}})")).process.host, "");

  const std::vector<Span> spans{{.rank = 1, .begin = Seconds(4711.25), .end = Seconds(4711.5)},
                                {.rank = 1,
                                 .lane = Lane::communication,
                                 .kind = SpanKind::coding,
                                 .begin = Seconds(4711.375),
                                 .end = Seconds(4711.375),
                                 .bucket = 12}};
  const auto traced = std::get<SpansLine>(*parse_worker_line(to_json(SpansLine{1, 23, spans})));
  EXPECT_EQ(traced.iteration, 23);
  ASSERT_EQ(traced.spans.size(), 2U);
  for (std::size_t i = 0; i < spans.size(); ++i) {
    EXPECT_NEAR(traced.spans[i].begin.value, spans[i].begin.value, 1e-9) << "to the nanosecond";
    EXPECT_NEAR(traced.spans[i].end.value, spans[i].end.value, 2e-9);
    EXPECT_EQ(traced.spans[i].lane, spans[i].lane);
    EXPECT_EQ(traced.spans[i].kind, spans[i].kind);
    EXPECT_EQ(traced.spans[i].bucket, spans[i].bucket);
  }
  EXPECT_FALSE(parse_worker_line(R"({"spans":{"rank":0,"iteration":0,"spans":[[99,0,1,1,0]]}})")) << "no such kind";

  const auto step = std::get<StepLine>(*parse_worker_line(to_json(StepLine{1, 9, true, 0.1234567890123, 3e-9})));
  EXPECT_EQ(step.rank, 1);
  EXPECT_EQ(step.iteration, 9);
  EXPECT_TRUE(step.warmup);
  EXPECT_EQ(step.seconds, 0.1234567890123);
  EXPECT_EQ(step.exposed, 3e-9);

  const auto done = std::get<DoneLine>(*parse_worker_line(to_json(DoneLine{3, "00ff"})));
  EXPECT_EQ(done.rank, 3);
  EXPECT_EQ(done.digest, "00ff");

  const auto link = std::get<SpeedLine>(*parse_worker_line(to_json(SpeedLine{1, 4, {1e9, 2.5}})));
  EXPECT_EQ(link.rank, 1);
  EXPECT_EQ(link.peer, 4);
  EXPECT_EQ(link.values, (std::vector<double>{1e9, 2.5}));
  EXPECT_EQ(std::get<SpeedLine>(*parse_worker_line(to_json(SpeedLine{1, std::nullopt, {3}}))).peer, std::nullopt);

  const auto failure = std::get<FailureLine>(*parse_worker_line(to_json(FailureLine{4, 5, "a \"b\"\nc\\ ü"})));
  EXPECT_EQ(failure.rank, 4);
  EXPECT_EQ(failure.exit_code, 5);
  EXPECT_EQ(failure.message, "a \"b\"\nc\\ ü");
}

TEST(WorkerLine, IsOneLineWhateverItQuotes) {
  const std::string line = to_json(FailureLine{0, 1, "two\nlines, \xff no UTF-8"});
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_TRUE(parse_worker_line(line).has_value());
}

TEST(WorkerLine, OfSomebodyElseIsPassedBy) {
  for (const char* text : {"",
                           "hello",
                           "[W] a library's warning",
                           "{",
                           "{}",
                           "[]",
                           "3",
                           "null",
                           "\"hello\"",
                           "{\"hello\":3}",
                           "{\"hello\":{}}",
                           "{\"hello\":{\"rank\":0}}",
                           "{\"hello\":{\"rank\":\"0\",\"pid\":1}}",
                           "{\"hello\":{\"rank\":0,\"pid\":1,\"host\":3}}",
                           "{\"bye\":{\"rank\":0,\"pid\":1}}",
                           "{\"step\":{\"rank\":0,\"iteration\":1,\"warmup\":false}}",
                           "{\"done\":{\"rank\":0,\"digest\":7}}",
                           "{\"hello\":{\"rank\":0,\"pid\":1},\"more\":{}}",
                           "{\"failure\":{\"rank\":0,\"exit_code\":5}}",
                           "{\"speed\":{\"rank\":0,\"values\":[1]}}",
                           "{\"speed\":{\"rank\":0,\"peer\":\"1\",\"values\":[1]}}",
                           "\xff\xfe"})
    EXPECT_FALSE(parse_worker_line(text).has_value()) << text;
}

}  // namespace
}  // namespace hbench::worker_protocol_test
