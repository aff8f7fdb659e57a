#pragma once

/// An MPIJob of Kubeflow's MPI operator (kubeflow.org/v2beta1) that runs a sweep. Pure functions.

#include <string>
#include <string_view>

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

}  // namespace hbench
