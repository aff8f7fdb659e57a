#include "bench/submit/mpijob.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <utility>

#include "bench/command/command_line.hpp"
#include "collectives/base/parameters.hpp"
#include "collectives/base/text.hpp"
#include "collectives/base/units_text.hpp"
#include "reports/formats/plain_text.hpp"

namespace hbench {

extern const std::string_view kTemplate_mpijob;  // mpijob.yaml.in

namespace {

constexpr std::size_t kLongestLabel = 63, kLongestSubdomain = 253;

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower_or_digit(char c) { return is_lower(c) || is_digit(c); }
bool is_letter_or_digit(char c) { return is_lower_or_digit(c) || (c >= 'A' && c <= 'Z'); }

/// What may stand behind a number.
constexpr std::array kSuffixes{Unit{"", 1},        Unit{"m", 1e-3},    Unit{"k", 1e3},     Unit{"M", 1e6},
                               Unit{"G", 1e9},     Unit{"T", 1e12},    Unit{"P", 1e15},    Unit{"E", 1e18},
                               Unit{"Ki", 0x1p10}, Unit{"Mi", 0x1p20}, Unit{"Gi", 0x1p30}, Unit{"Ti", 0x1p40},
                               Unit{"Pi", 0x1p50}, Unit{"Ei", 0x1p60}};

bool is_label_of_any_length(std::string_view text) {
  return !text.empty() && is_lower_or_digit(text.front()) && is_lower_or_digit(text.back()) &&
         std::ranges::all_of(text, [](char c) { return is_lower_or_digit(c) || c == '-'; });
}

std::string or_else(const std::string& given, const std::string& otherwise) {
  return given.empty() ? otherwise : given;
}

/// Quantities of a worker: of `--cpu`, `--memory` and `--shm`, or what is usual for as many ranks or GPUs.
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

struct KeyAndValue {
  std::string_view key;
  std::optional<std::string_view> value;  ///< none where there is no `=`
};

/// `a=b`.
KeyAndValue pair_of(std::string_view text) {
  const std::size_t sign = text.find('=');
  if (sign == text.npos) return {text, std::nullopt};
  return {text.substr(0, sign), text.substr(sign + 1)};
}

/// `a=b,c=d`; none for an empty text.
std::vector<KeyAndValue> pairs_of(std::string_view text) {
  std::vector<KeyAndValue> pairs;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    pairs.push_back(pair_of(text.substr(0, comma)));
    text = comma == text.npos ? std::string_view() : text.substr(comma + 1);
  }
  return pairs;
}

/// How many devices a resource such as `rdma/ib=8` asks for: 1 without `=`; nothing where that is no number from 1 to
/// 999.
std::optional<int> count_of(std::string_view resource) {
  const int count = parse_number<int>(pair_of(resource).value.value_or("1")).value_or(0);
  return count >= 1 && count <= 999 ? std::optional(count) : std::nullopt;
}

// Each function gives the first refusal of its part, or nothing.

std::string invalid(std::string_view option, std::string_view value, std::string_view expected) {
  return fmt::format("invalid --{} '{}': expected {}", option, clean_text(value), expected);
}

std::string refused_job(const Submission& submission) {
  // The operator names the last worker so, and refuses a name that is too long for a host.
  const std::string last = fmt::format("{}-worker-{}", submission.job, std::max(submission.nodes, 1) - 1);
  if (is_kubernetes_service(submission.job) && is_kubernetes_label(last)) return "";
  return fmt::format(
      "invalid --name '{}': expected lower-case letters, digits and '-', a letter first, at most {} characters",
      clean_text(submission.job), 63 - (last.size() - submission.job.size()));
}

std::string refused_size(const Submission& submission) {
  if (submission.nodes < 1) return fmt::format("invalid number of nodes {}: at least 1", submission.nodes);
  if (submission.ranks_per_node < 1)
    return fmt::format("invalid number of ranks per node {}: at least 1", submission.ranks_per_node);
  if (submission.gpus_per_node < 0)
    return fmt::format("invalid number of GPUs per node {}: at least 0", submission.gpus_per_node);
  if (submission.time_limit.value < 0 || submission.time_limit.value > 366 * 24 * 3600.0)
    return "invalid time limit: at most 366 days";
  return "";
}

std::string refused_image(const Submission& submission) {
  const std::string& image = submission.option("image");
  if (image.empty())
    return "--image is missing: build one by bench/submit/image/build --tag REGISTRY/hbench, push it, and name it";
  const auto is_letter_or_digit = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  const auto allowed = [&](char c) {
    return is_letter_or_digit(c) || std::string_view("._-/:@").find(c) != std::string_view::npos;
  };
  if (is_letter_or_digit(image.front()) && std::ranges::all_of(image, allowed)) return "";
  return invalid("image", image, "REGISTRY/NAME:TAG or REGISTRY/NAME@DIGEST");
}

std::string refused_name(const Submission& submission, std::string_view option, bool (*is_name)(std::string_view),
                         std::string_view expected) {
  const std::string& name = submission.option(option);
  return name.empty() || is_name(name) ? "" : invalid(option, name, expected);
}

std::string refused_names(const Submission& submission) {
  constexpr std::string_view kLabel = "lower-case letters, digits and '-', at most 63 characters";
  constexpr std::string_view kSubdomain = "lower-case letters, digits, '-' and '.', at most 253 characters";
  std::string refusal = refused_name(submission, "namespace", is_kubernetes_label, kLabel);
  for (const std::string_view option : {"claim", "storage-class", "pull-secret"})
    if (refusal.empty()) refusal = refused_name(submission, option, is_kubernetes_subdomain, kSubdomain);
  // Kueue's is the value of a label, Volcano's the name of an object.
  if (refusal.empty()) refusal = refused_name(submission, "queue", is_kubernetes_label, kLabel);
  return refusal;
}

std::string refused_quantities(const Submission& submission) {
  for (const std::string_view option : {"cpu", "memory", "shm", "storage"}) {
    const std::string& text = submission.option(option);
    const bool may_be_empty = option != "storage";
    if ((!may_be_empty || !text.empty()) && !kubernetes_quantity(text))
      return invalid(option, text, option == "cpu" ? "cores such as 8 or 500m" : "a size such as 16Gi or 500M");
  }
  const std::string shm = worker_shm(submission), memory = worker_memory(submission);
  if (*kubernetes_quantity(shm) > *kubernetes_quantity(memory))
    return fmt::format(
        "/dev/shm of {} is part of a worker's memory, which is {}: give a smaller --shm or a larger --memory", shm,
        memory);
  return "";
}

std::string refused_resources(const Submission& submission) {
  constexpr std::string_view kResource = "a name with the plug-in's domain in front, such as ";
  const std::string& gpu = submission.option("gpu-resource");
  if (!is_kubernetes_key(gpu, true)) return invalid("gpu-resource", gpu, fmt::format("{}nvidia.com/gpu", kResource));
  const std::string& rdma = submission.option("rdma-resource");
  if (rdma.empty()) return "";
  if (!is_kubernetes_key(pair_of(rdma).key, true) || !count_of(rdma))
    return invalid("rdma-resource", rdma, fmt::format("{}rdma/hca_shared_devices_a or rdma/ib=8", kResource));
  if (pair_of(rdma).key == gpu) return invalid("rdma-resource", rdma, "another resource than that of GPUs");
  return "";
}

std::string refused_selector(const Submission& submission) {
  const std::string& text = submission.option("node-selector");
  std::vector<std::string_view> keys;
  for (const KeyAndValue& pair : pairs_of(text)) {
    if (!pair.value || !is_kubernetes_key(pair.key, false) || !is_kubernetes_value(*pair.value))
      return invalid("node-selector", text, "KEY=VALUE,KEY=VALUE such as cloud.google.com/gke-accelerator=nvidia-h100");
    if (std::ranges::find(keys, pair.key) != keys.end())
      return invalid("node-selector", text, fmt::format("each key once, but {} is there twice", pair.key));
    keys.push_back(pair.key);
  }
  return text.ends_with(',') ? invalid("node-selector", text, "no comma at its end") : "";
}

std::string refused_arguments(const Submission& submission) {
  for (const std::string& text : submission.sweep)
    if (clean_text(text) != text)
      return fmt::format("the argument '{}' cannot be written as YAML: it has control characters or is no UTF-8",
                         clean_text(text));
  return "";
}

/// Kubernetes has no deadline of its own: a job that hangs would hold its GPUs until somebody looks.
constexpr double kLongestSeconds = 24 * 3600;

/// Pods have one interface, of this name, and seldom a subnet that is the same on all nodes.
constexpr const char *kNetworkFlag = "--network-interface", *kPodInterface = "eth0";

/// The values of each name of the template: a line that has the name is written once for each of them.
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
std::vector<std::string> launched_arguments(const Submission& submission) {
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
      {"argument", launched_arguments(submission)},
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

std::string rendered_mpijob(const Submission& submission) {
  std::string yaml = filled(kTemplate_mpijob, values_of(submission));
  if (submission.option("claim").empty()) return yaml;
  constexpr std::string_view kNextDocument = "---\n";
  const std::size_t claim = yaml.find('\n') + 1;
  return yaml.erase(claim, yaml.find(kNextDocument) + kNextDocument.size() - claim);
}

bool is_kubernetes_label(std::string_view text) { return text.size() <= kLongestLabel && is_label_of_any_length(text); }

bool is_kubernetes_service(std::string_view text) { return is_kubernetes_label(text) && is_lower(text.front()); }

bool is_kubernetes_subdomain(std::string_view text) {
  // Only the whole has a longest length.
  return text.size() <= kLongestSubdomain && std::ranges::all_of(split(text, '.'), is_label_of_any_length);
}

bool is_kubernetes_value(std::string_view text) {
  if (text.empty()) return true;
  return text.size() <= kLongestLabel && is_letter_or_digit(text.front()) && is_letter_or_digit(text.back()) &&
         std::ranges::all_of(text, [](char c) { return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.'; });
}

bool is_kubernetes_key(std::string_view text, bool prefixed) {
  const std::size_t slash = text.find('/');
  if (slash == text.npos) return !prefixed && !text.empty() && is_kubernetes_value(text);
  const std::string_view name = text.substr(slash + 1);
  return is_kubernetes_subdomain(text.substr(0, slash)) && !name.empty() && is_kubernetes_value(name);
}

std::optional<double> kubernetes_quantity(std::string_view text) {
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  const auto [number, suffix] = parse_leading_number<double>(text).value_or(std::pair(0.0, text));
  if (!std::isfinite(number) || number <= 0) return std::nullopt;
  // 1E is an exabyte, 1e9 has an exponent, and nothing has both.
  const bool has_exponent = text.substr(0, text.size() - suffix.size()).find_first_of("eE") != text.npos;
  if (has_exponent && !suffix.empty()) return std::nullopt;
  const auto scale = scale_of(suffix, kSuffixes);
  return scale ? std::optional(number * *scale) : std::nullopt;
}

std::string mpijob_refuses(const Submission& submission) {
  // Sizes before quantities, which are derived from them.
  for (const auto refused : {refused_job, refused_size, refused_image, refused_names, refused_quantities,
                             refused_resources, refused_selector, refused_arguments})
    if (std::string refusal = refused(submission); !refusal.empty()) return refusal;
  return "";
}

}  // namespace hbench
