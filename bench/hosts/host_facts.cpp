#include "bench/hosts/host_facts.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "collectives/base/error.hpp"

namespace hbench {

std::string to_json(const HostFacts& facts) {
  nlohmann::json addresses = nlohmann::json::array();
  for (const HostAddress& address : facts.addresses)
    addresses.push_back({{"interface", address.interface},
                         {"subnet", address.subnet},
                         {"mtu", address.mtu},
                         {"speed", address.speed},
                         {"errors", address.errors}});
  return nlohmann::json{{"name", facts.name},
                        {"facts", facts.facts},
                        {"addresses", addresses},
                        {"clock", facts.clock},
                        {"no_training", facts.training.no_training},
                        {"gpus", facts.training.gpus},
                        {"no_gpu", facts.training.no_gpu},
                        {"absent", facts.training.absent}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

HostFacts parse_host_facts(std::string_view json) {
  try {
    const auto object = nlohmann::json::parse(json);
    HostFacts facts;
    object.at("name").get_to(facts.name);
    object.at("facts").get_to(facts.facts);
    for (const auto& address : object.at("addresses"))
      facts.addresses.push_back({.interface = address.at("interface"),
                                 .subnet = address.at("subnet"),
                                 .mtu = address.at("mtu"),
                                 .speed = address.at("speed"),
                                 .errors = address.at("errors")});
    object.at("clock").get_to(facts.clock);
    object.at("no_training").get_to(facts.training.no_training);
    object.at("gpus").get_to(facts.training.gpus);
    object.at("no_gpu").get_to(facts.training.no_gpu);
    object.at("absent").get_to(facts.training.absent);
    return facts;
  } catch (const nlohmann::json::exception& error) {
    throw Error(ExitCode::internal, fmt::format("cannot parse the output of 'hbench-worker host': {}", error.what()));
  }
}

}  // namespace hbench
