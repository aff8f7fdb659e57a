#include "analysis/prediction/causes.hpp"

#include <array>

#include "collectives/base/table.hpp"

namespace hbench {

std::span<const Cause> causes() {
  static constexpr std::array kTable{
      Cause{"call", "what a call of a collective costs", [](Profile& profile) { profile.call_latency = {}; }},
      Cause{"low-latency", "protocols that send flags with the data (LL, LL128)",
            [](Profile& profile) { profile.local_low_latency = profile.network_low_latency = {}; }},
      Cause{"hops", "the latency of messages", [](Profile& profile) { profile = profile.delayed(0); }},
      Cause{"switch", "reductions in the switch of a node (NVLS)",
            [](Profile& profile) { profile.switch_reduction = 0; }},
      Cause{"streams", "caps of single streams", [](Profile& profile) { profile.stream_cap = {}; }},
      Cause{"efficiency", "what protocols leave of the line's rate",
            [](Profile& profile) { profile.protocol_efficiency = 1; }},
      Cause{"servers", "what parameter servers handle", [](Profile& profile) { profile.server_rate = {}; }},
      Cause{"memory", "reductions and packing in a GPU's memory", [](Profile& profile) { profile.memory_rate = {}; }},
      Cause{"slowdown", "compute slows under communication", [](Profile& profile) { profile.overlap_slowdown = 0; }},
      Cause{"straggler", "the slowest of the ranks", [](Profile& profile) { profile.straggler = 0; }},
      Cause{"framework", "costs and overlap of the framework, by its preset", nullptr,
            [](Case& asked) { asked.strategy.preset.clear(); }},
      Cause{"compressor", "what compressors save and cost", nullptr,
            [](Case& asked) { asked.strategy.compressor = "none"; }},
      Cause{"precision", "what mixed precision changes beside the rate of one GPU", nullptr,
            [](Case& asked) { asked.training.precision = "float32"; }},
  };
  return kTable;
}

const Cause& find_cause(std::string_view name) { return find_entry(causes(), name, "cause"); }

}  // namespace hbench
