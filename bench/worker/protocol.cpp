#include "bench/worker/protocol.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

#include "analysis/records/case_fields.hpp"
#include "collectives/base/error.hpp"

namespace hbench {
namespace {

using nlohmann::json;

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

json case_json(const Case& asked) {
  json object;
  for (const CaseField& field : case_fields())
    std::visit([&](const auto& value) { object[std::string(field.name)] = value; }, field.get(asked));
  return object;
}

Case case_from(const json& object) {
  Case asked;
  for (const CaseField& field : case_fields()) {
    FieldValue value = field.get(asked);
    std::visit([&](auto& held) { object.at(std::string(field.name)).get_to(held); }, value);
    field.set(asked, value);
  }
  return asked;
}

/// JSON has no infinity: null stands for it.
json numbers(const std::vector<double>& values) {
  json array = json::array();
  for (const double value : values) array.push_back(std::isfinite(value) ? json(value) : json(nullptr));
  return array;
}

std::vector<double> numbers_from(const json& array) {
  std::vector<double> values;
  for (const json& value : array)
    values.push_back(value.is_null() ? std::numeric_limits<double>::infinity() : value.get<double>());
  return values;
}

json delay_json(const TestDelay& delay) { return {{"rank", delay.rank}, {"seconds", delay.time.value}}; }

TestDelay delay_from(const json& object) {
  return {.rank = object.at("rank").get<int>(), .time = Seconds(object.at("seconds").get<double>())};
}

std::int64_t in_nanoseconds(Seconds time) { return std::llround(time.value * 1e9); }

/// Five numbers each, so that a line holds many: kind, lane, begin and duration in nanoseconds, bucket.
json spans_json(const std::vector<Span>& spans) {
  json array = json::array();
  for (const Span& span : spans)
    array.push_back({static_cast<int>(span.kind), static_cast<int>(span.lane), in_nanoseconds(span.begin),
                     in_nanoseconds(span.duration()), span.bucket});
  return array;
}

std::vector<Span> spans_from(const json& array, int rank) {
  std::vector<Span> spans;
  for (const json& each : array) {
    const double begin = 1e-9 * each.at(2).get<double>(), duration = 1e-9 * each.at(3).get<double>();
    spans.push_back({.rank = rank,
                     .lane = kLanes.at(each.at(1).get<std::size_t>()),
                     .kind = kSpanKinds.at(each.at(0).get<std::size_t>()),
                     .begin = Seconds(begin),
                     .end = Seconds(begin + duration),
                     .bucket = each.at(4).get<int>()});
  }
  return spans;
}

/// Times in nanoseconds: a launcher passes all of it on as one argument.
json emulation_json(const EmulationOrder& order) {
  json elements = json::array(), ready = json::array();
  for (const GradientEvent& gradient : order.replay.timeline.gradients) {
    elements.push_back(gradient.elements);
    ready.push_back(in_nanoseconds(gradient.ready));
  }
  const auto hop = [](const EmulatedCosts::Hop& each) {
    return json{each.latency.value, each.low_latency.value, each.seconds_per_byte};
  };
  return {{"batch", order.replay.timeline.batch},
          {"forward", order.replay.timeline.forward.value},
          {"backward", order.replay.timeline.backward.value},
          {"update", order.replay.timeline.update.value},
          {"elements", elements},
          {"ready", ready},
          {"dilation", order.replay.dilation},
          {"straggler", order.replay.straggler},
          {"overlap_slowdown", order.replay.overlap_slowdown},
          {"slower", order.replay.slower},
          {"local", hop(order.costs.local)},
          {"network", hop(order.costs.network)},
          {"node_of_rank", order.costs.node_of_rank},
          {"servers", order.costs.server_seconds_per_byte},
          {"groups", order.costs.groups},
          {"noticed_late", order.costs.noticed_late.value},
          {"polling", order.polling.value}};
}

EmulationOrder emulation_from(const json& object) {
  const auto seconds = [&](const char* name) { return Seconds(object.at(name).get<double>()); };
  const auto hop = [&](const char* name) {
    const json& numbers = object.at(name);
    return EmulatedCosts::Hop{Seconds(numbers.at(0).get<double>()), Seconds(numbers.at(1).get<double>()),
                              numbers.at(2).get<double>()};
  };
  EmulationOrder order;
  StepTimeline& timeline = order.replay.timeline;
  object.at("batch").get_to(timeline.batch);
  timeline.forward = seconds("forward");
  timeline.backward = seconds("backward");
  timeline.update = seconds("update");
  const json& elements = object.at("elements");
  for (std::size_t i = 0; i < elements.size(); ++i)
    timeline.gradients.push_back({.tensor = fmt::format("tensor {}", i),
                                  .elements = elements[i].get<std::int64_t>(),
                                  .ready = Seconds(1e-9 * object.at("ready").at(i).get<double>())});
  object.at("dilation").get_to(order.replay.dilation);
  object.at("straggler").get_to(order.replay.straggler);
  object.at("overlap_slowdown").get_to(order.replay.overlap_slowdown);
  object.at("slower").get_to(order.replay.slower);
  order.costs.local = hop("local");
  order.costs.network = hop("network");
  object.at("node_of_rank").get_to(order.costs.node_of_rank);
  object.at("servers").get_to(order.costs.server_seconds_per_byte);
  object.at("groups").get_to(order.costs.groups);
  order.costs.noticed_late = seconds("noticed_late");
  order.polling = seconds("polling");
  return order;
}

OwnModel own_model_from(const json& object) {
  return {object.at("file").get<std::string>(), object.at("loss").get<std::string>(),
          parse_sample_shape(object.at("input").get<std::string>())};
}

}  // namespace

std::string to_json(const WorkOrder& order) {
  json object{
      {"case", case_json(order.asked)},  {"warmup_steps", order.warmup_steps}, {"steps", order.steps},
      {"budget", order.budget.value},    {"timeout", order.timeout.value},     {"traced_steps", order.traced_steps},
      {"delay", delay_json(order.delay)}};
  if (order.emulation) object["emulation"] = emulation_json(*order.emulation);
  if (order.own)
    object["own"] = {{"file", order.own->file}, {"loss", order.own->loss}, {"input", order.own->input.text()}};
  return object.dump();
}

WorkOrder parse_work_order(std::string_view text) {
  try {
    const json object = json::parse(text);
    WorkOrder order;
    order.asked = case_from(object.at("case"));
    object.at("warmup_steps").get_to(order.warmup_steps);
    object.at("steps").get_to(order.steps);
    order.budget = Seconds(object.at("budget").get<double>());
    order.timeout = Seconds(object.at("timeout").get<double>());
    object.at("traced_steps").get_to(order.traced_steps);
    order.delay = delay_from(object.at("delay"));
    if (object.contains("emulation")) order.emulation = emulation_from(object.at("emulation"));
    if (object.contains("own")) order.own = own_model_from(object.at("own"));
    return order;
  } catch (const json::exception& error) {
    throw Error(ExitCode::internal, fmt::format("a worker cannot read its order: {}", error.what()));
  }
}

std::string to_json(const CollectiveOrder& order) {
  json cases = json::array();
  for (const LoopCase& each : order.cases)
    cases.push_back({{"index", each.index}, {"case", case_json(each.asked)}, {"tensors", each.tensors}});
  const LoopOptions& options = order.options;
  return json{{"cases", cases},
              {"ranks", order.ranks},
              {"threads", order.threads},
              {"warmups", options.warmups},
              {"iterations", options.iterations},
              {"check", options.check},
              {"out_of_place", options.out_of_place},
              {"budget", options.budget.value},
              {"timeout", options.timeout.value},
              {"delay", delay_json(options.delay)}}
      .dump();
}

std::optional<CollectiveOrder> parse_collective_order(std::string_view text) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object() || !object.contains("cases")) return std::nullopt;
  try {
    CollectiveOrder order;
    for (const json& each : object.at("cases"))
      order.cases.push_back({each.at("index").get<int>(), case_from(each.at("case")),
                             each.at("tensors").get<std::vector<std::int64_t>>()});
    object.at("ranks").get_to(order.ranks);
    object.at("threads").get_to(order.threads);
    object.at("warmups").get_to(order.options.warmups);
    object.at("iterations").get_to(order.options.iterations);
    object.at("check").get_to(order.options.check);
    object.at("out_of_place").get_to(order.options.out_of_place);
    order.options.budget = Seconds(object.at("budget").get<double>());
    order.options.timeout = Seconds(object.at("timeout").get<double>());
    order.options.delay = delay_from(object.at("delay"));
    return order;
  } catch (const json::exception& error) {
    throw Error(ExitCode::internal, fmt::format("a worker cannot read its order: {}", error.what()));
  }
}

std::string to_json(const ProbeOrder& order) {
  return json{{"probe",
               {{"ranks", order.ranks},
                {"passes", order.passes},
                {"threads", order.threads},
                {"window", order.window.value},
                {"exchange", order.exchange.value},
                {"timeout", order.timeout.value},
                {"delay", delay_json(order.delay)}}}}
      .dump();
}

std::optional<ProbeOrder> parse_probe_order(std::string_view text) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object() || !object.contains("probe")) return std::nullopt;
  try {
    const json& probe = object.at("probe");
    return ProbeOrder{.ranks = probe.at("ranks").get<int>(),
                      .passes = probe.at("passes").get<int>(),
                      .threads = probe.at("threads").get<int>(),
                      .window = Seconds(probe.at("window").get<double>()),
                      .exchange = Seconds(probe.at("exchange").get<double>()),
                      .timeout = Seconds(probe.at("timeout").get<double>()),
                      .delay = delay_from(probe.at("delay"))};
  } catch (const json::exception& error) {
    throw Error(ExitCode::internal, fmt::format("a worker cannot read its order: {}", error.what()));
  }
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
  const json object = std::visit(
      Overloaded{
          [](const HelloLine& hello) {
            const ProcessIdentity& process = hello.process;
            return json{{"hello",
                         {{"rank", hello.rank},
                          {"pid", process.pid},
                          {"host", process.host},
                          {"start_time", process.start_time}}}};
          },
          [](const StepLine& step) {
            return json{{"step",
                         {{"rank", step.rank},
                          {"iteration", step.iteration},
                          {"warmup", step.warmup},
                          {"seconds", step.seconds},
                          {"exposed", step.exposed}}}};
          },
          [](const SpansLine& step) {
            return json{
                {"spans", {{"rank", step.rank}, {"iteration", step.iteration}, {"spans", spans_json(step.spans)}}}};
          },
          [](const DoneLine& done) {
            return json{{"done", {{"rank", done.rank}, {"digest", done.digest}}}};
          },
          [](const FailureLine& failure) {
            return json{
                {"failure", {{"rank", failure.rank}, {"exit_code", failure.exit_code}, {"message", failure.message}}}};
          },
          [](const SizeLine& size) {
            return json{{"size", {{"rank", size.rank}, {"cases", size.cases}}}};
          },
          [](const WorkingLine& working) {
            return json{{"working", {{"rank", working.rank}, {"case", working.index}}}};
          },
          [](const SamplesLine& samples) {
            return json{{"samples",
                         {{"rank", samples.rank},
                          {"case", samples.index},
                          {"metric", samples.metric},
                          {"unit", samples.unit},
                          {"warmup", samples.warmup},
                          {"first", samples.first},
                          {"values", numbers(samples.values)}}}};
          },
          [](const CaseLine& end) {
            return json{{"case", {{"rank", end.rank}, {"case", end.index}, {"refusal", end.refusal}}}};
          },
          [](const SpeedLine& speed) {
            return json{{"speed",
                         {{"rank", speed.rank},
                          {"peer", speed.peer ? json(*speed.peer) : json(nullptr)},
                          {"values", numbers(speed.values)}}}};
          },
      },
      line);
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<WorkerLine> parse_worker_line(std::string_view text) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object() || object.size() != 1) return std::nullopt;
  try {
    const auto only = object.begin();  // it has a name, so that g++ 13 sees that what it refers to lives on
    const json& body = only.value();
    const std::string& kind = only.key();
    const int rank = body.at("rank").get<int>();
    if (kind == "hello")
      return HelloLine{rank, {body.at("pid").get<int>(), body.value("host", ""), body.value("start_time", 0LL)}};
    if (kind == "step")
      return StepLine{rank, body.at("iteration").get<int>(), body.at("warmup").get<bool>(),
                      body.at("seconds").get<double>(), body.at("exposed").get<double>()};
    if (kind == "spans") return SpansLine{rank, body.at("iteration").get<int>(), spans_from(body.at("spans"), rank)};
    if (kind == "done") return DoneLine{rank, body.at("digest").get<std::string>()};
    if (kind == "failure")
      return FailureLine{rank, body.at("exit_code").get<int>(), body.at("message").get<std::string>()};
    if (kind == "size") return SizeLine{rank, body.at("cases").get<std::vector<int>>()};
    if (kind == "working") return WorkingLine{rank, body.at("case").get<int>()};
    if (kind == "samples")
      return SamplesLine{rank,
                         body.at("case").get<int>(),
                         body.at("metric").get<std::string>(),
                         body.at("unit").get<std::string>(),
                         body.at("warmup").get<bool>(),
                         body.at("first").get<int>(),
                         numbers_from(body.at("values"))};
    if (kind == "speed") {
      const json& peer = body.at("peer");
      return SpeedLine{rank, peer.is_null() ? std::nullopt : std::optional(peer.get<int>()),
                       numbers_from(body.at("values"))};
    }
    if (kind == "case") return CaseLine{rank, body.at("case").get<int>(), body.at("refusal").get<std::string>()};
  } catch (const json::exception&) {
  } catch (const std::out_of_range&) {  // a kind that we do not know
  }
  return std::nullopt;
}

}  // namespace hbench
