#include "analysis/fit/profile_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/base/text.hpp"
#include "collectives/base/toml_reader.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
std::string profile_line(std::string_view key, std::string_view text, std::string_view source, double assumed) {
  const bool plain = parse_number<double>(text) || text == "true" || text == "false";
  const std::string mark = assumed > 1 ? fmt::format(", assumed = {}", assumed) : "";
  return fmt::format("{} = {{ value = {}{}, source = {} }}\n", key, plain ? std::string(text) : toml_text(text), mark,
                     toml_text(source));
}

std::string price_lines(const std::optional<Price>& price) {
  if (!price) return "";
  return fmt::format("per_node_hour = {}\ncurrency = {}\nregion = {}\nretrieved = {}\nmodel = {}\nsource = {}\n",
                     price->per_node_hour.amount, toml_text(price->per_node_hour.currency), toml_text(price->region),
                     toml_text(price->retrieved), toml_text(to_string(price->model)), toml_text(price->source));
}

std::string profile_section(std::string_view name, const std::string& lines) {
  return lines.empty() ? "" : fmt::format("\n[{}]\n{}", name, lines);
}

std::string profile_lines(const Profile& profile, std::string_view section, const std::vector<std::string_view>& but) {
  const std::string prefix = fmt::format("{}.", section);
  std::string lines;
  for (const Figure& figure : profile.figures)
    if (figure.key.starts_with(prefix) && std::ranges::find(but, figure.key.substr(prefix.size())) == but.end())
      lines += profile_line(figure.key.substr(prefix.size()), figure.text, figure.source, figure.assumed);
  return lines;
}

std::string rate_lines(const std::map<std::string, GpuRate, std::less<>>& rates) {
  std::string lines;
  for (const auto& [workload, rate] : rates)
    lines += fmt::format("{} = {{ value = {:.6g}{}{}, factor = {:.4g}{}, source = {} }}\n", toml_text(workload),
                         rate.samples_per_second, rate.batch > 0 ? fmt::format(", batch = {}", rate.batch) : "",
                         rate.precision.empty() ? "" : fmt::format(", precision = {}", toml_text(rate.precision)),
                         rate.factor, rate.node > 0 ? fmt::format(", node = {:.6g}", rate.node) : "",
                         toml_text(rate.source));
  return lines;
}

std::string coding_lines(const std::map<std::string, StatedCoding, std::less<>>& coding) {
  std::string lines;
  for (const auto& [compressor, stated] : coding)
    lines +=
        fmt::format("{} = {{ encode = \"{:.6g} ns\", decode = \"{:.6g} ns\", call = \"{:.6g} us\", source = {} }}\n",
                    toml_text(compressor), stated.rate.encode * 1e9, stated.rate.decode * 1e9, stated.rate.call * 1e6,
                    toml_text(stated.source));
  return lines;
}

std::string curve_section(const MeasuredCurve& curve) {
  std::string times;
  for (const auto& [bytes, time] : curve.points)
    times += fmt::format("  [{}, \"{:.6g} us\"],\n", toml_text(exact_text(Bytes(static_cast<double>(bytes)))),
                         time.value * 1e6);
  return fmt::format(
      "\n[[collectives]]\noperation = {}\nalgorithm = {}\nranks = {}\nnodes = {}\nsource = {}\ntimes = [\n{}]\n",
      toml_text(to_string(curve.collective)), toml_text(curve.algorithm), curve.ranks, curve.nodes,
      toml_text(curve.source), times);
}

void set_figure(Profile& profile, std::string_view key, const std::string& text, const std::string& source) {
  const auto known = std::ranges::find(profile.figures, key, &Figure::key);
  if (known == profile.figures.end()) {
    profile.figures.push_back({.key = std::string(key), .text = text, .source = source});
    return;
  }
  known->text = text;
  known->source = source;
}

std::string format_profile(const Profile& profile) {
  std::string text = fmt::format("title = {}\n", toml_text(profile.title));
  if (!profile.provider.empty()) text += fmt::format("provider = {}\n", toml_text(profile.provider));
  if (!profile.instance_type.empty()) text += fmt::format("instance_type = {}\n", toml_text(profile.instance_type));
  if (!profile.gpu.empty()) text += fmt::format("gpu = {}\n", toml_text(profile.gpu));
  for (const Figure& figure : profile.figures)
    if (figure.key == "gpus_per_node" || figure.key == "nodes_per_domain" || figure.key == "most_nodes")
      text += profile_line(figure.key, figure.text, figure.source, figure.assumed);
  for (const char* section : {"local", "network", "parameter_server", "compute", "prediction"})
    text += profile_section(section, profile_lines(profile, section));
  text += profile_section("price", price_lines(profile.price));
  text += profile_section("rates", rate_lines(profile.rates));
  text += profile_section("coding", coding_lines(profile.coding));
  for (const MeasuredCurve& curve : profile.curves) text += curve_section(curve);
  return text;
}

}  // namespace hbench
