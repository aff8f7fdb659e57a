#include "bench/hosts/host_facts.hpp"

#include <fmt/format.h>

#include "collectives/base/error.hpp"
#include "collectives/base/json_fields.hpp"
#include "collectives/base/read_json.hpp"

namespace hbench {

template <class Walk, Either<HostAddress> Address>
void describe_fields(Walk& walk, Address& address) {
  walk("interface", address.interface)("subnet", address.subnet)("mtu", address.mtu);
  walk("speed", address.speed)("errors", address.errors);
}

template <class Walk, Either<HostFacts> Facts>
void describe_fields(Walk& walk, Facts& facts) {
  auto& training = facts.training;
  walk("name", facts.name)("facts", facts.facts)("addresses", facts.addresses)("clock", facts.clock);
  walk("no_training", training.no_training)("gpus", training.gpus)("no_gpu", training.no_gpu);
  walk("absent", training.absent);
}

std::string to_json(const HostFacts& facts) { return json_line(facts); }

HostFacts parse_host_facts(std::string_view json) {
  try {
    return read_json(json).get<HostFacts>();
  } catch (const nlohmann::json::exception& error) {
    throw Error(ExitCode::internal, fmt::format("cannot parse the output of 'hbench-worker host': {}", error.what()));
  }
}

}  // namespace hbench
