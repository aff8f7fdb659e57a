#include "bench/worker_protocol.hpp"

#include <fmt/format.h>

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
  return {{"workload", asked.workload},        {"gpus", asked.gpus},
          {"batch", asked.batch_per_gpu},      {"image_size", asked.image_size},
          {"algorithm", strategy.algorithm},   {"placement", strategy.placement},
          {"servers", strategy.servers},       {"server_mode", strategy.server_mode},
          {"compressor", strategy.compressor}, {"fusion", strategy.fusion},
          {"overlap", strategy.overlap}};
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
  return asked;
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
  } catch (const json::exception&) {
  }
  return std::nullopt;
}

}  // namespace hbench
