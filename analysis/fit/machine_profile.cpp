#include "analysis/fit/machine_profile.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/fit/profile_text.hpp"
#include "collectives/base/toml_text.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

/// The largest uncertainty that a profile may state.
constexpr double kMostUncertainty = 0.9;

/// Digits enough that reading them back changes nothing that matters: a millionth.
std::string local(const Profile& network, const MachineFigures& machine) {
  if (!machine.link) return profile_lines(network, "local");
  return profile_line("latency", fmt::format("{:.6g} us", machine.link->latency.value * 1e6), machine.how_linked) +
         profile_line("rate", fmt::format("{:.6g} MB/s", machine.link->rate.value / 1e6), machine.how_linked);
}

std::string prediction(const Profile& network, const MachineFigures& machine) {
  if (!machine.link || machine.link->mean_error <= network.uncertainty) return profile_lines(network, "prediction");
  const double uncertainty = std::min(machine.link->mean_error, kMostUncertainty);
  return profile_line("uncertainty", fmt::format("{:.3g}", uncertainty),
                      fmt::format("mean error of the fitted link on {} sizes it has not seen; {}", machine.link->unseen,
                                  machine.how_linked));
}

std::string line_rate_in_words(const Profile& network) {
  const std::string one = format(network.line_rate);
  return network.nics > 1 ? fmt::format("{} x {}", network.nics, one) : one;
}

}  // namespace

std::string machine_title(const Profile& network, const MachineFigures& machine) {
  return fmt::format("machines like this joined by {}, {} {} per node, {}", network.name, machine.ranks, machine.what,
                     line_rate_in_words(network));
}

std::string format_machine_profile(const Profile& network, const MachineFigures& machine) {
  return fmt::format("title = {}\ngpu = {}\n{}", toml_text(machine_title(network, machine)), toml_text(machine.gpu),
                     profile_line("gpus_per_node", std::to_string(machine.ranks), machine.how)) +
         profile_section("local", local(network, machine)) +
         profile_section("network", profile_lines(network, "network")) +
         profile_section("parameter_server", profile_lines(network, "parameter_server")) +
         profile_section("compute", profile_line("call_latency", "0 us", "a part of the latency that was measured") +
                                        profile_lines(network, "compute", {"memory_rate", "call_latency"})) +
         profile_section("prediction", prediction(network, machine)) +
         profile_section("rates", rate_lines(machine.rates)) + profile_section("coding", coding_lines(machine.coding));
}

}  // namespace hbench
