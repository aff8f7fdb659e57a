// Kubernetes with Kubeflow's MPI operator. All that is done there is done by kubectl, with the rights of who calls it.

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>

#include "bench/launch/installation.hpp"
#include "bench/submit/engine.hpp"
#include "bench/submit/mpijob.hpp"
#include "collectives/base/read_json.hpp"
#include "reports/formats/plain_text.hpp"

namespace hbench {
namespace {

using Phase = JobState::Phase;

/// The member of an object; null where it has none, or is none.
const nlohmann::json& member(const nlohmann::json& object, const char* name) {
  static const nlohmann::json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(name);
  return found == object.end() ? kNull : *found;
}

std::string text(const nlohmann::json& object, const char* name) {
  const nlohmann::json& value = member(object, name);
  return value.is_string() ? value.get<std::string>() : "";
}

/// `Unschedulable: 0/2 nodes are available`, or what there is of it.
std::string reason_of(const nlohmann::json& object) {
  const std::string reason = text(object, "reason"), message = text(object, "message");
  return reason.empty() || message.empty() ? reason + message : reason + ": " + message;
}

/// `OOMKilled, exit code 137`; empty for a container that has not failed.
std::string failure_of(const nlohmann::json& state) {
  const nlohmann::json& ended = member(state, "terminated");
  const nlohmann::json& code = member(ended, "exitCode");
  if (!code.is_number_integer() || code == 0) return "";
  return fmt::format("{}, exit code {}", text(ended, "reason"), code.get<std::int64_t>());
}

std::string trouble_of_container(const nlohmann::json& container) {
  const nlohmann::json& waiting = member(member(container, "state"), "waiting");
  const std::string reason = text(waiting, "reason");
  if (!reason.empty() && reason != "ContainerCreating" && reason != "PodInitializing") return reason_of(waiting);
  const std::string failure = failure_of(member(container, "state"));
  return failure.empty() ? failure_of(member(container, "lastState")) : failure;
}

/// What keeps a pod from running, or has ended it; empty for one that is well.
std::string trouble_of_pod(const nlohmann::json& pod) {
  const nlohmann::json& status = member(pod, "status");
  if (!text(status, "reason").empty()) return reason_of(status);
  for (const nlohmann::json& container : member(status, "containerStatuses"))
    if (std::string trouble = trouble_of_container(container); !trouble.empty()) return trouble;
  for (const nlohmann::json& condition : member(status, "conditions"))
    if (text(condition, "type") == "PodScheduled" && text(condition, "status") == "False") return reason_of(condition);
  return "";
}

/// The exit code of the newest launcher that has ended: each try has a pod of its own.
std::optional<int> exit_code_of_items(const nlohmann::json& items) {
  std::optional<int> code;
  std::string newest;
  for (const nlohmann::json& pod : items) {
    const nlohmann::json& metadata = member(pod, "metadata");
    if (text(member(metadata, "labels"), kComponentLabel.data()) != kLauncherComponent) continue;
    const std::string created = text(metadata, "creationTimestamp");
    for (const nlohmann::json& container : member(member(pod, "status"), "containerStatuses")) {
      const nlohmann::json& ended = member(member(member(container, "state"), "terminated"), "exitCode");
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

JobState state_of_job(const nlohmann::json& job) {
  for (const auto& [condition, phase] : kMeanings)
    for (const nlohmann::json& entry : member(member(job, "status"), "conditions")) {
      if (text(entry, "type") != condition || text(entry, "status") != "True") continue;
      const std::string why = phase == Phase::failed ? reason_of(entry) : "";
      return {phase, why.empty() ? std::string(condition) : fmt::format("{} ({})", condition, why), {}};
    }
  return {Phase::waiting, "no condition yet: does the MPI operator run?", {}};
}

/// The flags of `hbench submit --engine kubernetes`.
constexpr std::array<EngineOption, 13> kKubernetesOptions = {
    {{"image", "image with hbench and sshd, which nodes can pull; bench/submit/image/build makes one", ""},
     {"namespace", "namespace of the job; empty: that of kubectl's context", ""},
     {"claim", "volume claim for results that is there already; empty: JOB-results, made where it is missing", ""},
     {"storage", "size of the volume claim that is made", "10Gi"},
     {"storage-class", "storage class of the volume claim that is made; empty: the cluster's own", ""},
     {"cpu", "CPU cores of a worker; empty: one for each rank, four for each GPU", ""},
     {"memory", "memory of a worker; empty: 4Gi for each rank, 16Gi for each GPU", ""},
     {"shm", "size of /dev/shm of a worker, part of its memory; empty: 1Gi for each rank", ""},
     {"gpu-resource", "what GPUs are called on nodes", "nvidia.com/gpu"},
     {"rdma-resource", "what RDMA devices are called on nodes, and =COUNT for more than one; empty: none", ""},
     {"node-selector", "labels of nodes for workers: KEY=VALUE,KEY=VALUE", ""},
     {"queue", "queue of Kueue or Volcano", ""},
     {"pull-secret", "secret that the registry of the image asks for", ""}}};

using Command = std::vector<std::string>;

Command joined(Command first, const Command& then) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

/// `WORDS... [--namespace=NAME]`.
Command in_namespace(const Submission& submission, const Command& words) {
  const std::string& name = submission.option("namespace");
  return name.empty() ? words : joined(words, {"--namespace=" + name});
}

Command kubectl(const Submission& submission, const Command& words) {
  return joined({"kubectl"}, in_namespace(submission, words));
}

/// `sh -c SCRIPT hbench ARGUMENTS...`: the script has them as "$1", "$2" ...
Command shell(const std::string& script, const Command& arguments) {
  return joined({"sh", "-c", script, "hbench"}, arguments);
}

/// The claim is applied, since it may be there with the results of an interrupted job, which are gone on with. The job
/// is created: applied to one of the same name, it would change a job that runs, or do nothing beside one that has
/// ended.
Command submit(const Submission& submission, const std::filesystem::path& file) {
  const std::string given = "--filename=" + file.string();
  if (!submission.option("claim").empty()) return kubectl(submission, {"create", given});
  return shell(fmt::format("kubectl apply \"$@\" --selector={0}={1} && exec kubectl create \"$@\" --selector={0}={2}",
                           kComponentLabel, kResultsComponent, kJobComponent),
               in_namespace(submission, {given}));
}

/// From `mpijob.kubeflow.org/NAME created`, which may stand below the line of the claim.
std::string job_of_kubectl(const Submission&, std::string_view printed) {
  constexpr std::string_view kBefore = "mpijob.kubeflow.org/", kAfter = " created";
  const std::size_t before = printed.find(kBefore);
  if (before == printed.npos) return "";
  const std::string_view name = printed.substr(before + kBefore.size());
  const std::size_t after = name.find(kAfter);
  return after > name.find('\n') || after == name.npos ? "" : std::string(name.substr(0, after));
}

Command ask_for_pods(const Submission& submission, const std::string& job) {
  return kubectl(submission, {"get", "mpijobs.kubeflow.org,pods", fmt::format("--selector={}={}", kInstanceLabel, job),
                              "--output=json"});
}

/// Its claim stays.
Command cancel(const Submission& submission, const std::string& job) {
  return kubectl(submission, {"delete", "mpijobs.kubeflow.org", job});
}

/// The pod that results are copied from: it has the claim, and ends by itself, however its client ends.
std::string fetching_pod(const Submission& submission, const std::string& name, const std::string& job) {
  using Ordered = nlohmann::ordered_json;
  const Ordered container = {
      {"name", name},
      {"image", submission.option("image")},
      {"command", {"sleep", "1200"}},
      {"securityContext", {{"allowPrivilegeEscalation", false}, {"capabilities", {{"drop", {"ALL"}}}}}},
      {"resources", {{"limits", {{"cpu", "1"}, {"memory", "256Mi"}}}}},
      {"volumeMounts", {{{"name", "results"}, {"mountPath", kResultsFolder}, {"subPath", job}}}}};
  Ordered spec = {
      {"restartPolicy", "Never"},
      {"activeDeadlineSeconds", 1200},
      {"terminationGracePeriodSeconds", 1},
      {"automountServiceAccountToken", false},
      {"securityContext",
       {{"runAsNonRoot", true},
        {"runAsUser", kImageUser},
        {"runAsGroup", kImageUser},
        {"fsGroup", kImageUser},
        {"fsGroupChangePolicy", "OnRootMismatch"},
        {"seccompProfile", {{"type", "RuntimeDefault"}}}}},
      {"containers", Ordered::array({container})},
      {"volumes", {{{"name", "results"}, {"persistentVolumeClaim", {{"claimName", results_claim(submission)}}}}}}};
  const std::string& secret = submission.option("pull-secret");
  if (!secret.empty()) spec["imagePullSecrets"] = {{{"name", secret}}};
  return Ordered{{"spec", spec}}.dump();
}

std::filesystem::path launcher_log(const Submission& submission) { return submission.folder / "launcher.log"; }

/// Nothing can be copied from a launcher that has ended, so a small pod mounts the claim again. What an interrupted
/// fetch has left is deleted first. The whole folder is copied: what a killed launcher had committed may still lie in
/// the write-ahead log beside the database. kubectl takes what stands before a colon for a pod, so it copies to `.`.
/// Last come the logs of all launchers, which Kubernetes keeps for as long as it keeps their pods.
std::vector<Command> fetch(const Submission& submission, const std::string& job) {
  const std::string pod = job + "-results";
  const Command copy = kubectl(submission, {"cp", fmt::format("{}:{}", pod, kResultsFolder), ".", "--retries=10"});
  const Command logs =
      kubectl(submission,
              {"logs", fmt::format("--selector={}={},{}={}", kInstanceLabel, job, kComponentLabel, kLauncherComponent),
               "--tail=-1", "--prefix"});
  return {kubectl(submission, {"delete", "pod", pod, "--ignore-not-found"}),
          kubectl(submission, {"run", pod, "--image=" + submission.option("image"), "--restart=Never",
                               "--overrides=" + fetching_pod(submission, pod, job)}),
          kubectl(submission, {"wait", "pod/" + pod, "--for=condition=Ready", "--timeout=300s"}),
          shell("mkdir -p \"$1\" && cd \"$1\" && shift && exec \"$@\"", joined({submission.folder.string()}, copy)),
          kubectl(submission, {"delete", "pod", pod, "--wait=false"}),
          shell("file=\"$1\" && shift && exec \"$@\" > \"$file\"", joined({launcher_log(submission).string()}, logs))};
}

}  // namespace

JobState mpijob_state(std::string_view printed) {
  const nlohmann::json answer = read_json(printed);
  const nlohmann::json& items = member(answer, "items");
  if (!items.is_array()) return {Phase::waiting, "kubectl has given no answer", {}};
  const nlohmann::json* job = nullptr;
  std::string trouble;
  for (const nlohmann::json& item : items) {
    if (text(item, "kind") == "MPIJob") job = &item;
    if (!trouble.empty() || text(item, "kind") != "Pod") continue;
    const std::string why = trouble_of_pod(item);
    if (!why.empty()) trouble = fmt::format(" ({}: {})", text(member(item, "metadata"), "name"), why);
  }
  if (!job) return {Phase::failed, "the MPIJob is not there any more: somebody has deleted it", {}};
  JobState state = state_of_job(*job);
  if (state.phase != Phase::done) state.words += trouble;
  if (state.phase == Phase::done || state.phase == Phase::failed) state.exit_code = exit_code_of_items(items);
  state.words = clean_text(state.words);
  return state;
}

extern const Engine kKubernetesEngine;
constinit const Engine kKubernetesEngine{
    .name = "kubernetes",
    .summary = "an MPIJob of Kubeflow's MPI operator, by kubectl",
    .options = kKubernetesOptions,
    .availability =
        [](std::string_view path) {
          return program_availability("kubectl", path,
                                      "install it (kubernetes.io/docs/tasks/tools), with the cluster's ~/.kube/config");
        },
    .refuses = mpijob_refuses,
    .render = rendered_mpijob,
    .submit = submit,
    .job_of = job_of_kubectl,
    .ask = ask_for_pods,
    .state = mpijob_state,
    .fetch = fetch,
    .cancel = cancel,
    .fetched_log = launcher_log,
};

}  // namespace hbench
