#include "analysis/catalogue/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/catalogue/figures.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

/// What NICs are sold with, in Gbit/s: up to NDR and XDR InfiniBand.
constexpr std::array kNics{1.0,  2.5,  5.0,  10.0, 16.0,  20.0,  25.0,  30.0, 32.0,
                           40.0, 50.0, 56.0, 80.0, 100.0, 200.0, 400.0, 800.0};
constexpr double kFastestNic = 800;
/// Of slower ones some are stated in bytes.
constexpr double kLeastMixedUp = 10;
constexpr double kGigabit = 1e9 / 8;
/// Light takes 200 ns for 60 m; between continents it takes milliseconds. Beyond, units are mixed up.
constexpr Seconds kLeastLatency(2e-7), kMostLatency(5e-3);
/// Links are stated with two or three digits.
constexpr double kRounding = 1.02;
/// More than measurements of one kind of latency differ.
constexpr double kMuch = 1.5;
/// Of a GPU for an hour, in dollars: outside of these a price is for something else, a month or a whole cluster.
constexpr double kLeastPrice = 0.02, kMostPrice = 60;

bool near(double a, double b) { return a <= b * kRounding && b <= a * kRounding; }

class Checker {
 public:
  Checker(const Profile& profile, std::string_view file_name, std::chrono::sys_days today)
      : profile_(profile), file_name_(file_name), today_(today) {}

  std::vector<ProfileFinding> run() {
    check_local();
    check_nics();
    check_latencies();
    check_streams();
    check_rates();
    check_price();
    check_trust();
    return std::move(findings_);
  }

 private:
  /// The last figure of a key is the one that counts: the cluster's own file goes before the GPU's.
  const Figure* figure(std::string_view key) const {
    const auto found = std::find_if(profile_.figures.rbegin(), profile_.figures.rend(),
                                    [&](const Figure& each) { return each.key == key; });
    return found == profile_.figures.rend() ? nullptr : &*found;
  }

  template <class... Arguments>
  void add(Severity severity, std::string_view key, fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    const Figure* of = figure(key);
    findings_.push_back({severity, of != nullptr && !of->place.empty() ? of->place : file_name_,
                         fmt::format("{}: {}", key, fmt::format(text, std::forward<Arguments>(arguments)...))});
  }

  /// Whether a figure is written in bytes.
  bool in_bytes(std::string_view key) const { return figure(key) != nullptr && figure(key)->text.ends_with("B/s"); }

  void check_local() {
    if (profile_.gpus_per_domain() == 1) return;
    const BytesPerSecond most = std::max(profile_.gpu_link_rate, profile_.gpu_bus_rate);
    const BytesPerSecond rate = profile_.local_link_rate();
    const bool linked = profile_.gpu_link_rate > profile_.gpu_bus_rate;
    const char* carry = linked ? "links of this GPU carry" : "bus of this GPU carries";
    if (most.value > 0 && rate > most * kRounding) {
      const bool both_ways = near(rate.value, 2 * most.value), bits = near(rate.value, 8 * most.value);
      add(Severity::error, "local.rate", "{} is more than the {} in one direction, {}{}", format(rate), carry,
          format(most),
          both_ways ? "; it looks like both directions together"
          : bits    ? "; it looks like bits taken for bytes"
                    : "");
    } else if (most.value > 0 && !in_bytes("local.rate") && near(rate.value * 8, most.value)) {
      add(Severity::warning, "local.rate", "{} is an eighth of what the {}; are bytes meant?",
          figure("local.rate")->text, carry);
    }
    for (const auto& [gpus, factor] : profile_.local_factors)
      if (most.value > 0 && profile_.local_rate * factor > most * kRounding)
        add(Severity::error, fmt::format("local.rate_{}", gpus), "{} is more than the {}, {}",
            format(profile_.local_rate * factor), carry, format(most));
    if (profile_.nodes_per_domain > 1 && !profile_.gpu_title.empty() && profile_.gpu_link_rate.value == 0)
      add(Severity::error, "nodes_per_domain", "this GPU has no links of its own that could reach other nodes");
    if (profile_.tree_rate.value > 0 && profile_.nodes_per_domain == 1)
      add(Severity::warning, "network.tree_rate", "it means nothing without nodes_per_domain");
    if (profile_.memory_rate.value > 0 && rate > profile_.memory_rate)
      add(Severity::error, "local.rate", "{} is more than the GPU's memory gives, {}", format(rate),
          format(profile_.memory_rate));
  }

  void check_nics() {
    const double gigabits = profile_.line_rate.value / kGigabit;
    const bool usual = std::ranges::any_of(kNics, [&](double nic) { return near(gigabits / 8, nic); });
    if (gigabits > kFastestNic * kRounding)
      add(Severity::error, "network.line_rate", "{} is more than the fastest NIC has, {} Gbit/s{}",
          format(profile_.line_rate), kFastestNic,
          in_bytes("network.line_rate") && usual ? "; it looks like bytes taken for bits"
                                                 : "; several NICs are stated by network.nics");
    else if (in_bytes("network.line_rate") && usual && gigabits / 8 >= kLeastMixedUp)
      add(Severity::warning, "network.line_rate", "{} are {}; are bits meant, in which NICs are sold?",
          figure("network.line_rate")->text, format(profile_.line_rate));
    if (gigabits <= kFastestNic * kRounding && profile_.gpu_bus_rate.value > 0 &&
        profile_.line_rate > profile_.gpu_bus_rate * kRounding)
      add(Severity::error, "network.line_rate",
          "{} is more than the PCIe bus of nodes with this GPU carries to a NIC, {}", format(profile_.line_rate),
          format(profile_.gpu_bus_rate));
    if (profile_.most_nodes != 1 && profile_.protocol_efficiency == 1)
      add(Severity::warning, "network.protocol_efficiency",
          "all of the line is taken for payload; TCP reaches 94 to 97 % of it, InfiniBand 90 to 97 %");
  }

  void check_latency(std::string_view key, Seconds latency, bool must) {
    if (!must && latency.value == 0) return;
    if (latency < kLeastLatency || latency > kMostLatency)
      add(Severity::warning, key, "{} is hardly the latency of a message; is the unit right (us, ms, ns)?",
          format(latency));
  }

  void check_latencies() {
    check_latency("network.latency", profile_.network_latency, true);
    check_latency("network.low_latency", profile_.network_low_latency, false);
    if (profile_.gpus_per_domain() > 1) {
      check_latency("local.latency", profile_.local_latency, true);
      check_latency("local.low_latency", profile_.local_low_latency, false);
      if (profile_.local_latency > profile_.network_latency * kMuch)
        add(Severity::warning, "local.latency", "{} is more than between nodes, {}", format(profile_.local_latency),
            format(profile_.network_latency));
    }
    if (profile_.network_low_latency > profile_.network_latency)
      add(Severity::error, "network.low_latency", "{} is more than network.latency, {}",
          format(profile_.network_low_latency), format(profile_.network_latency));
    if (profile_.local_low_latency > profile_.local_latency)
      add(Severity::error, "local.low_latency", "{} is more than local.latency, {}", format(profile_.local_low_latency),
          format(profile_.local_latency));
  }

  void check_streams() {
    const BytesPerSecond nics = profile_.line_rate * profile_.nics;
    if (profile_.stream_cap.value > 0 && nics < profile_.stream_cap)
      add(Severity::error, "network.stream_cap", "one stream of {} cannot be more than the NICs together, {}",
          format(profile_.stream_cap), format(nics));
    if (profile_.stream_cap.value == 0 && figure("network.streams") != nullptr)
      add(Severity::warning, "network.streams", "it means nothing without network.stream_cap");
    if (profile_.stream_cap.value == 0 && profile_.stream_factor > 1)
      add(Severity::warning, "network.stream_factor", "it means nothing without network.stream_cap");
  }

  void check_rates() {
    if (profile_.rates.empty() && profile_.peaks.bf16 + profile_.peaks.float32 == 0)
      add(Severity::warning, "rates",
          "no samples/s of one GPU are known, so training is simulated with "
          "--single-gpu-rate only; write [rates], or a 'gpu' that cluster-profiles/gpus has");
    for (const auto& [workload, rate] : profile_.rates)
      if (rate.batch == 0)
        add(Severity::warning, "rates." + workload, "the batch at which it was measured is not stated");
  }

  void check_price() {
    if (!profile_.price) return;
    const Price& price = *profile_.price;
    const Money share = *price_per_gpu_hour(profile_);
    if (share.currency == "USD" && (share.amount < kLeastPrice || share.amount > kMostPrice))
      add(Severity::warning, "price.per_node_hour",
          "it makes {} for a GPU-hour, which is hardly a price; what a whole node of {} GPUs costs for an hour is "
          "meant",
          format(share), profile_.gpus_per_node);
    const auto age = age_of(price, today_);
    if (!age)
      add(Severity::warning, "price.retrieved", "nobody knows how old the price is");
    else if (age->count() < 0)
      add(Severity::error, "price.retrieved", "{} lies in the future", price.retrieved);
    else if (*age > kOldPrice)
      add(Severity::warning, "price.retrieved", "{} is {} days ago; prices move more than bandwidths, look again",
          price.retrieved, age->count());
  }

  /// What a prediction rests on.
  void check_trust() {
    for (const Figure& each : profile_.figures) {
      const bool is_name = each.key == "title" || each.key == "provider" || each.key == "instance_type" ||
                           each.key == "gpu" || each.key == "gpu.title";
      if (each.assumed > 1)
        add(Severity::note, each.key, "{} is assumed, and may be {:g} times higher or lower: {}", each.text,
            each.assumed, each.source);
      else if (!is_name && each.source.starts_with("stated in"))
        add(Severity::note, each.key, "no source is given");
    }
    if (!profile_.peer_access && profile_.gpus_per_node > 1)
      add(Severity::note, "local.rate",
          "GPUs of a node do not reach each other's memory (peer_access): of this rate {:.0f} % are counted on, and by "
          "the board it may be {:g} times more or {:g} times less",
          100 * kThroughHost, kThroughHostBetter, kThroughHostWorse);
    if (profile_.uncertainty == 0)
      add(Severity::warning, "prediction.uncertainty",
          "no figure is exact: without it bands hold the error of the model alone");
    if (!profile_.gpu.empty() && profile_.gpu_title.empty())
      add(Severity::note, "gpu", "cluster-profiles/gpus has no {}: its links and its rates are not checked",
          profile_.gpu);
  }

  const Profile& profile_;
  std::string file_name_;
  std::chrono::sys_days today_;
  std::vector<ProfileFinding> findings_;
};

}  // namespace

std::vector<ProfileFinding> check_profile(const Profile& profile, std::string_view file_name,
                                          std::chrono::sys_days today) {
  std::vector<ProfileFinding> findings = Checker(profile, file_name, today).run();
  std::ranges::stable_sort(findings, {}, &ProfileFinding::severity);
  return findings;
}

std::string findings_text(const std::vector<ProfileFinding>& findings) {
  std::string text;
  for (const ProfileFinding& finding : findings)
    text += fmt::format("{}: {}: {}\n", finding.place, to_string(finding.severity), finding.what);
  return text;
}

}  // namespace hbench
