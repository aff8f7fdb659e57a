#include <sys/stat.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/bench/kubernetes/submissions.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::submit_kubernetes_test {
namespace {

using Phase = JobState::Phase;

const Engine& engine() { return kKubernetesEngine; }

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
  EXPECT_THAT(commands[5],
              ElementsAre("sh", "-c", "file=\"$1\" && shift && exec \"$@\" > \"$file\"", "hbench",
                          "results/launcher.log", "kubectl", "logs",
                          "--selector=app.kubernetes.io/instance=night-1,app.kubernetes.io/component=launcher",
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
}  // namespace hbench::submit_kubernetes_test
