#pragma once

/// An MPIJob of Kubeflow's MPI operator (kubeflow.org/v2beta1) that runs a sweep. Pure functions.
///
/// What a submission to Kubernetes says, with what stands for options that nobody gives. Pure functions.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/submit/engine.hpp"

namespace hbench {

/// Labels by which commands find what was submitted. The claim and the job have components of their own.
inline constexpr std::string_view kInstanceLabel = "app.kubernetes.io/instance";
inline constexpr std::string_view kComponentLabel = "app.kubernetes.io/component";
inline constexpr std::string_view kJobComponent = "job", kResultsComponent = "results", kLauncherComponent = "launcher";

/// The user of the image (bench/submit/image): all pods run as this one, without root's rights.
inline constexpr int kImageUser = 1000;
/// Where the launcher, and the pod that results are fetched from, mount the claim: the folder of the job in it.
inline constexpr std::string_view kResultsFolder = "/results";

/// Why Kubernetes or the operator would not accept it, for a person; empty where they do.
std::string mpijob_refuses(const Submission& submission);

/// The claim, unless `--claim` names one, and the MPIJob, as YAML. Whatever the submission holds is quoted.
std::string rendered_mpijob(const Submission& submission);

/// How a job is, from what `kubectl get mpijobs,pods --output=json` printed: the condition of the MPIJob, with its
/// reason and message, and what keeps the first of its pods that is not well: `Created (hbench-worker-1: Unschedulable:
/// ...)`. An answer without the job means that somebody has deleted it. Text that is no answer tells nothing: waiting.
JobState mpijob_state(std::string_view printed);

/// The name of the claim that has the results: `--claim`, or the one that is made.
std::string results_claim(const Submission& submission);

/// Quantities of a worker: of `--cpu`, `--memory` and `--shm`, or what is usual for as many ranks or GPUs.
std::string worker_cpu(const Submission& submission);
std::string worker_memory(const Submission& submission);
std::string worker_shm(const Submission& submission);

struct KeyAndValue {
  std::string_view key;
  std::optional<std::string_view> value;  ///< none where there is no `=`
};

/// `a=b`.
KeyAndValue pair_of(std::string_view text);
/// `a=b,c=d`; none for an empty text.
std::vector<KeyAndValue> pairs_of(std::string_view text);
/// How many devices a resource such as `rdma/ib=8` asks for: 1 without `=`; nothing where that is no number from 1 to
/// 999.
std::optional<int> count_of(std::string_view resource);

}  // namespace hbench
