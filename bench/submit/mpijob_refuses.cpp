#include <fmt/format.h>

#include <algorithm>

#include "bench/submit/kubernetes_names.hpp"
#include "bench/submit/mpijob.hpp"
#include "bench/submit/mpijob_values.hpp"
#include "reports/formats/plain_text.hpp"

namespace hbench {
namespace {

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

}  // namespace

std::string mpijob_refuses(const Submission& submission) {
  // Sizes before quantities, which are derived from them.
  for (const auto refused : {refused_job, refused_size, refused_image, refused_names, refused_quantities,
                             refused_resources, refused_selector, refused_arguments})
    if (std::string refusal = refused(submission); !refusal.empty()) return refusal;
  return "";
}

}  // namespace hbench
