#pragma once

/// An MPIJob of Kubeflow's MPI operator (kubeflow.org/v2beta1) that runs a sweep: what stands for options that nobody
/// gives, and what Kubernetes accepts as names and quantities. Pure functions.

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

/// At most 63 lower-case letters, digits and dashes, a letter or digit at both ends (a label of RFC 1123): namespaces.
bool is_kubernetes_label(std::string_view text);
/// The same, with a letter in front (a label of RFC 1035): services and what is named after them, such as an MPIJob.
bool is_kubernetes_service(std::string_view text);
/// At most 253 characters, labels of RFC 1123 with dots between them: claims, classes, secrets.
bool is_kubernetes_subdomain(std::string_view text);
/// The value of a label: empty, or at most 63 letters, digits, `-`, `_` and `.`, a letter or digit at both ends.
bool is_kubernetes_value(std::string_view text);
/// The key of a label or, where `prefixed`, the name of a resource that a device plugin offers: `nvidia.com/gpu`.
bool is_kubernetes_key(std::string_view text, bool prefixed);
/// What a quantity such as `500m`, `16Gi` or `1e9` stands for; nothing where it is none, or not above 0.
std::optional<double> kubernetes_quantity(std::string_view text);

}  // namespace hbench
