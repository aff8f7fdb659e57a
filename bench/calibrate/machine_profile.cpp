#include "bench/calibrate/machine_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "collectives/base/toml_text.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

/// The largest uncertainty that a profile may state.
constexpr double kMostUncertainty = 0.9;

bool is_number(std::string_view text) {
  double number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  return status == std::errc() && end == text.data() + text.size();
}

/// `key = { value = "15 us", source = "..." }`
std::string line(std::string_view key, std::string_view text, std::string_view source) {
  return fmt::format("{} = {{ value = {}, source = {} }}\n", key, is_number(text) ? std::string(text) : toml_text(text),
                     toml_text(source));
}

/// `network`'s figures of one section, but for one key.
std::string kept(const Profile& network, std::string_view section, std::string_view but = {}) {
  const std::string prefix = fmt::format("{}.", section);
  std::string lines;
  for (const Figure& figure : network.figures)
    if (figure.key.starts_with(prefix) && figure.key.substr(prefix.size()) != but)
      lines += line(figure.key.substr(prefix.size()), figure.text, figure.source);
  return lines;
}

std::string section(std::string_view name, const std::string& lines) {
  return lines.empty() ? "" : fmt::format("\n[{}]\n{}", name, lines);
}

/// Digits enough that reading them back changes nothing that matters: a millionth.
std::string local(const Profile& network, const MachineFigures& machine) {
  if (!machine.link) return kept(network, "local");
  return line("latency", fmt::format("{:.6g} us", machine.link->latency.value * 1e6), machine.how_linked) +
         line("rate", fmt::format("{:.6g} MB/s", machine.link->rate.value / 1e6), machine.how_linked);
}

std::string prediction(const Profile& network, const MachineFigures& machine) {
  if (!machine.link || machine.link->mean_error <= network.uncertainty) return kept(network, "prediction");
  const double uncertainty = std::min(machine.link->mean_error, kMostUncertainty);
  return line("uncertainty", fmt::format("{:.3g}", uncertainty),
              fmt::format("mean error of the fitted link on {} sizes it has not seen; {}", machine.link->unseen,
                          machine.how_linked));
}

std::string rates(const MachineFigures& machine) {
  std::string lines;
  for (const auto& [workload, rate] : machine.rates)
    lines += fmt::format("{} = {{ value = {:.6g}, batch = {}, source = {} }}\n", toml_text(workload),
                         rate.samples_per_second, rate.batch, toml_text(rate.source));
  return lines;
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
                     line("gpus_per_node", std::to_string(machine.ranks), machine.how)) +
         section("local", local(network, machine)) + section("network", kept(network, "network")) +
         section("parameter_server", kept(network, "parameter_server")) +
         section("compute", kept(network, "compute", "memory_rate")) +
         section("prediction", prediction(network, machine)) + section("rates", rates(machine));
}

}  // namespace hbench
