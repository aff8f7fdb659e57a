#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "bench/submit/mpijob.hpp"
#include "collectives/base/read_json.hpp"
#include "reports/formats/plain_text.hpp"

namespace hbench {
namespace {

using Json = nlohmann::json;
using Phase = JobState::Phase;

/// The member of an object; null where it has none, or is none.
const Json& member(const Json& object, const char* name) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(name);
  return found == object.end() ? kNull : *found;
}

std::string text(const Json& object, const char* name) {
  const Json& value = member(object, name);
  return value.is_string() ? value.get<std::string>() : "";
}

/// `Unschedulable: 0/2 nodes are available`, or what there is of it.
std::string reason_of(const Json& object) {
  const std::string reason = text(object, "reason"), message = text(object, "message");
  return reason.empty() || message.empty() ? reason + message : reason + ": " + message;
}

/// `OOMKilled, exit code 137`; empty for a container that has not failed.
std::string failure_of(const Json& state) {
  const Json& ended = member(state, "terminated");
  const Json& code = member(ended, "exitCode");
  if (!code.is_number_integer() || code == 0) return "";
  return fmt::format("{}, exit code {}", text(ended, "reason"), code.get<std::int64_t>());
}

std::string trouble_of_container(const Json& container) {
  const Json& waiting = member(member(container, "state"), "waiting");
  const std::string reason = text(waiting, "reason");
  if (!reason.empty() && reason != "ContainerCreating" && reason != "PodInitializing") return reason_of(waiting);
  const std::string failure = failure_of(member(container, "state"));
  return failure.empty() ? failure_of(member(container, "lastState")) : failure;
}

/// What keeps a pod from running, or has ended it; empty for one that is well.
std::string trouble_of_pod(const Json& pod) {
  const Json& status = member(pod, "status");
  if (!text(status, "reason").empty()) return reason_of(status);
  for (const Json& container : member(status, "containerStatuses"))
    if (std::string trouble = trouble_of_container(container); !trouble.empty()) return trouble;
  for (const Json& condition : member(status, "conditions"))
    if (text(condition, "type") == "PodScheduled" && text(condition, "status") == "False") return reason_of(condition);
  return "";
}

/// The exit code of the newest launcher that has ended: each try has a pod of its own.
std::optional<int> exit_code_of(const Json& items) {
  std::optional<int> code;
  std::string newest;
  for (const Json& pod : items) {
    const Json& metadata = member(pod, "metadata");
    if (text(member(metadata, "labels"), kComponentLabel.data()) != kLauncherComponent) continue;
    const std::string created = text(metadata, "creationTimestamp");
    for (const Json& container : member(member(pod, "status"), "containerStatuses")) {
      const Json& ended = member(member(member(container, "state"), "terminated"), "exitCode");
      if (!ended.is_number_integer() || created < newest) continue;
      newest = created;
      code = ended.get<int>();
    }
  }
  return code;
}

struct Meaning {
  std::string_view condition;
  Phase phase;
};

/// What an MPIJob's conditions mean, the final ones first: earlier ones stay true beside them.
constexpr std::array<Meaning, 5> kMeanings = {{{"Failed", Phase::failed},
                                               {"Succeeded", Phase::done},
                                               {"Suspended", Phase::waiting},
                                               {"Running", Phase::running},
                                               {"Created", Phase::waiting}}};

JobState state_of_job(const Json& job) {
  for (const auto& [condition, phase] : kMeanings)
    for (const Json& entry : member(member(job, "status"), "conditions")) {
      if (text(entry, "type") != condition || text(entry, "status") != "True") continue;
      const std::string why = phase == Phase::failed ? reason_of(entry) : "";
      return {phase, why.empty() ? std::string(condition) : fmt::format("{} ({})", condition, why), {}};
    }
  return {Phase::waiting, "no condition yet: does the MPI operator run?", {}};
}

}  // namespace

JobState mpijob_state(std::string_view printed) {
  const Json answer = read_json(printed);
  const Json& items = member(answer, "items");
  if (!items.is_array()) return {Phase::waiting, "kubectl has given no answer", {}};
  const Json* job = nullptr;
  std::string trouble;
  for (const Json& item : items) {
    if (text(item, "kind") == "MPIJob") job = &item;
    if (!trouble.empty() || text(item, "kind") != "Pod") continue;
    const std::string why = trouble_of_pod(item);
    if (!why.empty()) trouble = fmt::format(" ({}: {})", text(member(item, "metadata"), "name"), why);
  }
  if (!job) return {Phase::failed, "the MPIJob is not there any more: somebody has deleted it", {}};
  JobState state = state_of_job(*job);
  if (state.phase != Phase::done) state.words += trouble;
  if (state.phase == Phase::done || state.phase == Phase::failed) state.exit_code = exit_code_of(items);
  state.words = clean_text(state.words);
  return state;
}

}  // namespace hbench
