#include "bench/submit/mpijob_values.hpp"

#include <fmt/format.h>

#include "collectives/base/parse_number.hpp"

namespace hbench {
namespace {

std::string or_else(const std::string& given, const std::string& otherwise) {
  return given.empty() ? otherwise : given;
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

}  // namespace hbench
