#include "analysis/records/records.hpp"

#include <fmt/format.h>

#include <span>

#include "collectives/base/table.hpp"
#include "collectives/fusion/fusion.hpp"
#include "workloads/methods/method.hpp"
#include "workloads/presets/preset.hpp"

namespace hbench {
namespace {

/// Whether a framework has a policy that is called after it, with these parameters or those that a source left out.
bool is_fusion_of_preset(const Strategy& strategy) {
  if (strategy.preset.empty() || policy_of(strategy.fusion) != strategy.preset) return false;
  const auto preset = std::ranges::find(presets(), std::string_view(strategy.preset), &Preset::name);
  return strategy.fusion == strategy.preset ||
         (preset != presets().end() && strategy.fusion == parse_fusion((*preset)->fusion).text());
}

/// What a strategy gets when nobody asks for a policy: servers take every tensor by itself, and a framework has its
/// own.
bool is_default_fusion(const Strategy& strategy) {
  if (strategy.fusion.empty()) return true;
  const auto method = std::ranges::find(methods(), policy_of(strategy.method), &Method::name);
  if (method != methods().end() && (*method)->by_units) return true;  // there is none
  if (is_fusion_of_preset(strategy)) return true;
  if (!strategy.server_mode.empty()) return strategy.fusion == kUnfused;
  return strategy.fusion == "horovod" || strategy.fusion == "horovod:128MiB:1ms";
}

/// The tensors of each recorded bucket, `recorded:2-15-12`, are too long a name for people.
std::string fusion_in_words(const std::string& fusion) {
  if (fusion == kUnfused) return "no fusion";
  return policy_of(fusion) == "recorded" ? "recorded buckets" : fusion;
}

}  // namespace

Evidence parse_evidence(std::string_view text) {
  return find_entry(std::span<const EvidenceKind>(kEvidenceKinds), text, "evidence").evidence;
}

std::string_view policy_of(std::string_view fusion) { return fusion.substr(0, fusion.find(':')); }

std::string Strategy::label() const {
  if (of_framework()) return fmt::format("{} {}", framework, framework_version);
  std::string text = preset.empty() ? algorithm : fmt::format("{}: {}", preset, algorithm);
  if (!placement.empty() && !server_mode.empty())
    text += fmt::format(" ({}, {})", placement, server_mode);
  else if (!placement.empty() || !server_mode.empty())
    text += fmt::format(" ({}{})", placement, server_mode);
  if (compresses()) text += fmt::format(" + {}", compressor);
  if (!communicates()) return text;
  if (!method.empty()) text += fmt::format(", {}", method);
  if (!is_default_fusion(*this)) text += fmt::format(", {}", fusion_in_words(fusion));
  if (!overlap) text += ", no overlap";
  return text;
}

std::string TrainingTask::label() const {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() || part.empty() ? "" : ", ") + part; };
  add(executor);
  add(precision);
  if (!recompute.empty()) add(recompute + " recomputation");
  add(optimizer);
  if (!data.empty()) add(fmt::format("{} for {} epochs", data, epochs));
  return text;
}

std::string Case::strategy_label() const {
  const std::string task = training.label();
  const std::string shared =
      processes_per_gpu > 1 ? fmt::format(", {} processes per GPU", processes_per_gpu) : std::string();
  return strategy.label() + (task.empty() ? "" : ", " + task) + shared;
}

std::string Case::batch_label() const {
  if (accumulate <= 1) return std::to_string(batch_per_gpu);
  return fmt::format("{} in {} micro-batches", batch_per_gpu, accumulate);
}

std::string Case::nodes_label() const {
  return is_timed() && nodes > 1 ? fmt::format("{} x {}", nodes, workers() / nodes) : "";
}

std::string Producer::commit() const {
  const auto found = labels.find("commit");
  return found == labels.end() ? "" : found->second;
}

bool has_recorded_rate(const Case& asked) { return asked.source.ends_with(kRecordedRate); }

bool has_modelled_rate(const Case& asked) { return asked.source.find(kModelledRate) != asked.source.npos; }

std::string batch_in_words(const Case& asked) {
  return asked.global_batch > 0 ? fmt::format("global batch {}", asked.global_batch)
                                : fmt::format("batch {}", asked.batch_label());
}

bool same_batch(const Case& a, const Case& b) {
  return a.batch_per_gpu == b.batch_per_gpu && a.accumulate == b.accumulate;
}

bool same_code(const Case& a, const Producer& a_by, const Case& b, const Producer& b_by) {
  return a.implementation == b.implementation && a_by.version == b_by.version && a_by.commit() == b_by.commit();
}

std::string answer_key(const Case& asked, const Producer& by) {
  return fmt::format("{}\n{}\n{}\n{}", asked.key(), asked.implementation, by.version, by.commit());
}

std::optional<double> value_of(const CaseResult& result, std::string_view metric) {
  const auto found = std::ranges::find(result.samples, metric, &Sample::metric);
  return found == result.samples.end() ? std::nullopt : std::optional(found->value);
}

bool RunFilter::accepts(const Run& asked) const {
  return (run == 0 || asked.id == run) && std::ranges::includes(asked.labels, labels);
}

bool RunFilter::accepts(const Producer& by) const {
  return (run == 0 || by.run == run) && std::ranges::includes(by.labels, labels);
}

}  // namespace hbench
