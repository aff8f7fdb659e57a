#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "bench/submit/kubernetes_names.hpp"
#include "tests/analysis/temporary_folder.hpp"
#include "tests/bench/hostile_text.hpp"
#include "tests/bench/kubernetes/submissions.hpp"

namespace hbench {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using Phase = JobState::Phase;

const Engine& engine() { return kKubernetesEngine; }

std::string refusal_with(std::string_view option, const std::string& value) {
  Submission submission = plain_submission();
  submission.options.find(option)->second = value;
  return engine().refuses(submission);
}

std::string rendered_with(std::string_view option, const std::string& value) {
  Submission submission = plain_submission();
  submission.options.find(option)->second = value;
  EXPECT_EQ(engine().refuses(submission), "");
  return engine().render(submission);
}

// Every option, GPUs, RDMA: what differs between clusters is in this one.
TEST(KubernetesYaml, OfEveryOptionIsThis) {
  EXPECT_EQ(engine().refuses(full_submission()), "");
  EXPECT_EQ(engine().render(full_submission()),
            R"(# hbench submit --engine kubernetes: for Kubeflow's MPI operator, version 0.5 or newer
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: "night-1-results"
  namespace: "training"
  labels: {app.kubernetes.io/name: hbench, app.kubernetes.io/instance: "night-1", app.kubernetes.io/component: results}
spec:
  accessModes: [ReadWriteOnce]
  storageClassName: "fast.ssd"
  resources:
    requests:
      storage: "50Gi"
---
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata:
  name: "night-1"
  namespace: "training"
  labels:
    app.kubernetes.io/name: hbench
    app.kubernetes.io/instance: "night-1"
    app.kubernetes.io/component: job
    kueue.x-k8s.io/queue-name: "research"
spec:
  slotsPerWorker: 8
  # sshd runs as a user without root's rights.
  sshAuthMountPath: /home/mpiuser/.ssh
  # Else the launcher fails while names and sshd of workers are not there yet.
  launcherCreationPolicy: WaitForWorkersReady
  runPolicy:
    cleanPodPolicy: Running
    # A launcher that is started again goes on with --resume.
    backoffLimit: 3
    activeDeadlineSeconds: 5401
    ttlSecondsAfterFinished: 86400
    # Launcher and workers are started together or not at all, where Volcano or the coscheduling plug-in schedules.
    schedulingPolicy:
      minAvailable: 5
      queue: "research"
  mpiReplicaSpecs:
    Launcher:
      replicas: 1
      restartPolicy: Never
      template:
        metadata:
          labels: {app.kubernetes.io/name: hbench, app.kubernetes.io/instance: "night-1", app.kubernetes.io/component: launcher}
        spec:
          automountServiceAccountToken: false
          enableServiceLinks: false
          imagePullSecrets: [{name: "registry-key"}]
          securityContext:
            runAsNonRoot: true
            runAsUser: 1000
            runAsGroup: 1000
            fsGroup: 1000
            fsGroupChangePolicy: OnRootMismatch
            seccompProfile: {type: RuntimeDefault}
          containers:
          - name: launcher
            image: "registry.example/hbench@sha256:0123"
            securityContext:
              allowPrivilegeEscalation: false
              capabilities: {drop: [ALL]}
            command: [hbench, sweep]
            args:
            - "--gpus"
            - "1..4"
            - "--workload"
            - "lenet5"
            - "--network-interface"
            - "eth0"
            - "--db"
            - "/results/hbench.db"
            - "--report"
            - "/results/hbench-report"
            - "--resume"
            resources:
              limits: {cpu: "2", memory: "4Gi"}
            volumeMounts:
            # The folder of this job: others may share the claim, and /lost+found is nobody's.
            - {name: results, mountPath: /results, subPath: "night-1"}
          volumes:
          - name: results
            persistentVolumeClaim: {claimName: "night-1-results"}
    Worker:
      replicas: 4
      # An sshd that was killed, by lack of memory say, comes back for the cases that are left.
      restartPolicy: OnFailure
      template:
        metadata:
          labels: {app.kubernetes.io/name: hbench, app.kubernetes.io/instance: "night-1", app.kubernetes.io/component: worker}
        spec:
          automountServiceAccountToken: false
          enableServiceLinks: false
          imagePullSecrets: [{name: "registry-key"}]
          securityContext:
            runAsNonRoot: true
            runAsUser: 1000
            runAsGroup: 1000
            fsGroup: 1000
            fsGroupChangePolicy: OnRootMismatch
            seccompProfile: {type: RuntimeDefault}
          terminationGracePeriodSeconds: 5
          nodeSelector:
            "example.com/gpu": "h100"
            "zone": "a"
          tolerations:
          - {key: "nvidia.com/gpu", operator: Exists}
          affinity:
            # One worker on a node: two would share its network.
            podAntiAffinity:
              requiredDuringSchedulingIgnoredDuringExecution:
              - labelSelector:
                  matchLabels: {app.kubernetes.io/name: hbench, app.kubernetes.io/instance: "night-1", app.kubernetes.io/component: worker}
                topologyKey: kubernetes.io/hostname
          containers:
          - name: worker
            image: "registry.example/hbench@sha256:0123"
            securityContext:
              allowPrivilegeEscalation: false
              capabilities: {drop: [ALL], add: [IPC_LOCK]}
            command: [/usr/sbin/sshd, -D, -e, -f, /home/mpiuser/.sshd_config]
            readinessProbe:
              tcpSocket: {port: 2222}
              initialDelaySeconds: 2
              periodSeconds: 5
            resources:
              limits:
                cpu: "96"
                memory: "512Gi"
                "nvidia.com/gpu": 8
                "rdma/ib": 8
            volumeMounts:
            # A container's own /dev/shm has 64 MiB: too little for NCCL.
            - {name: shm, mountPath: /dev/shm}
          volumes:
          - name: shm
            emptyDir: {medium: Memory, sizeLimit: "64Gi"}
)");
}

// Two ranks on cores: two cores, 4 GiB and 1 GiB of shared memory for each. A day, where no time limit was given.
TEST(KubernetesYaml, HasSizesForRanksWhereNobodyGivesThem) {
  const std::string yaml = engine().render(plain_submission());
  EXPECT_THAT(yaml,
              AllOf(HasSubstr("                cpu: \"2\"\n                memory: \"8Gi\"\n            volumeMounts"),
                    HasSubstr("sizeLimit: \"2Gi\""), HasSubstr("activeDeadlineSeconds: 86400\n"),
                    HasSubstr("minAvailable: 3\n"), HasSubstr("storage: \"10Gi\""),
                    HasSubstr("claimName: \"hbench-results\"")));
  for (const char* absent : {"namespace", "storageClassName", "imagePullSecrets", "nodeSelector", "tolerations",
                             "queue", "IPC_LOCK", "nvidia.com"})
    EXPECT_THAT(yaml, Not(HasSubstr(absent)));
}

TEST(KubernetesYaml, HasSizesForGpusWhereNobodyGivesThem) {
  Submission submission = plain_submission();
  submission.gpus_per_node = submission.ranks_per_node = 8;
  const std::string yaml = engine().render(submission);
  EXPECT_THAT(
      yaml, AllOf(HasSubstr("cpu: \"32\"\n                memory: \"128Gi\"\n                \"nvidia.com/gpu\": 8\n"),
                  HasSubstr("sizeLimit: \"8Gi\""), HasSubstr("{key: \"nvidia.com/gpu\", operator: Exists}")));
}

TEST(KubernetesYaml, MakesNoClaimBesideOneThatIsThere) {
  const std::string yaml = rendered_with("claim", "shared");
  EXPECT_THAT(yaml,
              AllOf(Not(HasSubstr("PersistentVolumeClaim\n")), Not(HasSubstr("---")),
                    HasSubstr("persistentVolumeClaim: {claimName: \"shared\"}"), HasSubstr("subPath: \"hbench\"")));
}

TEST(KubernetesYaml, AsksForOneRdmaDeviceWhereNoCountIsGiven) {
  EXPECT_THAT(rendered_with("rdma-resource", "rdma/hca"), HasSubstr("                \"rdma/hca\": 1\n"));
}

// Kubernetes would put the value of a variable in the place of $(HOME); twice the sign is one.
TEST(KubernetesYaml, QuotesArgumentsForYamlAndForKubernetes) {
  EXPECT_EQ(engine().refuses(hostile_submission()), "");
  EXPECT_THAT(engine().render(hostile_submission()), HasSubstr(R"(            args:
            - "--workload"
            - "x\", \"--yes"
            - "a: b # c"
            - "\\\" - evil: true"
            - "$$(HOME) $$$$ $${PATH}"
            - "{image: other}"
            - "- *anchor"
            - "yes"
            - "0x10"
            - ""
            - "'; rm -rf /; '"
            - "!!python/none"
            - ")"
                                                               "\xc3\xa9 \xf0\x9f\x98\x80"
                                                               R"("
            - "--network-interface"
            - "eth0"
            - "--db"
)"));
}

TEST(KubernetesYaml, KeepsANetworkThatIsGiven) {
  for (const std::vector<std::string>& given :
       {std::vector<std::string>{"--network-interface", "net1"}, {"--network-interface=net1"}}) {
    Submission submission = plain_submission();
    submission.sweep = given;
    const std::string yaml = engine().render(submission);
    EXPECT_THAT(yaml, AllOf(HasSubstr("net1"), Not(HasSubstr("eth0"))));
  }
}

TEST(KubernetesRefusal, NamesTheOptionItsValueAndWhatIsExpected) {
  EXPECT_EQ(refusal_with("namespace", "My_Space"),
            "invalid --namespace 'My_Space': expected lower-case letters, digits and '-', at most 63 characters");
  EXPECT_EQ(refusal_with("memory", "16GB"), "invalid --memory '16GB': expected a size such as 16Gi or 500M");
  EXPECT_EQ(refusal_with("cpu", "four"), "invalid --cpu 'four': expected cores such as 8 or 500m");
  EXPECT_EQ(refusal_with("gpu-resource", "gpu"),
            "invalid --gpu-resource 'gpu': expected a name with the plug-in's domain in front, such as nvidia.com/gpu");
  EXPECT_EQ(refusal_with("image", ""),
            "--image is missing: build one by bench/submit/image/build --tag REGISTRY/hbench, push it, and name it");
  EXPECT_EQ(refusal_with("shm", "9Gi"),
            "/dev/shm of 9Gi is part of a worker's memory, which is 8Gi: give a smaller --shm or a larger --memory");
}

TEST(KubernetesRefusal, IsGivenToWhatKubernetesRefuses) {
  const std::pair<const char*, const char*> refused[] = {{"image", "has blanks"},
                                                         {"image", "a\nb"},
                                                         {"namespace", "-x"},
                                                         {"namespace", "a.b"},
                                                         {"claim", "Upper"},
                                                         {"claim", "a..b"},
                                                         {"storage", ""},
                                                         {"storage", "0"},
                                                         {"storage", "-1Gi"},
                                                         {"storage", "10 Gi"},
                                                         {"storage-class", "a/b"},
                                                         {"cpu", "0"},
                                                         {"cpu", "1e9m"},
                                                         {"memory", "inf"},
                                                         {"memory", "Gi"},
                                                         {"shm", "1gb"},
                                                         {"gpu-resource", ""},
                                                         {"gpu-resource", "a/"},
                                                         {"gpu-resource", "/gpu"},
                                                         {"gpu-resource", "a/b/c"},
                                                         {"rdma-resource", "rdma"},
                                                         {"rdma-resource", "r/a=0"},
                                                         {"rdma-resource", "r/a=x"},
                                                         {"rdma-resource", "r/a="},
                                                         {"rdma-resource", "r/a=1000"},
                                                         {"node-selector", "zone"},
                                                         {"node-selector", "=a"},
                                                         {"node-selector", "a=b,"},
                                                         {"node-selector", "a=b,,c=d"},
                                                         {"node-selector", "a=b c"},
                                                         {"node-selector", "a=1,a=2"},
                                                         {"queue", "a b"},
                                                         {"pull-secret", "key\"}"},
                                                         {"rdma-resource", "nvidia.com/gpu"}};
  for (const auto& [option, value] : refused) {
    const std::string refusal = refusal_with(option, value);
    EXPECT_THAT(refusal, AllOf(StartsWith(std::string("invalid --") + option), Not(HasSubstr("\n")))) << value;
  }
}

TEST(KubernetesRefusal, IsGivenToHostileTextInEveryOption) {
  for (const EngineOption& option : engine().options)
    for (const std::string& text : kHostile)
      EXPECT_THAT(refusal_with(option.name, text),
                  AllOf(StartsWith("invalid --" + std::string(option.name)), Not(HasSubstr("\n"))))
          << text;
}

TEST(KubernetesRefusal, IsGivenToArgumentsThatNoYamlCanHold) {
  Submission submission = plain_submission();
  submission.sweep.push_back("two\nlines");
  EXPECT_EQ(engine().refuses(submission),
            "the argument 'two lines' cannot be written as YAML: it has control characters or is no UTF-8");
  submission.sweep.back() = "\xff";
  EXPECT_THAT(engine().refuses(submission), HasSubstr("is no UTF-8"));
}

// A host has 63 characters at most, and the last worker is called JOB-worker-1: 54 are left, and 53 with ten workers
// more.
TEST(KubernetesRefusal, IsGivenToJobsThatNoHostCanBeNamedAfter) {
  Submission submission = plain_submission();
  for (const char* name : {"", "1st", "Night", "a_b", "a.b", "-a", "a\n"}) {
    submission.job = name;
    EXPECT_THAT(engine().refuses(submission), StartsWith("invalid --name '")) << name;
  }
  submission.job = std::string(54, 'a');
  EXPECT_EQ(engine().refuses(submission), "");
  submission.nodes = 11;
  EXPECT_EQ(engine().refuses(submission),
            "invalid --name '" + submission.job +
                "': expected lower-case letters, digits and '-', a letter first, at most 53 characters");
}

TEST(KubernetesRefusal, IsGivenToSizesThatAreNone) {
  Submission submission = plain_submission();
  submission.nodes = 0;
  EXPECT_EQ(engine().refuses(submission), "invalid number of nodes 0: at least 1");
  submission = plain_submission();
  submission.ranks_per_node = 0;
  EXPECT_EQ(engine().refuses(submission), "invalid number of ranks per node 0: at least 1");
  submission = plain_submission();
  submission.gpus_per_node = -1;
  EXPECT_EQ(engine().refuses(submission), "invalid number of GPUs per node -1: at least 0");
  submission = plain_submission();
  submission.time_limit = Seconds(-1);
  EXPECT_EQ(engine().refuses(submission), "invalid time limit: at most 366 days");
}

// apimachinery's resource.Quantity: k is a thousand, Ki 1024, m a thousandth, and E alone no exponent.
TEST(KubernetesName, QuantitiesAreThoseOfKubernetes) {
  EXPECT_EQ(kubernetes_quantity("500m"), 0.5);
  EXPECT_EQ(kubernetes_quantity("2k"), 2000);
  EXPECT_EQ(kubernetes_quantity("1.5Ki"), 1536);
  EXPECT_EQ(kubernetes_quantity("16Gi"), 17179869184.0);
  EXPECT_EQ(kubernetes_quantity("1e3"), 1000);
  EXPECT_EQ(kubernetes_quantity("1E"), 1e18);
  EXPECT_EQ(kubernetes_quantity("1Ei"), 1152921504606846976.0);
  for (const char* none : {"", "0", "-1", "+1", "1K", "1gi", "1 Gi", "1e3Gi", "0x10", "nan", ".", "1e999"})
    EXPECT_EQ(kubernetes_quantity(none), std::nullopt) << none;
}

TEST(KubernetesName, HasTheLengthsOfRfc1123) {
  EXPECT_TRUE(is_kubernetes_label(std::string(63, '1')));
  EXPECT_FALSE(is_kubernetes_label(std::string(64, '1')));
  EXPECT_FALSE(is_kubernetes_service("1a"));
  EXPECT_TRUE(is_kubernetes_subdomain(std::string(64, 'a') + ".b"));
  EXPECT_TRUE(is_kubernetes_subdomain(std::string(253, 'a')));
  EXPECT_FALSE(is_kubernetes_subdomain(std::string(254, 'a')));
  EXPECT_FALSE(is_kubernetes_subdomain("a."));
  EXPECT_TRUE(is_kubernetes_value(""));
  EXPECT_TRUE(is_kubernetes_value("A_b.c-9"));
  EXPECT_FALSE(is_kubernetes_value("_a"));
  EXPECT_TRUE(is_kubernetes_key("zone", false));
  EXPECT_FALSE(is_kubernetes_key("zone", true));
}

TEST(KubernetesCommands, ApplyTheClaimAndCreateTheJob) {
  EXPECT_THAT(engine().submit(plain_submission(), "/tmp/a b.yaml"),
              ElementsAre("sh", "-c",
                          "kubectl apply \"$@\" --selector=app.kubernetes.io/component=results && "
                          "exec kubectl create \"$@\" --selector=app.kubernetes.io/component=job",
                          "hbench", "--filename=/tmp/a b.yaml"));
  EXPECT_THAT(engine().submit(full_submission(), "job.yaml"),
              ElementsAre("sh", "-c", testing::_, "hbench", "--filename=job.yaml", "--namespace=training"));
}

TEST(KubernetesCommands, CreateTheJobAloneWhereTheClaimIsThere) {
  Submission submission = plain_submission();
  submission.options["claim"] = "shared";
  EXPECT_THAT(engine().submit(submission, "job.yaml"), ElementsAre("kubectl", "create", "--filename=job.yaml"));
}

TEST(KubernetesCommands, FindTheJobInWhatKubectlPrints) {
  const Submission submission = plain_submission();
  EXPECT_EQ(
      engine().job_of(submission, "persistentvolumeclaim/hbench-results created\nmpijob.kubeflow.org/hbench created\n"),
      "hbench");
  EXPECT_EQ(engine().job_of(submission, "persistentvolumeclaim/hbench-results unchanged\n"), "");
  EXPECT_EQ(engine().job_of(submission, "mpijob.kubeflow.org/hbench unchanged\nx created\n"), "");
  EXPECT_EQ(engine().job_of(submission, ""), "");
}

TEST(KubernetesCommands, AskForTheJobAndItsPods) {
  EXPECT_THAT(engine().ask(full_submission(), "night-1"),
              ElementsAre("kubectl", "get", "mpijobs.kubeflow.org,pods",
                          "--selector=app.kubernetes.io/instance=night-1", "--output=json", "--namespace=training"));
}

TEST(KubernetesCommands, CancelTheJobAlone) {
  EXPECT_THAT(engine().cancel(full_submission(), "night-1"),
              ElementsAre("kubectl", "delete", "mpijobs.kubeflow.org", "night-1", "--namespace=training"));
}

TEST(KubernetesCommands, FetchTheFolderOfTheJobByAPodOfItsOwn) {
  const auto commands = engine().fetch(full_submission(), "night-1");
  ASSERT_EQ(commands.size(), 6U);
  EXPECT_THAT(commands[0],
              ElementsAre("kubectl", "delete", "pod", "night-1-results", "--ignore-not-found", "--namespace=training"));
  EXPECT_THAT(commands[1],
              ElementsAre("kubectl", "run", "night-1-results", "--image=registry.example/hbench@sha256:0123",
                          "--restart=Never", StartsWith("--overrides={"), "--namespace=training"));
  EXPECT_THAT(commands[2], ElementsAre("kubectl", "wait", "pod/night-1-results", "--for=condition=Ready",
                                       "--timeout=300s", "--namespace=training"));
  EXPECT_THAT(commands[3],
              ElementsAre("sh", "-c", "mkdir -p \"$1\" && cd \"$1\" && shift && exec \"$@\"", "hbench", "results",
                          "kubectl", "cp", "night-1-results:/results", ".", "--retries=10", "--namespace=training"));
  EXPECT_THAT(commands[4],
              ElementsAre("kubectl", "delete", "pod", "night-1-results", "--wait=false", "--namespace=training"));
  EXPECT_THAT(
      commands[5],
      ElementsAre("sh", "-c", "cd \"$1\" && shift && exec \"$@\" > launcher.log", "hbench", "results", "kubectl",
                  "logs", "--selector=app.kubernetes.io/instance=night-1,app.kubernetes.io/component=launcher",
                  "--tail=-1", "--prefix", "--namespace=training"));

  const auto spec = nlohmann::json::parse(commands[1][5].substr(std::string("--overrides=").size()))["spec"];
  EXPECT_EQ(
      spec["volumes"],
      nlohmann::json::parse(R"([{"name": "results", "persistentVolumeClaim": {"claimName": "night-1-results"}}])"));
  EXPECT_EQ(spec["containers"][0]["volumeMounts"],
            nlohmann::json::parse(R"([{"name": "results", "mountPath": "/results", "subPath": "night-1"}])"));
  EXPECT_EQ(spec["imagePullSecrets"], nlohmann::json::parse(R"([{"name": "registry-key"}])"));
  EXPECT_EQ(spec["activeDeadlineSeconds"], 1200);
}

TEST(KubernetesCommands, AreNotAvailableWithoutKubectl) {
  const TemporaryFolder folder;
  const Availability missing = engine().availability(folder.path().string());
  EXPECT_FALSE(missing.available);
  EXPECT_EQ(missing.reason, "kubectl is not on the PATH");
  EXPECT_THAT(missing.cure, HasSubstr("install it"));
  const std::filesystem::path program = folder.path() / "kubectl";
  std::ofstream(program) << "#!/bin/sh\n";
  chmod(program.c_str(), 0755);
  EXPECT_TRUE(engine().availability(folder.path().string()).available);
}

/// What kubectl prints of a job with these conditions, and of pods with these names and statuses.
std::string answer(const std::string& conditions, const std::string& pods = "") {
  return R"({"kind": "List", "items": [{"kind": "MPIJob", "status": {"conditions": [)" + conditions + "]}}" + pods +
         "]}";
}

std::string condition(const std::string& type, const std::string& status = "True", const std::string& rest = "") {
  return R"({"type": ")" + type + R"(", "status": ")" + status + "\"" + rest + "}";
}

std::string pod(const std::string& name, const std::string& status) {
  return R"(, {"kind": "Pod", "metadata": {"name": ")" + name + R"("}, "status": )" + status + "}";
}

void expect_state(const std::string& printed, Phase phase, const std::string& words) {
  const JobState state = engine().state(printed);
  EXPECT_EQ(state.phase, phase) << state.words;
  EXPECT_EQ(state.words, words);
}

TEST(KubernetesState, IsTheLastConditionThatHolds) {
  expect_state(answer(condition("Created")), Phase::waiting, "Created");
  expect_state(answer(condition("Created") + "," + condition("Running")), Phase::running, "Running");
  expect_state(answer(condition("Created") + "," + condition("Running", "False") + "," + condition("Succeeded")),
               Phase::done, "Succeeded");
  expect_state(answer(condition("Created") + "," + condition("Suspended")), Phase::waiting, "Suspended");
  expect_state(answer(condition("Created") + "," + condition("Suspended", "False") + "," + condition("Running")),
               Phase::running, "Running");
}

TEST(KubernetesState, SaysWhyAJobHasFailed) {
  expect_state(
      answer(condition("Created") + "," +
             condition("Failed", "True", R"(, "reason": "DeadlineExceeded", "message": "Job was active longer")")),
      Phase::failed, "Failed (DeadlineExceeded: Job was active longer)");
  // Of an evicted worker the operator says so while the conditions of before still hold.
  expect_state(
      answer(condition("Running") + "," +
                 condition("Failed", "True", R"(, "reason": "MPIJobEvicted", "message": "1/2 workers are evicted")"),
             pod("hbench-worker-1", R"({"phase": "Failed", "reason": "Evicted", "message": "low on memory"})")),
      Phase::failed, "Failed (MPIJobEvicted: 1/2 workers are evicted) (hbench-worker-1: Evicted: low on memory)");
}

TEST(KubernetesState, SaysWhatKeepsAPod) {
  const std::string waits = pod("hbench-worker-0", R"({"conditions": [{"type": "PodScheduled", "status": "False",
    "reason": "Unschedulable", "message": "0/2 nodes are available: 2 Insufficient nvidia.com/gpu."}]})");
  expect_state(answer(condition("Created"), waits), Phase::waiting,
               "Created (hbench-worker-0: Unschedulable: 0/2 nodes are available: 2 Insufficient nvidia.com/gpu.)");
  const std::string starts = pod("hbench-worker-0", R"({"containerStatuses": [{"state": {"waiting":
    {"reason": "ContainerCreating"}}}]})");
  const std::string no_image = pod("hbench-worker-1", R"({"containerStatuses": [{"state": {"waiting":
    {"reason": "ImagePullBackOff", "message": "Back-off pulling image \"x\""}}}]})");
  expect_state(answer(condition("Created"), starts), Phase::waiting, "Created");
  expect_state(answer(condition("Created"), starts + no_image), Phase::waiting,
               "Created (hbench-worker-1: ImagePullBackOff: Back-off pulling image \"x\")");
}

TEST(KubernetesState, SaysHowAContainerHasEnded) {
  const std::string ended = pod("hbench-launcher-x1", R"({"containerStatuses": [{"state": {"terminated":
    {"exitCode": 2, "reason": "Error"}}}]})");
  expect_state(answer(condition("Running"), ended), Phase::running, "Running (hbench-launcher-x1: Error, exit code 2)");
  const std::string restarted = pod("hbench-worker-0", R"({"containerStatuses": [{"state": {"running": {}},
    "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}}]})");
  expect_state(answer(condition("Running"), restarted), Phase::running,
               "Running (hbench-worker-0: OOMKilled, exit code 137)");
  // Workers are ended when the launcher is done: that is no trouble.
  expect_state(answer(condition("Succeeded"), ended), Phase::done, "Succeeded");
  const std::string good = pod("hbench-launcher-x1", R"({"containerStatuses": [{"state": {"terminated":
    {"exitCode": 0, "reason": "Completed"}}}]})");
  expect_state(answer(condition("Running"), good), Phase::running, "Running");
}

TEST(KubernetesState, HasTheExitCodeOfTheLastLauncher) {
  const auto launcher = [](const std::string& created, const std::string& code) {
    return R"(, {"kind": "Pod", "metadata": {"name": "l", "creationTimestamp": ")" + created +
           R"(", "labels": {"app.kubernetes.io/component": "launcher"}}, "status": {"containerStatuses": [{"state":
           {"terminated": {"exitCode": )" +
           code + R"(, "reason": "Error"}}}]}})";
  };
  const std::string pods = launcher("2026-01-01T00:00:02Z", "5") + launcher("2026-01-01T00:00:01Z", "2") +
                           pod("w", R"({"containerStatuses": [{"state": {"terminated": {"exitCode": 255}}}]})");
  EXPECT_EQ(engine().state(answer(condition("Failed"), pods)).exit_code, 5);
  EXPECT_EQ(engine().state(answer(condition("Running"), pods)).exit_code, std::nullopt);
  EXPECT_EQ(engine().state(answer(condition("Failed"))).exit_code, std::nullopt);
}

TEST(KubernetesState, IsFailedWhenTheJobWasDeleted) {
  expect_state(R"({"kind": "List", "items": []})", Phase::failed,
               "the MPIJob is not there any more: somebody has deleted it");
}

TEST(KubernetesState, IsWaitingWhereNothingIsSaidYet) {
  expect_state(R"({"items": [{"kind": "MPIJob"}]})", Phase::waiting, "no condition yet: does the MPI operator run?");
  for (const char* text : {"", "error", "[]", "{", "null", R"({"items": 3})"})
    expect_state(text, Phase::waiting, "kubectl has given no answer");
  // Whatever else an answer may hold is passed over.
  expect_state(answer("3, null, " + condition("Created"), ", 1, " + std::string(R"({"kind": "Pod", "status": []})")),
               Phase::waiting, "Created");
}

}  // namespace
}  // namespace hbench
