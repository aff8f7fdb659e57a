#include "analysis/prediction/request.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cstdint>

#include "collectives/base/error.hpp"
#include "collectives/base/parameters.hpp"
#include "collectives/base/table.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// Why a global batch cannot be shared out in equal parts, of which `unit` samples are one for each GPU; with the
/// nearest that can.
std::string not_whole(std::int64_t global, int workers, std::int64_t unit, const std::string& unit_in_words) {
  const std::int64_t below = global / unit * unit;
  const std::string nearest =
      below > 0 ? fmt::format("{} and {} are", below, below + unit) : fmt::format("the least is {}", unit);
  return fmt::format("a global batch of {} is no multiple of {} {}: {}", global, counted(workers, "GPU"), unit_in_words,
                     nearest);
}

GpuBatch share_of_global(const PredictionRequest& request, int workers) {
  const std::int64_t global = request.global_batch;
  const std::int64_t parts = std::max(request.accumulate, 1), batch = std::max(request.batch, 1);
  // With micro-batches of a size that was asked for, their number follows.
  const bool both = request.batch > 0 && request.accumulate > 0;
  const std::int64_t unit = workers * (both ? parts * batch : request.batch > 0 ? batch : parts);
  if (both && global != unit)
    return {.why_not = fmt::format("{} with {} micro-batches of {} samples make a global batch of {}, not {}",
                                   counted(workers, "GPU"), parts, batch, unit, global)};
  if (global % unit != 0) {
    const std::string of = request.batch > 0 ? fmt::format("with micro-batches of {}", batch)
                           : parts > 1       ? fmt::format("with {} micro-batches", parts)
                                             : std::string("with one batch each");
    return {.why_not = not_whole(global, workers, unit, of)};
  }
  const std::int64_t accumulate = request.batch > 0 ? global / (workers * batch) : parts;
  return {.batch = static_cast<int>(global / workers), .accumulate = accumulate > 1 ? static_cast<int>(accumulate) : 0};
}

constexpr CountedThing kGpus{"--gpus", "GPU", 65536};

/// One text, and what its numbers count.
struct RangeText {
  std::string_view text;
  const CountedThing& thing;
};

[[noreturn]] void fail(const RangeText& range, std::string_view why) {
  throw Error(ExitCode::usage, fmt::format("{} {}: {}", range.thing.flag, range.text, why),
              "write a range (1..128 doubles, 1..12:1 counts) or a list (1,2,4,8)");
}

int number(const RangeText& text, std::string_view digits, const std::string& what) {
  int value = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (status == std::errc::invalid_argument || end != digits.data() + digits.size())
    fail(text, fmt::format("'{}' is not a number", digits));
  if (value < 1 && status == std::errc()) fail(text, fmt::format("a {} is at least 1, not {}", what, value));
  if (value > text.thing.most || status != std::errc())
    fail(text, fmt::format("{} {}s are more than hbench takes ({})", digits, text.thing.name, text.thing.most));
  return value;
}

int count_of(const RangeText& text, std::string_view digits) {
  return number(text, digits, fmt::format("{} count", text.thing.name));
}

void add_range(const RangeText& text, std::string_view item, std::size_t dots, std::set<int>& counts) {
  const int first = count_of(text, item.substr(0, dots));
  std::string_view rest = item.substr(dots + 2);
  const std::size_t colon = rest.find(':');
  const int last = count_of(text, rest.substr(0, colon));
  if (last < first) fail(text, fmt::format("the range runs backwards; you may mean {}..{}", last, first));
  if (colon != std::string_view::npos) {
    const int step = number(text, rest.substr(colon + 1), "step");
    for (int count = first; count <= last; count += step) counts.insert(count);
  } else {
    for (long count = first; count <= last; count *= 2) counts.insert(static_cast<int>(count));
  }
  counts.insert(last);
}

}  // namespace

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
  if (choice.count < 1 || choice.count > kGpus.most)
    throw Error(ExitCode::usage,
                fmt::format("--servers {}: not a choice of servers, of which there are 1 to {}", text, kGpus.most),
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

GpuBatch gpu_batch(const PredictionRequest& request, int workers, int usual) {
  if (request.global_batch > 0) return share_of_global(request, workers);
  const std::int64_t batch = request.batch > 0 ? request.batch : usual;
  const std::int64_t all = batch * std::max(request.accumulate, 1);
  constexpr std::int64_t kMost = 1'000'000;
  if (all > kMost)
    return {.why_not = fmt::format("{} micro-batches of {} samples are more than {} on one GPU", request.accumulate,
                                   batch, kMost)};
  return {.batch = static_cast<int>(all), .accumulate = request.accumulate > 1 ? request.accumulate : 0};
}

std::string batches_in_words(const PredictionRequest& request) {
  const std::string parts =
      request.accumulate > 1
          ? fmt::format("{} micro-batches per step, whose gradients travel together", request.accumulate)
          : std::string();
  if (request.global_batch == 0) return parts.empty() ? "" : "weak scaling; " + parts;
  return fmt::format("strong scaling: {} samples a step at every GPU count{}{}", request.global_batch,
                     parts.empty() ? "" : "; ", parts);
}

double parse_flag_amount(std::string_view text, std::string_view flag, std::initializer_list<Unit> units,
                         std::string_view example) {
  constexpr double kMost = 1e15;  // more samples or hours than anybody has
  const double amount = parse_amount(text, {units.begin(), units.size()}).value_or(0);
  if (amount > 0 && amount < kMost) return amount;
  throw Error(ExitCode::usage, fmt::format("{} {} is invalid", flag, text), fmt::format("write such as {}", example));
}

double parse_target_efficiency(std::string_view text) {
  const double efficiency = parse_flag_amount(text, "--target", {{"", 1}, {"%", 0.01}}, "90% or 0.9");
  if (efficiency <= 1) return efficiency;
  throw Error(ExitCode::usage, fmt::format("--target {} is more than the ideal", text),
              "it is an efficiency, such as 90% or 0.9");
}

std::vector<int> parse_gpu_range(std::string_view text) { return parse_count_range(text, kGpus); }

std::vector<int> parse_count_range(std::string_view whole, const CountedThing& thing) {
  const RangeText text{whole, thing};
  std::set<int> counts;
  std::string_view rest = whole;
  while (true) {
    const std::size_t comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    const std::size_t dots = item.find("..");
    if (dots == std::string_view::npos)
      counts.insert(count_of(text, item));
    else
      add_range(text, item, dots, counts);
    if (comma == std::string_view::npos) break;
    rest = rest.substr(comma + 1);
  }
  return {counts.begin(), counts.end()};
}

}  // namespace hbench
