#pragma once

#include <filesystem>
#include <string>

namespace hbench::support {

inline const std::filesystem::path kProfiles = HBENCH_SOURCE_DIR "/cluster-profiles";

/// A profile with every key; `network.line_rate` is on line 10.
inline const std::string kProfileText = R"(title = "Mine"
gpu = "v100"
gpus_per_node = 2
[local]
latency = "3 us"
low_latency = "1 us"
rate = "10 GB/s"
[network]
latency = { value = "15 us", source = "ping" }
line_rate = "25 Gbit/s"
low_latency = "5 us"
nics = 2
stream_cap = "10 Gbit/s"
streams = 4
protocol_efficiency = 0.95
[parameter_server]
rate = "1 GB/s"
[compute]
memory_rate = "800 GB/s"
overlap_slowdown = 0.15
straggler = 0.01
[prediction]
uncertainty = 0.1
[price]
per_node_hour = 12
currency = "EUR"
region = "north"
retrieved = "2026-09-20"
model = "spot"
source = "an offer"
[rates]
mine = { value = 100, batch = 16, source = "measured" }
plain = 50.5
)";

/// `kProfileText` with the first `old_text` replaced.
inline std::string with(const std::string& old_text, const std::string& new_text) {
  std::string text = kProfileText;
  return text.replace(text.find(old_text), old_text.size(), new_text);
}

}  // namespace hbench::support
