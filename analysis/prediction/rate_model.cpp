#include "analysis/prediction/rate_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <map>

#include "analysis/statistics/statistics.hpp"
#include "workloads/step/precision.hpp"

namespace hbench {
namespace {

/// The words of a name, in small letters.
std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0)
      words.back().push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
    else if (!words.back().empty())
      words.emplace_back();
  }
  return words;
}

/// Whether some words that follow each other are the model: `L40S` is no `l4`, `RTX 2080 Ti` is an `rtx2080ti`.
bool has_model(const std::vector<std::string>& words, const std::string& model) {
  for (std::size_t first = 0; first < words.size(); ++first) {
    std::string joined;
    for (std::size_t next = first; next < words.size() && joined.size() < model.size(); ++next)
      if ((joined += words[next]) == model) return true;
  }
  return false;
}

bool has_beginning(const std::vector<std::string>& words, std::string_view beginning) {
  return std::ranges::any_of(words, [&](const std::string& word) { return word.starts_with(beginning); });
}

/// Times that memory moves each number which a layer writes: once when it is written, and when the next layer, the
/// backward pass and the gradients of both read and write it.
constexpr double kPasses = 8;
/// Numbers that memory moves for each FLOP of a matrix product, whose tiles are read more than once.
constexpr double kTiles = 0.003;
/// Bytes that memory moves for each parameter in a step: both passes read it and one writes its gradient, and SGD with
/// momentum reads it, its gradient and its momentum and writes two of them, in four bytes each.
constexpr double kParameterBytes = 32;
/// Convolutions in float32 on plain cores need fewer multiplications than are counted (Lavin and Gray, CVPR 2016: 2.25
/// times fewer for 3 x 3).
constexpr double kWinograd = 2;

double arithmetic_peak(const Profile& gpu, WorkloadKind kind, std::string_view precision) {
  const bool fewer = kind == WorkloadKind::convolutions && precision == "float32";
  return gpu.peaks.at(precision) * (fewer ? kWinograd : 1);
}

/// In the order of `WorkloadKind`.
constexpr std::array<UsualUse, 3> kUses{{{.efficiency = 0.58, .known_factor = 1.6, .unknown_factor = 1.9},
                                         {.efficiency = 0.8, .known_factor = 1.25, .unknown_factor = 1.5},
                                         {.efficiency = 1.37, .known_factor = 1.25, .unknown_factor = 1.6}}};

/// Whether a stated rate of a GPU is for `precision`; both forms of 16 bits run alike where there are both.
bool is_for(const GpuRate& rate, const Profile& gpu, std::string_view precision) {
  const bool alike = is_half(rate.precision) && is_half(precision) && gpu.peaks.at(precision) > 0;
  return rate.precision.empty() || rate.precision == precision || alike;
}

/// Of a rate that does not say its batch, the timeline's.
int batch_of(const GpuRate& rate, const Trace& trace) { return rate.batch > 0 ? rate.batch : trace.timeline.batch; }

/// What one GPU says of a workload: the mean of its precisions, on logarithms.
std::optional<double> efficiency_on(const Profile& gpu, const Trace& trace, std::string_view software) {
  double sum = 0;
  int count = 0;
  for (const GpuRate* rate : telling_rates(gpu, trace.name, software))
    if (const auto least = least_step_time(gpu, trace, batch_of(*rate, trace), rate->precision)) {
      sum += std::log(rate->samples_per_second * least->value);
      ++count;
    }
  return count > 0 ? std::optional(std::exp(sum / count)) : std::nullopt;
}

/// The first that may be used.
std::optional<GpuRate> any_rate(const Profile& cluster, std::string_view workload) {
  if (const auto stated = cluster.stated_rates.find(workload); stated != cluster.stated_rates.end())
    for (const GpuRate& rate : stated->second)
      if (rate.software.empty()) return rate;
  return std::nullopt;
}

}  // namespace

bool is_gpu_of_catalogue(std::string_view driver_name, std::string_view gpu) {
  const std::vector<std::string> name = words_in(driver_name);
  const std::string model(gpu.substr(0, gpu.find('-')));
  if (model.empty() || !has_model(name, model)) return false;
  if (gpu.find("pcie") != gpu.npos) return !has_beginning(name, "sxm");
  return gpu.find("sxm") == gpu.npos || !has_beginning(name, "pcie");
}

bool is_recorded_on(const Trace& trace, const Profile& cluster) {
  return trace.recorded && is_gpu_of_catalogue(trace.recorded->gpu, cluster.gpu);
}

std::optional<Seconds> least_time(const Profile& gpu, const WorkloadCost& cost, std::string_view precision) {
  const double peak = arithmetic_peak(gpu, cost.kind, precision);
  if (peak <= 0 || gpu.memory_rate.value <= 0) return std::nullopt;
  const double bytes = (kTiles * cost.flops + kPasses * cost.activations) * (is_half(precision) ? 2 : 4);
  return Seconds(cost.flops / peak + bytes / gpu.memory_rate.value);
}

std::optional<Seconds> least_step_time(const Profile& gpu, const Trace& trace, int batch, std::string_view precision) {
  const auto sample = least_time(gpu, *trace.cost, precision);
  if (!sample) return std::nullopt;
  return *sample + Seconds(kParameterBytes * trace.elements() / gpu.memory_rate.value / batch);
}

double most_samples(const Profile& gpu, const Trace& trace, std::string_view precision) {
  if (!trace.cost) return 0;
  double flops = trace.cost->flops;
  if (trace.shape && trace.cost->kind == WorkloadKind::decoder)
    flops -= 6.0 * trace.shape->layers * trace.shape->hidden * trace.shape->seq * trace.shape->seq;
  return arithmetic_peak(gpu, trace.cost->kind, precision) / flops;
}

const UsualUse& usual_use(WorkloadKind kind) { return kUses.at(static_cast<std::size_t>(kind)); }

std::string usual_precision(const Profile& gpu, WorkloadKind kind) {
  const GpuPeaks& peaks = gpu.peaks;
  const std::string half = peaks.bf16 > 0 ? "bf16" : "fp16";
  const std::string full = peaks.tf32 > 0 ? "tf32" : "float32";
  if (kind == WorkloadKind::convolutions) return peaks.at(full) > 0 ? full : half;
  return peaks.at(half) > 0 ? half : full;
}

std::vector<const GpuRate*> telling_rates(const Profile& gpu, std::string_view workload, std::string_view software) {
  std::map<std::string, const GpuRate*> largest;
  if (const auto stated = gpu.stated_rates.find(workload); stated != gpu.stated_rates.end())
    for (const GpuRate& rate : stated->second) {
      if (rate.software != software || !rate.unlike.empty() || rate.precision.empty()) continue;
      const GpuRate*& best = largest[rate.precision];
      if (best == nullptr || best->batch < rate.batch) best = &rate;
    }
  std::vector<const GpuRate*> rates;
  for (const auto& [precision, rate] : largest) rates.push_back(rate);
  return rates;
}

std::string_view family_of(const Profile& gpu) { return gpu.gpu_family.empty() ? gpu.gpu : gpu.gpu_family; }

std::optional<GpuRate> RateModel::modelled(const Profile& gpu, const Trace& trace, std::string_view precision,
                                           std::string_view software, std::string_view without) const {
  const auto least = trace.cost ? least_step_time(gpu, trace, trace.timeline.batch, precision) : std::nullopt;
  if (!least) return std::nullopt;
  std::vector<double> efficiencies, of_family;
  std::vector<std::string> names, of_family_names;
  for (const Profile& other : gpus_) {
    if (family_of(other) == without) continue;
    const auto efficiency = efficiency_on(other, trace, software);
    if (!efficiency) continue;
    const bool alike = family_of(other) == family_of(gpu);
    (alike ? of_family : efficiencies).push_back(*efficiency);
    (alike ? of_family_names : names).push_back(other.gpu);
  }
  if (!of_family.empty()) efficiencies = of_family, names = of_family_names;
  const UsualUse& use = usual_use(trace.cost->kind);
  const bool known = !efficiencies.empty();
  if (!known && !software.empty()) return std::nullopt;
  return GpuRate{
      .samples_per_second = (known ? median(efficiencies) : use.efficiency) / least->value,
      .batch = trace.timeline.batch,
      .source =
          known
              ? fmt::format("modelled: as efficient as measured on {}, with this GPU's peak and memory rate ({})",
                            fmt::join(names, ", "), precision)
              : fmt::format("modelled: as efficient as other models of its kind, with this GPU's peak and memory rate "
                            "({}); nobody measured this one",
                            precision),
      .factor = known ? use.known_factor : use.unknown_factor,
      .precision = std::string(precision),
      .modelled = true};
}

std::optional<GpuRate> RateModel::rate(const Profile& cluster, const Trace& trace, std::string_view precision) const {
  const bool usual = !names_precision(precision);
  if (usual && !trace.cost) return any_rate(cluster, trace.name);
  const std::string wanted = usual ? usual_precision(cluster, trace.cost->kind) : std::string(precision);
  if (const auto stated = cluster.stated_rates.find(trace.name); stated != cluster.stated_rates.end())
    for (const GpuRate& rate : stated->second)
      if (rate.software.empty() && is_for(rate, cluster, wanted)) return rate;
  if (precision.empty())
    if (auto other = any_rate(cluster, trace.name)) return other;
  return modelled(cluster, trace, wanted);
}

void take_rate(Profile& cluster, const Trace& trace, const RateModel& model, std::string_view precision) {
  if (is_recorded_on(trace, cluster) && !cluster.stated_rates.contains(trace.name)) return;
  if (const auto rate = model.rate(cluster, trace, precision))
    cluster.rates.insert_or_assign(trace.name, *rate);
  else
    cluster.rates.erase(trace.name);
}

}  // namespace hbench
