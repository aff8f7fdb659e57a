#include "analysis/prediction/request.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "collectives/base/error.hpp"
#include "collectives/base/flag_values.hpp"
#include "collectives/base/parse_number.hpp"
#include "collectives/base/table.hpp"
#include "collectives/base/text.hpp"

namespace hbench {

double PredictionRequest::rate_on(std::string_view gpu) const {
  if (single_gpu_rate > 0) return single_gpu_rate;
  // Of `a100-80gb-pcie` also `a100-80gb` and `a100` are names, the closest first.
  for (std::string_view name = gpu; !name.empty();) {
    if (const auto found = gpu_rates.find(name); found != gpu_rates.end()) return found->second;
    const std::size_t dash = name.rfind('-');
    name = name.substr(0, dash == name.npos ? 0 : dash);
  }
  return 0;
}

void PredictionRequest::check_gpu_rates(const std::set<std::string_view>& of_clusters,
                                        const std::set<std::string_view>& known) const {
  if (gpu_rates.empty() || of_clusters.empty()) return;
  const auto is_among = [](const std::set<std::string_view>& names) {
    return [&names](const auto& rate) {
      return std::ranges::any_of(
          names, [&](std::string_view gpu) { return gpu == rate.first || gpu.starts_with(rate.first + "-"); });
    };
  };
  const auto unknown = std::ranges::find_if_not(gpu_rates, is_among(known));
  if (unknown != gpu_rates.end())
    throw unknown_name("GPU", unknown->first, std::vector<std::string_view>(known.begin(), known.end()));
  if (std::ranges::none_of(gpu_rates, is_among(of_clusters)))
    throw Error(ExitCode::usage,
                fmt::format("--rate {}: no cluster that is asked for has such a GPU", gpu_rates.begin()->first),
                fmt::format("they have {}", fmt::join(of_clusters, ", ")));
}

std::map<std::string, double, std::less<>> parse_gpu_rates(std::string_view text) {
  std::map<std::string, double, std::less<>> rates;
  for (const std::string& part : split_list(std::string(text), "--rate")) {
    const std::size_t equals = part.find('=');
    const double rate = equals == part.npos ? 0 : parse_number<double>(part.substr(equals + 1)).value_or(0);
    if (equals == 0 || !(rate > 0) || rate > 1e12)
      throw Error(
          ExitCode::usage, fmt::format("--rate {}: no rate of a GPU", part),
          "write the samples/s of one GPU by its name: --rate h100=300,a100=150 (hbench list profiles has them)");
    if (!rates.try_emplace(lower_case(part.substr(0, equals)), rate).second)
      throw Error(ExitCode::usage, fmt::format("--rate {}: its GPU is given twice", part), "leave one of them out");
  }
  return rates;
}

bool only_presets(const PredictionRequest& request) { return !request.presets.empty() && request.algorithms.empty(); }

ServerChoice parse_servers(std::string_view text) {
  ServerChoice choice;
  std::string_view digits = text;
  for (const std::string_view mode : {"colocated", "dedicated"}) {
    if (!text.starts_with(mode)) continue;
    choice.colocated = mode == "colocated";
    if (text == mode) return choice;
    digits = text.substr(mode.size());
    if (digits.starts_with(':')) digits.remove_prefix(1);
  }
  choice.count = parse_number<int>(digits).value_or(0);
  if (choice.count < 1)
    throw Error(ExitCode::usage, fmt::format("--servers {}: not a choice of servers", text),
                "write colocated, dedicated, a number of dedicated servers (4), or colocated:4");
  return choice;
}

void refuse(std::vector<Refusal>& refused, std::string what, std::string why) {
  Refusal refusal{std::move(what), std::move(why)};
  if (std::ranges::find(refused, refusal) == refused.end()) refused.push_back(std::move(refusal));
}

std::string reasons(const std::vector<Refusal>& refused) {
  // What follows a semicolon is a way out, which may be another one for each number of GPUs: the first will do.
  const auto reason = [](const Refusal& refusal) {
    return std::string_view(refusal.why).substr(0, refusal.why.find(';'));
  };
  std::vector<Refusal> by_reason, said;
  for (const Refusal& refusal : refused) {
    const auto is_same = [&](const Refusal& other) {
      return other.what == refusal.what && reason(other) == reason(refusal);
    };
    if (std::ranges::any_of(said, is_same)) continue;
    said.push_back(refusal);
    const auto known = std::ranges::find(by_reason, refusal.why, &Refusal::why);
    if (known == by_reason.end())
      by_reason.push_back(refusal);
    else
      known->what += ", " + refusal.what;
  }
  std::string text;
  for (const Refusal& refusal : by_reason)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", refusal.what, refusal.why);
  return text;
}

}  // namespace hbench
