#include "bench/submit/mpijob.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "bench/command/command_line.hpp"
#include "collectives/base/text.hpp"
#include "reports/formats/plain_text.hpp"

namespace hbench {
namespace {

std::string or_else(const std::string& given, const std::string& otherwise) {
  return given.empty() ? otherwise : given;
}

/// Of the launcher, which starts ranks, simulates and writes the report, but trains nothing.
constexpr std::string_view kLauncherLimits = R"({cpu: "2", memory: "4Gi"})";
/// Kubernetes has no deadline of its own: a job that hangs would hold its GPUs until somebody looks.
constexpr double kLongestSeconds = 24 * 3600;

/// A YAML scalar that is text whatever it holds. The submission was checked for what no YAML can hold.
std::string scalar(std::string_view text) {
  std::string out = "\"";
  for (const char c : clean_text(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

/// An argument of a container: Kubernetes would put a variable's value in the place of $(NAME), and takes $$ for $.
std::string argument(std::string_view text) {
  std::string doubled;
  for (const char c : text) doubled.append(c == '$' ? 2 : 1, c);
  return scalar(doubled);
}

// The parts of the YAML. Each ends with a line break, or is empty.

std::string labels(const Submission& submission, std::string_view component) {
  return fmt::format("{{app.kubernetes.io/name: hbench, {}: {}, {}: {}}}", kInstanceLabel, scalar(submission.job),
                     kComponentLabel, component);
}

std::string namespace_line(const Submission& submission) {
  const std::string& name = submission.option("namespace");
  return name.empty() ? "" : fmt::format("  namespace: {}\n", scalar(name));
}

std::string claim(const Submission& submission) {
  if (!submission.option("claim").empty()) return "";
  const std::string& storage_class = submission.option("storage-class");
  return fmt::format(R"(apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: {}
{}  labels: {}
spec:
  accessModes: [ReadWriteOnce]
{}  resources:
    requests:
      storage: {}
---
)",
                     scalar(results_claim(submission)), namespace_line(submission),
                     labels(submission, kResultsComponent),
                     storage_class.empty() ? "" : fmt::format("  storageClassName: {}\n", scalar(storage_class)),
                     scalar(submission.option("storage")));
}

std::string queue_label(const Submission& submission) {
  const std::string& queue = submission.option("queue");
  return queue.empty() ? "" : fmt::format("    kueue.x-k8s.io/queue-name: {}\n", scalar(queue));
}

std::string volcano_queue(const Submission& submission) {
  const std::string& queue = submission.option("queue");
  return queue.empty() ? "" : fmt::format("      queue: {}\n", scalar(queue));
}

std::int64_t deadline(const Submission& submission) {
  const double seconds = submission.time_limit.value > 0 ? submission.time_limit.value : kLongestSeconds;
  return static_cast<std::int64_t>(std::ceil(seconds));
}

/// A launcher is started again whatever it ended with: the operator gives its Job this limit and no podFailurePolicy,
/// for which an MPIJob has no field (kubeflow/mpi-operator, newLauncherJob). So wrong flags, which `submit` finds
/// before, would end three more pods.
std::string head(const Submission& submission) {
  return fmt::format(R"(apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata:
  name: {}
{}  labels:
    app.kubernetes.io/name: hbench
    {}: {}
    {}: {}
{}spec:
  slotsPerWorker: {}
  # sshd runs as a user without root's rights.
  sshAuthMountPath: /home/mpiuser/.ssh
  # Else the launcher fails while names and sshd of workers are not there yet.
  launcherCreationPolicy: WaitForWorkersReady
  runPolicy:
    cleanPodPolicy: Running
    # A launcher that is started again goes on with --resume.
    backoffLimit: 3
    activeDeadlineSeconds: {}
    ttlSecondsAfterFinished: 86400
    # Launcher and workers are started together or not at all, where Volcano or the coscheduling plug-in schedules.
    schedulingPolicy:
      minAvailable: {}
{}  mpiReplicaSpecs:
)",
                     scalar(submission.job), namespace_line(submission), kInstanceLabel, scalar(submission.job),
                     kComponentLabel, kJobComponent, queue_label(submission), submission.ranks_per_node,
                     deadline(submission), submission.nodes + 1, volcano_queue(submission));
}

/// Of both pods: what the Pod Security Standard `restricted` asks for, and no access to the cluster.
std::string pod_rights(const Submission& submission) {
  const std::string& secret = submission.option("pull-secret");
  return fmt::format(R"(          automountServiceAccountToken: false
          enableServiceLinks: false
{}          securityContext:
            runAsNonRoot: true
            runAsUser: {}
            runAsGroup: {}
            fsGroup: {}
            fsGroupChangePolicy: OnRootMismatch
            seccompProfile: {{type: RuntimeDefault}}
)",
                     secret.empty() ? "" : fmt::format("          imagePullSecrets: [{{name: {}}}]\n", scalar(secret)),
                     kImageUser, kImageUser, kImageUser);
}

/// Pods have one interface, of this name, and seldom a subnet that is the same on all nodes.
constexpr const char *kNetworkFlag = "--network-interface", *kPodInterface = "eth0";

/// What the container runs: the image's own hbench, whatever the program here is called.
std::string sweep_command(const Submission& submission) {
  std::string lines = "            command: [hbench, sweep]\n            args:\n";
  std::vector<std::string> arguments = submission.sweep_into(kResultsFolder);
  if (std::ranges::none_of(submission.sweep, [](const std::string& text) { return is_flag(text, kNetworkFlag); }))
    arguments.insert(arguments.begin() + std::ssize(submission.sweep), {kNetworkFlag, kPodInterface});
  const std::vector<std::string> expected = submission.expected_hosts();
  arguments.insert(arguments.begin() + std::ssize(submission.sweep), expected.begin(), expected.end());
  for (const std::string& text : arguments) lines += fmt::format("            - {}\n", argument(text));
  return lines;
}

std::string launcher(const Submission& submission) {
  return fmt::format(R"(    Launcher:
      replicas: 1
      restartPolicy: Never
      template:
        metadata:
          labels: {}
        spec:
{}          containers:
          - name: launcher
            image: {}
            securityContext:
              allowPrivilegeEscalation: false
              capabilities: {{drop: [ALL]}}
{}            resources:
              limits: {}
            volumeMounts:
            # The folder of this job: others may share the claim, and /lost+found is nobody's.
            - {{name: results, mountPath: {}, subPath: {}}}
          volumes:
          - name: results
            persistentVolumeClaim: {{claimName: {}}}
)",
                     labels(submission, kLauncherComponent), pod_rights(submission), scalar(submission.option("image")),
                     sweep_command(submission), kLauncherLimits, kResultsFolder, scalar(submission.job),
                     scalar(results_claim(submission)));
}

std::string node_selector(const Submission& submission) {
  const std::string& text = submission.option("node-selector");
  if (text.empty()) return "";
  std::string lines = "          nodeSelector:\n";
  for (const KeyAndValue& pair : pairs_of(text))
    lines += fmt::format("            {}: {}\n", scalar(pair.key), scalar(pair.value.value_or("")));
  return lines;
}

/// Nodes with GPUs are often tainted, so that nothing else lands there.
std::string tolerations(const Submission& submission) {
  if (submission.gpus_per_node == 0) return "";
  return fmt::format("          tolerations:\n          - {{key: {}, operator: Exists}}\n",
                     scalar(submission.option("gpu-resource")));
}

/// IPC_LOCK lets RDMA register memory. It is asked for only with RDMA: many namespaces forbid it.
std::string capabilities(const Submission& submission) {
  return submission.option("rdma-resource").empty() ? "{drop: [ALL]}" : "{drop: [ALL], add: [IPC_LOCK]}";
}

/// Limits alone: requests are equal to them then, so that no worker is the first to be evicted.
std::string worker_limits(const Submission& submission) {
  std::string lines = fmt::format("                cpu: {}\n                memory: {}\n",
                                  scalar(worker_cpu(submission)), scalar(worker_memory(submission)));
  const auto add = [&](std::string_view name, int count) {
    lines += fmt::format("                {}: {}\n", scalar(name), count);
  };
  if (submission.gpus_per_node > 0) add(submission.option("gpu-resource"), submission.gpus_per_node);
  const std::string& rdma = submission.option("rdma-resource");
  if (!rdma.empty()) add(pair_of(rdma).key, count_of(rdma).value_or(1));
  return lines;
}

std::string worker(const Submission& submission) {
  return fmt::format(R"(    Worker:
      replicas: {}
      # An sshd that was killed, by lack of memory say, comes back for the cases that are left.
      restartPolicy: OnFailure
      template:
        metadata:
          labels: {}
        spec:
{}          terminationGracePeriodSeconds: 5
{}{}          affinity:
            # One worker on a node: two would share its network.
            podAntiAffinity:
              requiredDuringSchedulingIgnoredDuringExecution:
              - labelSelector:
                  matchLabels: {}
                topologyKey: kubernetes.io/hostname
          containers:
          - name: worker
            image: {}
            securityContext:
              allowPrivilegeEscalation: false
              capabilities: {}
            command: [/usr/sbin/sshd, -D, -e, -f, /home/mpiuser/.sshd_config]
            readinessProbe:
              tcpSocket: {{port: 2222}}
              initialDelaySeconds: 2
              periodSeconds: 5
            resources:
              limits:
{}            volumeMounts:
            # A container's own /dev/shm has 64 MiB: too little for NCCL.
            - {{name: shm, mountPath: /dev/shm}}
          volumes:
          - name: shm
            emptyDir: {{medium: Memory, sizeLimit: {}}}
)",
                     submission.nodes, labels(submission, "worker"), pod_rights(submission), node_selector(submission),
                     tolerations(submission), labels(submission, "worker"), scalar(submission.option("image")),
                     capabilities(submission), worker_limits(submission), scalar(worker_shm(submission)));
}

}  // namespace

std::string results_claim(const Submission& submission) {
  return or_else(submission.option("claim"), submission.job + "-results");
}

std::string worker_cpu(const Submission& submission) {
  const int cores = submission.gpus_per_node > 0 ? 4 * submission.gpus_per_node : submission.ranks_per_node;
  return or_else(submission.option("cpu"), std::to_string(cores));
}

std::string worker_memory(const Submission& submission) {
  const int gibibytes = submission.gpus_per_node > 0 ? 16 * submission.gpus_per_node : 4 * submission.ranks_per_node;
  return or_else(submission.option("memory"), fmt::format("{}Gi", gibibytes));
}

std::string worker_shm(const Submission& submission) {
  return or_else(submission.option("shm"), fmt::format("{}Gi", submission.ranks_per_node));
}

KeyAndValue pair_of(std::string_view text) {
  const std::size_t sign = text.find('=');
  if (sign == text.npos) return {text, std::nullopt};
  return {text.substr(0, sign), text.substr(sign + 1)};
}

std::vector<KeyAndValue> pairs_of(std::string_view text) {
  std::vector<KeyAndValue> pairs;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    pairs.push_back(pair_of(text.substr(0, comma)));
    text = comma == text.npos ? std::string_view() : text.substr(comma + 1);
  }
  return pairs;
}

std::optional<int> count_of(std::string_view resource) {
  const int count = parse_number<int>(pair_of(resource).value.value_or("1")).value_or(0);
  return count >= 1 && count <= 999 ? std::optional(count) : std::nullopt;
}

std::string rendered_mpijob(const Submission& submission) {
  return "# hbench submit --engine kubernetes: for Kubeflow's MPI operator, version 0.5 or newer\n" +
         claim(submission) + head(submission) + launcher(submission) + worker(submission);
}

}  // namespace hbench
