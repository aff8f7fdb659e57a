#include "bench/submit/mpijob.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

#include "bench/command/command_line.hpp"
#include "collectives/base/parameters.hpp"
#include "collectives/base/text.hpp"
#include "reports/formats/plain_text.hpp"

namespace hbench {

extern const std::string_view kTemplate_mpijob;  // mpijob.yaml.in

namespace {

std::string or_else(const std::string& given, const std::string& otherwise) {
  return given.empty() ? otherwise : given;
}

/// Kubernetes has no deadline of its own: a job that hangs would hold its GPUs until somebody looks.
constexpr double kLongestSeconds = 24 * 3600;

/// Pods have one interface, of this name, and seldom a subnet that is the same on all nodes.
constexpr const char *kNetworkFlag = "--network-interface", *kPodInterface = "eth0";

/// By the name of a placeholder. No value: lines that name it are left out; several: such a line is there for each.
using TemplateValues = std::map<std::string, std::vector<std::string>>;

/// `text` within the quotes of a YAML scalar. The submission was checked for what no YAML can hold.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : clean_text(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

/// Lines that begin with `##` are for those who read the template.
std::string filled(std::string_view pattern, const TemplateValues& values) {
  std::string out;
  for (const std::string_view line : lines_of(pattern)) {
    if (trimmed(line).starts_with("##")) continue;
    std::vector<const std::vector<std::string>*> known;
    const std::vector<std::string_view> parts = split(line, '@');
    for (std::size_t i = 1; i < parts.size(); i += 2) known.push_back(&values.at(std::string(parts[i])));
    std::size_t times = 1;
    for (const auto* each : known) times = each->size() == 1 ? times : each->size();
    for (std::size_t which = 0; which < times; ++which) {
      out += parts[0];
      for (std::size_t i = 0; i < known.size(); ++i)
        out.append(escaped((*known[i])[known[i]->size() == 1 ? 0 : which])).append(parts[2 * i + 2]);
      out += '\n';
    }
  }
  return out;
}

/// What the container runs. Kubernetes would put a variable's value in the place of $(NAME), and takes $$ for $.
std::vector<std::string> sweep_arguments(const Submission& submission) {
  std::vector<std::string> arguments = submission.sweep_into(kResultsFolder), doubled;
  if (std::ranges::none_of(submission.sweep, [](const std::string& text) { return is_flag(text, kNetworkFlag); }))
    arguments.insert(arguments.begin() + std::ssize(submission.sweep), {kNetworkFlag, kPodInterface});
  const std::vector<std::string> expected = submission.expected_hosts();
  arguments.insert(arguments.begin() + std::ssize(submission.sweep), expected.begin(), expected.end());
  for (const std::string& text : arguments) {
    std::string& out = doubled.emplace_back();
    for (const char c : text) out.append(c == '$' ? 2 : 1, c);
  }
  return doubled;
}

std::string deadline(const Submission& submission) {
  const double seconds = submission.time_limit.value > 0 ? submission.time_limit.value : kLongestSeconds;
  return std::to_string(static_cast<std::int64_t>(std::ceil(seconds)));
}

TemplateValues values_of(const Submission& submission) {
  TemplateValues values{
      {"job", {submission.job}},
      {"claim", {results_claim(submission)}},
      {"nodes", {std::to_string(submission.nodes)}},
      {"pods", {std::to_string(submission.nodes + 1)}},
      {"ranks-per-node", {std::to_string(submission.ranks_per_node)}},
      {"gpus", {std::to_string(submission.gpus_per_node)}},
      {"deadline", {deadline(submission)}},
      {"user", {std::to_string(kImageUser)}},
      {"results", {std::string(kResultsFolder)}},
      {"argument", sweep_arguments(submission)},
      {"cpu", {worker_cpu(submission)}},
      {"memory", {worker_memory(submission)}},
      {"shm", {worker_shm(submission)}},
  };
  for (const auto& [name, value] : submission.options) values.try_emplace(name, value.empty() ? 0 : 1, value);
  std::vector<std::string>&keys = values["selector-key"], &selected = values["selector-value"];
  for (const KeyAndValue& pair : pairs_of(submission.option("node-selector"))) {
    keys.emplace_back(pair.key);
    selected.emplace_back(pair.value.value_or(""));
  }
  values["if-selector"].resize(keys.empty() ? 0 : 1);
  values["if-gpus"].resize(submission.gpus_per_node > 0 ? 1 : 0);
  if (submission.gpus_per_node == 0) values["gpu-resource"].clear();
  const std::string& rdma = submission.option("rdma-resource");
  if (!rdma.empty()) values["rdma-resource"] = {std::string(pair_of(rdma).key)};
  values["rdma-count"] = {std::to_string(count_of(rdma).value_or(1))};
  values["rdma-capability"] = {rdma.empty() ? "" : ", add: [IPC_LOCK]"};
  return values;
}

}  // namespace

std::string results_claim(const Submission& submission) {
  return or_else(submission.option("claim"), submission.job + "-results");
}

std::string worker_cpu(const Submission& submission) {
  const int cores = submission.gpus_per_node > 0 ? 4 * submission.gpus_per_node : submission.ranks_per_node;
  return or_else(submission.option("cpu"), std::to_string(cores));
}

std::string worker_memory(const Submission& submission) {
  const int gibibytes = submission.gpus_per_node > 0 ? 16 * submission.gpus_per_node : 4 * submission.ranks_per_node;
  return or_else(submission.option("memory"), fmt::format("{}Gi", gibibytes));
}

std::string worker_shm(const Submission& submission) {
  return or_else(submission.option("shm"), fmt::format("{}Gi", submission.ranks_per_node));
}

KeyAndValue pair_of(std::string_view text) {
  const std::size_t sign = text.find('=');
  if (sign == text.npos) return {text, std::nullopt};
  return {text.substr(0, sign), text.substr(sign + 1)};
}

std::vector<KeyAndValue> pairs_of(std::string_view text) {
  std::vector<KeyAndValue> pairs;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    pairs.push_back(pair_of(text.substr(0, comma)));
    text = comma == text.npos ? std::string_view() : text.substr(comma + 1);
  }
  return pairs;
}

std::optional<int> count_of(std::string_view resource) {
  const int count = parse_number<int>(pair_of(resource).value.value_or("1")).value_or(0);
  return count >= 1 && count <= 999 ? std::optional(count) : std::nullopt;
}

std::string rendered_mpijob(const Submission& submission) {
  std::string yaml = filled(kTemplate_mpijob, values_of(submission));
  if (submission.option("claim").empty()) return yaml;
  constexpr std::string_view kNextDocument = "---\n";
  const std::size_t claim = yaml.find('\n') + 1;
  return yaml.erase(claim, yaml.find(kNextDocument) + kNextDocument.size() - claim);
}

}  // namespace hbench
