#include "bench/worker_protocol.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

#include "collectives/base/error.hpp"

namespace hbench {
namespace {

using nlohmann::json;

template <class... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

json case_json(const Case& asked) {
  const Strategy& strategy = asked.strategy;
  json object{{"workload", asked.workload},
              {"gpus", asked.gpus},
              {"batch", asked.batch_per_gpu},
              {"image_size", asked.image_size},
              {"algorithm", strategy.algorithm},
              {"placement", strategy.placement},
              {"servers", strategy.servers},
              {"server_mode", strategy.server_mode},
              {"compressor", strategy.compressor},
              {"fusion", strategy.fusion},
              {"overlap", strategy.overlap},
              {"device", asked.training.device},
              {"training_executor", asked.training.executor},
              {"precision", asked.training.precision}};
  if (!asked.is_collective()) return object;
  const CollectiveTask& task = asked.collective;
  object["collective"] = {{"name", task.name},           {"bytes", task.bytes},
                          {"data_type", task.data_type}, {"operation", task.operation},
                          {"executor", task.executor},   {"ranks_per_node", task.ranks_per_node},
                          {"segments", task.segments}};
  return object;
}

Case case_from(const json& object) {
  Case asked;
  asked.evidence = Evidence::measured;
  asked.profile = "local";
  object.at("workload").get_to(asked.workload);
  object.at("gpus").get_to(asked.gpus);
  object.at("batch").get_to(asked.batch_per_gpu);
  object.at("image_size").get_to(asked.image_size);
  Strategy& strategy = asked.strategy;
  object.at("algorithm").get_to(strategy.algorithm);
  object.at("placement").get_to(strategy.placement);
  object.at("servers").get_to(strategy.servers);
  object.at("server_mode").get_to(strategy.server_mode);
  object.at("compressor").get_to(strategy.compressor);
  object.at("fusion").get_to(strategy.fusion);
  object.at("overlap").get_to(strategy.overlap);
  object.at("device").get_to(asked.training.device);
  object.at("training_executor").get_to(asked.training.executor);
  object.at("precision").get_to(asked.training.precision);
  if (!object.contains("collective")) return asked;
  const json& task = object.at("collective");
  task.at("name").get_to(asked.collective.name);
  task.at("bytes").get_to(asked.collective.bytes);
  task.at("data_type").get_to(asked.collective.data_type);
  task.at("operation").get_to(asked.collective.operation);
  task.at("executor").get_to(asked.collective.executor);
  task.at("ranks_per_node").get_to(asked.collective.ranks_per_node);
  task.at("segments").get_to(asked.collective.segments);
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

}  // namespace

std::string to_json(const WorkOrder& order) {
  return json{{"case", case_json(order.asked)}, {"warmup_steps", order.warmup_steps}, {"steps", order.steps},
              {"budget", order.budget.value},   {"timeout", order.timeout.value},     {"cores", order.cores}}
      .dump();
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
    object.at("cores").get_to(order.cores);
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
              {"cores", order.cores},
              {"warmups", options.warmups},
              {"iterations", options.iterations},
              {"check", options.check},
              {"out_of_place", options.out_of_place},
              {"budget", options.budget.value},
              {"timeout", options.timeout.value}}
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
    object.at("cores").get_to(order.cores);
    object.at("warmups").get_to(order.options.warmups);
    object.at("iterations").get_to(order.options.iterations);
    object.at("check").get_to(order.options.check);
    object.at("out_of_place").get_to(order.options.out_of_place);
    order.options.budget = Seconds(object.at("budget").get<double>());
    order.options.timeout = Seconds(object.at("timeout").get<double>());
    return order;
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
            return json{{"hello", {{"rank", hello.rank}, {"pid", hello.pid}}}};
          },
          [](const StepLine& step) {
            return json{{"step",
                         {{"rank", step.rank},
                          {"iteration", step.iteration},
                          {"warmup", step.warmup},
                          {"seconds", step.seconds},
                          {"exposed", step.exposed}}}};
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
      },
      line);
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<WorkerLine> parse_worker_line(std::string_view text) {
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object() || object.size() != 1) return std::nullopt;
  try {
    const json& body = object.begin().value();
    const std::string& kind = object.begin().key();
    const int rank = body.at("rank").get<int>();
    if (kind == "hello") return HelloLine{rank, body.at("pid").get<int>()};
    if (kind == "step")
      return StepLine{rank, body.at("iteration").get<int>(), body.at("warmup").get<bool>(),
                      body.at("seconds").get<double>(), body.at("exposed").get<double>()};
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
    if (kind == "case") return CaseLine{rank, body.at("case").get<int>(), body.at("refusal").get<std::string>()};
  } catch (const json::exception&) {
  }
  return std::nullopt;
}

}  // namespace hbench
