#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "bench/launch/find_program.hpp"
#include "bench/submit/engine.hpp"
#include "bench/submit/mpijob.hpp"
#include "bench/submit/mpijob_values.hpp"

/// Kubernetes with Kubeflow's MPI operator. All that is done there is done by kubectl, with the rights of who calls it.

namespace hbench {
namespace {

/// The flags of `hbench submit --engine kubernetes`.
constexpr std::array<EngineOption, 13> kOptions = {
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
std::string job_of(const Submission&, std::string_view printed) {
  constexpr std::string_view kBefore = "mpijob.kubeflow.org/", kAfter = " created";
  const std::size_t before = printed.find(kBefore);
  if (before == printed.npos) return "";
  const std::string_view name = printed.substr(before + kBefore.size());
  const std::size_t after = name.find(kAfter);
  return after > name.find('\n') || after == name.npos ? "" : std::string(name.substr(0, after));
}

Command ask(const Submission& submission, const std::string& job) {
  return kubectl(submission, {"get", "mpijobs.kubeflow.org,pods", fmt::format("--selector={}={}", kInstanceLabel, job),
                              "--output=json"});
}

/// Its claim stays.
Command cancel(const Submission& submission, const std::string& job) {
  return kubectl(submission, {"delete", "mpijobs.kubeflow.org", job});
}

/// The pod that results are copied from: it has the claim, and ends by itself, however its client ends.
std::string fetching_pod(const Submission& submission, const std::string& name, const std::string& job) {
  using Json = nlohmann::ordered_json;
  const Json container = {
      {"name", name},
      {"image", submission.option("image")},
      {"command", {"sleep", "1200"}},
      {"securityContext", {{"allowPrivilegeEscalation", false}, {"capabilities", {{"drop", {"ALL"}}}}}},
      {"resources", {{"limits", {{"cpu", "1"}, {"memory", "256Mi"}}}}},
      {"volumeMounts", {{{"name", "results"}, {"mountPath", kResultsFolder}, {"subPath", job}}}}};
  Json spec = {
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
      {"containers", Json::array({container})},
      {"volumes", {{{"name", "results"}, {"persistentVolumeClaim", {{"claimName", results_claim(submission)}}}}}}};
  const std::string& secret = submission.option("pull-secret");
  if (!secret.empty()) spec["imagePullSecrets"] = {{{"name", secret}}};
  return Json{{"spec", spec}}.dump();
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

extern const Engine kKubernetesEngine;
constinit const Engine kKubernetesEngine{
    .name = "kubernetes",
    .summary = "an MPIJob of Kubeflow's MPI operator, by kubectl",
    .options = kOptions,
    .availability =
        [](std::string_view path) {
          return program_availability("kubectl", path,
                                      "install it (kubernetes.io/docs/tasks/tools), with the cluster's ~/.kube/config");
        },
    .refuses = mpijob_refuses,
    .render = rendered_mpijob,
    .submit = submit,
    .job_of = job_of,
    .ask = ask,
    .state = mpijob_state,
    .fetch = fetch,
    .cancel = cancel,
    .fetched_log = launcher_log,
};

}  // namespace hbench
