
#include "bench/submit/mpijob.hpp"
#include "tests/bench/kubernetes/submissions.hpp"
#include "tests/support/hostile_text.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::submit_mpijob_test {
namespace {

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
            - "--expect-hosts"
            - "4"
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
            - "--expect-hosts"
            - "2"
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
  struct Refused {
    std::string option;
    std::vector<const char*> values;
  };
  for (const Refused& row :
       {Refused{"image", {"has blanks", "a\nb"}}, Refused{"namespace", {"-x", "a.b"}},
        Refused{"claim", {"Upper", "a..b"}}, Refused{"storage", {"", "0", "-1Gi", "10 Gi"}},
        Refused{"storage-class", {"a/b"}}, Refused{"cpu", {"0", "1e9m"}}, Refused{"memory", {"inf", "Gi"}},
        Refused{"shm", {"1gb"}}, Refused{"gpu-resource", {"", "a/", "/gpu", "a/b/c"}},
        Refused{"rdma-resource", {"rdma", "r/a=0", "r/a=x", "r/a=", "r/a=1000", "nvidia.com/gpu"}},
        Refused{"node-selector", {"zone", "=a", "a=b,", "a=b,,c=d", "a=b c", "a=1,a=2"}}, Refused{"queue", {"a b"}},
        Refused{"pull-secret", {"key\"}"}}})
    for (const char* value : row.values)
      EXPECT_THAT(refusal_with(row.option, value), AllOf(StartsWith("invalid --" + row.option), Not(HasSubstr("\n"))))
          << value;
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

}  // namespace
}  // namespace hbench::submit_mpijob_test
