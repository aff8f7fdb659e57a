#include "analysis/records.hpp"

#include <fmt/format.h>

#include <array>

#include "collectives/base/table.hpp"

namespace hbench {
namespace {

constexpr std::array<std::string_view, 4> kEvidence{"measured", "emulated", "simulated", "published"};

/// What a strategy gets when nobody asks for a policy: servers take every tensor by itself.
bool is_default_fusion(const Strategy& strategy) {
  if (strategy.fusion.empty()) return true;
  if (!strategy.server_mode.empty()) return strategy.fusion == "none";
  return strategy.fusion == "horovod" || strategy.fusion == "horovod:128MiB:1ms";
}

/// So that neither a separator nor a line break within a value can make two cases look like one.
std::string escaped(std::string_view value) {
  std::string text;
  for (char c : value) {
    if (c == '\n')
      text += "\\n";
    else if (c == ';' || c == '\\')
      text += {'\\', c};
    else
      text += c;
  }
  return text;
}

}  // namespace

std::string_view to_string(Evidence evidence) { return kEvidence.at(static_cast<std::size_t>(evidence)); }

Evidence parse_evidence(std::string_view text) {
  for (std::size_t i = 0; i < kEvidence.size(); ++i)
    if (kEvidence[i] == text) return static_cast<Evidence>(i);
  throw unknown_name("evidence", text, kEvidence);
}

std::string Strategy::label() const {
  std::string text = algorithm;
  if (!placement.empty() && !server_mode.empty())
    text += fmt::format(" ({}, {})", placement, server_mode);
  else if (!placement.empty() || !server_mode.empty())
    text += fmt::format(" ({}{})", placement, server_mode);
  if (!compressor.empty() && compressor != "none") text += fmt::format(" + {}", compressor);
  if (algorithm == "none") return text;
  if (!is_default_fusion(*this)) text += fusion == "none" ? ", no fusion" : fmt::format(", {}", fusion);
  if (!overlap) text += ", no overlap";
  return text;
}

std::string TrainingTask::label() const {
  return fmt::format("{}{}{}", executor, executor.empty() || precision.empty() ? "" : ", ", precision);
}

std::string Case::strategy_label() const {
  const std::string task = training.label();
  return strategy.label() + (task.empty() ? "" : ", " + task);
}

std::string Case::key() const {
  std::string text = fmt::format(
      "evidence={};workload={};gpus={};algorithm={};placement={};servers={};server_mode={};compressor={};fusion={};"
      "overlap={};profile={};batch_per_gpu={};image_size={};single_gpu_rate={};implementation={};source={}",
      to_string(evidence), escaped(workload), gpus, escaped(strategy.algorithm), escaped(strategy.placement),
      strategy.servers, escaped(strategy.server_mode), escaped(strategy.compressor), escaped(strategy.fusion),
      strategy.overlap ? "yes" : "no", escaped(profile), batch_per_gpu, image_size, single_gpu_rate,
      escaped(implementation), escaped(source));
  // Only where there is one: the keys of training steps stay what they are in older databases.
  if (is_collective())
    text += fmt::format(";collective={};bytes={};data_type={};operation={};executor={};ranks_per_node={};segments={}",
                        escaped(collective.name), collective.bytes, escaped(collective.data_type),
                        escaped(collective.operation), escaped(collective.executor), collective.ranks_per_node,
                        collective.segments);
  if (!training.empty())
    text += fmt::format(";device={};executor={};precision={}", escaped(training.device), escaped(training.executor),
                        escaped(training.precision));
  return text;
}

}  // namespace hbench
