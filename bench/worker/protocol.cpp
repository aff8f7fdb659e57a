#include "bench/worker/protocol.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "analysis/records/case_fields.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/json_fields.hpp"
#include "collectives/base/read_json.hpp"

namespace hbench {

using nlohmann::json;

void to_json(json& object, const Case& asked) {
  for (const CaseField& field : case_fields())
    std::visit([&](const auto& value) { object[std::string(field.name)] = value; }, field.get(asked));
}
void from_json(const json& object, Case& asked) {
  for (const CaseField& field : case_fields()) {
    FieldValue value = field.get(asked);
    std::visit([&](auto& held) { object.at(std::string(field.name)).get_to(held); }, value);
    field.set(asked, value);
  }
}

namespace {
std::int64_t in_nanoseconds(Seconds time) { return std::llround(time.value * 1e9); }
}  // namespace

/// Five numbers, so that a line holds many spans: kind, lane, begin and duration in nanoseconds, bucket. Not the rank.
void to_json(json& array, const Span& span) {
  array = {static_cast<int>(span.kind), static_cast<int>(span.lane), in_nanoseconds(span.begin),
           in_nanoseconds(span.duration()), span.bucket};
}
void from_json(const json& array, Span& span) {
  const double begin = 1e-9 * array.at(2).get<double>(), duration = 1e-9 * array.at(3).get<double>();
  span = {.lane = kLanes.at(array.at(1).get<std::size_t>()),
          .kind = kSpanKinds.at(array.at(0).get<std::size_t>()),
          .begin = Seconds(begin),
          .end = Seconds(begin + duration),
          .bucket = array.at(4).get<int>()};
}

/// Two numbers, elements and nanoseconds: a launcher passes all of a timeline on in one argument.
void to_json(json& array, const GradientEvent& gradient) {
  array = {gradient.elements, in_nanoseconds(gradient.ready)};
}
void from_json(const json& array, GradientEvent& gradient) {
  array.at(0).get_to(gradient.elements);
  gradient.ready = Seconds(1e-9 * array.at(1).get<double>());
}

void to_json(json& text, const SampleShape& shape) { text = shape.text(); }
void from_json(const json& text, SampleShape& shape) { shape = parse_sample_shape(text.get<std::string>()); }

template <class Walk, Either<TestDelay> Delay>
void describe_fields(Walk& walk, Delay& delay) {
  walk("rank", delay.rank)("seconds", delay.time);
}

template <class Walk, Either<EmulatedCosts::Hop> Hop>
void describe_fields(Walk& walk, Hop& hop) {
  walk("latency", hop.latency)("low_latency", hop.low_latency)("seconds_per_byte", hop.seconds_per_byte);
}

template <class Walk, Either<StepTimeline> Timeline>
void describe_fields(Walk& walk, Timeline& timeline) {
  walk("batch", timeline.batch)("forward", timeline.forward)("backward", timeline.backward);
  walk("update", timeline.update)("gradients", timeline.gradients);
}

template <class Walk, Either<EmulationOrder> Order>
void describe_fields(Walk& walk, Order& order) {
  auto& replay = order.replay;
  walk("timeline", replay.timeline)("dilation", replay.dilation)("straggler", replay.straggler);
  walk("overlap_slowdown", replay.overlap_slowdown)("slower", replay.slower)("units", replay.units);
  auto& costs = order.costs;
  walk("local", costs.local)("network", costs.network)("node_of_rank", costs.node_of_rank);
  walk("servers", costs.server_seconds_per_byte)("groups", costs.groups)("noticed_late", costs.noticed_late);
  walk("polling", order.polling);
}

template <class Walk, Either<OwnModel> Model>
void describe_fields(Walk& walk, Model& model) {
  walk("file", model.file)("loss", model.loss)("input", model.input);
}

template <class Walk, Either<CheckpointRequest> Request>
void describe_fields(Walk& walk, Request& request) {
  walk("folder", request.folder)("every", request.every)("resume", request.resume);
}

template <class Walk, Either<PlantedFault> One>
void describe_fields(Walk& walk, One& fault) {
  walk("rank", fault.rank)("delay", fault.delay)("from", fault.from)("until", fault.until);
}

template <class Walk, Either<WorkOrder> Order>
void describe_fields(Walk& walk, Order& order) {
  walk("case", order.asked)("warmup_steps", order.warmup_steps)("steps", order.steps)("budget", order.budget);
  walk("timeout", order.timeout)("traced_steps", order.traced_steps)("delay", order.delay);
  walk("emulation", order.emulation)("own", order.own)("seed", order.seed);
  walk("checkpoint", order.checkpoint)("faults", order.faults);
}

template <class Walk, Either<LoopCase> Each>
void describe_fields(Walk& walk, Each& each) {
  walk("index", each.index)("case", each.asked)("tensors", each.tensors);
}

template <class Walk, Either<CollectiveOrder> Order>
void describe_fields(Walk& walk, Order& order) {
  auto& options = order.options;
  walk("cases", order.cases)("ranks", order.ranks)("threads", order.threads);
  walk("warmups", options.warmups)("iterations", options.iterations)("check", options.check);
  walk("out_of_place", options.out_of_place)("budget", options.budget)("timeout", options.timeout);
  walk("delay", options.delay);
}

template <class Walk, Either<ProbeOrder> Order>
void describe_fields(Walk& walk, Order& order) {
  walk("ranks", order.ranks)("passes", order.passes)("threads", order.threads)("window", order.window);
  walk("exchange", order.exchange)("timeout", order.timeout)("delay", order.delay);
}

template <class Walk, Either<HelloLine> Line>
void describe_fields(Walk& walk, Line& line) {
  auto& process = line.process;
  walk("rank", line.rank)("pid", process.pid);
  walk.if_there("host", process.host).if_there("start_time", process.start_time);
}

template <class Walk, Either<StepLine> Line>
void describe_fields(Walk& walk, Line& line) {
  walk("rank", line.rank)("iteration", line.iteration)("warmup", line.warmup);
  walk("seconds", line.seconds)("exposed", line.exposed);
}

template <class Walk, Either<SpansLine> Line>
void describe_fields(Walk& walk, Line& line) {
  walk("rank", line.rank)("iteration", line.iteration)("spans", line.spans);
}

template <class Walk, Either<DoneLine> Line>
void describe_fields(Walk& walk, Line& line) {
  walk("rank", line.rank)("digest", line.digest);
}

template <class Walk, Either<FailureLine> Line>
void describe_fields(Walk& walk, Line& line) {
  walk("rank", line.rank)("exit_code", line.exit_code)("message", line.message);
}

template <class Walk, Either<SizeLine> Line>
void describe_fields(Walk& walk, Line& line) {
  walk("rank", line.rank)("cases", line.cases);
}

template <class Walk, Either<WorkingLine> Line>
void describe_fields(Walk& walk, Line& line) {
  walk("rank", line.rank)("case", line.index);
}

template <class Walk, Either<SamplesLine> Line>
void describe_fields(Walk& walk, Line& line) {
  walk("rank", line.rank)("case", line.index)("metric", line.metric)("unit", line.unit);
  walk("warmup", line.warmup)("first", line.first)("values", line.values);
}

template <class Walk, Either<CaseLine> Line>
void describe_fields(Walk& walk, Line& line) {
  walk("rank", line.rank)("case", line.index)("refusal", line.refusal);
}

template <class Walk, Either<SpeedLine> Line>
void describe_fields(Walk& walk, Line& line) {
  walk("rank", line.rank)("peer", line.peer)("values", line.values);
}

template <class Walk, Either<CheckpointLine> Line>
void describe_fields(Walk& walk, Line& line) {
  auto& report = line.report;
  walk("rank", line.rank)("what", report.what)("steps", report.steps)("bytes", report.bytes);
  walk("stall", report.stall)("writing", report.writing);
}

namespace {

template <class Order>
Order order_of(const json& object) {
  try {
    return object.get<Order>();
  } catch (const json::exception& error) {
    throw Error(ExitCode::internal, fmt::format("a worker cannot read its order: {}", error.what()));
  }
}

/// By the alternatives of `WorkerLine`.
constexpr std::array kLineKinds{"hello",   "step",    "spans", "done",  "failure",   "size",
                                "working", "samples", "case",  "speed", "checkpoint"};
static_assert(kLineKinds.size() == std::variant_size_v<WorkerLine>);

/// \throws json::exception for another body than that of its kind.
template <std::size_t kKind = 0>
std::optional<WorkerLine> line_of(const std::string& kind, const json& body) {
  if constexpr (kKind == kLineKinds.size())
    return std::nullopt;
  else
    return kind == kLineKinds[kKind] ? body.get<std::variant_alternative_t<kKind, WorkerLine>>()
                                     : line_of<kKind + 1>(kind, body);
}

}  // namespace

std::string to_json(const WorkOrder& order) { return json(order).dump(); }
WorkOrder parse_work_order(std::string_view text) {
  WorkOrder order = order_of<WorkOrder>(read_json(text));
  int number = 0;
  if (order.emulation)
    for (GradientEvent& gradient : order.emulation->replay.timeline.gradients)
      gradient.tensor = fmt::format("tensor {}", number++);
  return order;
}

std::string to_json(const CollectiveOrder& order) { return json(order).dump(); }
std::optional<CollectiveOrder> parse_collective_order(std::string_view text) {
  const json object = read_json(text);
  if (!object.is_object() || !object.contains("cases")) return std::nullopt;
  return order_of<CollectiveOrder>(object);
}

std::string to_json(const ProbeOrder& order) { return json{{"probe", order}}.dump(); }
std::optional<ProbeOrder> parse_probe_order(std::string_view text) {
  const json object = read_json(text);
  if (!object.is_object() || !object.contains("probe")) return std::nullopt;
  return order_of<ProbeOrder>(object.at("probe"));
}

std::vector<Sample> samples_of(const SamplesLine& line, int launch) {
  std::vector<Sample> samples;
  int iteration = line.first;
  for (const double value : line.values)
    samples.push_back({.launch = launch,
                       .rank = line.rank,
                       .iteration = iteration++,
                       .warmup = line.warmup,
                       .metric = line.metric,
                       .value = value,
                       .unit = line.unit});
  return samples;
}

std::string to_json(const WorkerLine& line) {
  return std::visit([&](const auto& each) { return json_line(json{{kLineKinds[line.index()], each}}); }, line);
}

std::optional<WorkerLine> parse_worker_line(std::string_view text) {
  const json object = read_json(text);
  if (!object.is_object() || object.size() != 1) return std::nullopt;
  try {
    const auto only = object.begin();  // it has a name, so that g++ 13 sees that what it refers to lives on
    std::optional<WorkerLine> line = line_of(only.key(), only.value());
    if (auto* step = line ? std::get_if<SpansLine>(&*line) : nullptr)
      for (Span& span : step->spans) span.rank = step->rank;
    return line;
  } catch (const json::exception&) {
  } catch (const std::out_of_range&) {  // a span of a kind or lane that we do not know
  }
  return std::nullopt;
}

template <class Walk, Either<Availability> Available>
void describe_fields(Walk& walk, Available& what) {
  walk("available", what.available)("reason", what.reason)("cure", what.cure);
}

template <class Walk, Either<WorkerFacts> Facts>
void describe_fields(Walk& walk, Facts& facts) {
  walk("torch", facts.torch)("mpi", facts.mpi)("nccl", facts.nccl)("gpu_training", facts.gpu_training);
}

std::string to_json(const WorkerFacts& facts) { return nlohmann::json(facts).dump(); }

WorkerFacts parse_worker_facts(std::string_view text) {
  try {
    return read_json(text).get<WorkerFacts>();
  } catch (const nlohmann::json::exception& error) {
    throw Error(ExitCode::internal, fmt::format("cannot parse the output of 'hbench-worker facts': {}", error.what()));
  }
}

}  // namespace hbench
