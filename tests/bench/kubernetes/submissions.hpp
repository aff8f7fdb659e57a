#pragma once

/// Submissions to Kubernetes that tests of it share.

#include "tests/bench/submission_example.hpp"

namespace hbench {

extern const Engine kKubernetesEngine;

/// Two nodes of two CPU ranks, with an image and otherwise the options' standards.
inline Submission plain_submission() {
  Submission submission{.sweep = {"--gpus", "1..4", "--workload", "lenet5"},
                        .nodes = 2,
                        .ranks_per_node = 2,
                        .program = "/opt/hbench/bin/hbench",
                        .folder = "results"};
  set_standard_options(submission, kKubernetesEngine);
  submission.options["image"] = "registry.example/hbench:0.1.0";
  return submission;
}

/// Four nodes of eight GPUs with RDMA, and every option.
inline Submission full_submission() {
  Submission submission = plain_submission();
  submission.job = "night-1";
  submission.nodes = 4;
  submission.ranks_per_node = 8;
  submission.gpus_per_node = 8;
  submission.time_limit = Seconds(5400.5);
  submission.options = {{"image", "registry.example/hbench@sha256:0123"},
                        {"namespace", "training"},
                        {"claim", ""},
                        {"storage", "50Gi"},
                        {"storage-class", "fast.ssd"},
                        {"cpu", "96"},
                        {"memory", "512Gi"},
                        {"shm", "64Gi"},
                        {"gpu-resource", "nvidia.com/gpu"},
                        {"rdma-resource", "rdma/ib=8"},
                        {"node-selector", "example.com/gpu=h100,zone=a"},
                        {"queue", "research"},
                        {"pull-secret", "registry-key"}};
  return submission;
}

/// Arguments that mean something to YAML, to a shell or to Kubernetes.
inline Submission hostile_submission() {
  Submission submission = plain_submission();
  submission.sweep = {"--workload",
                      "x\", \"--yes",
                      "a: b # c",
                      "\\\" - evil: true",
                      "$(HOME) $$ ${PATH}",
                      "{image: other}",
                      "- *anchor",
                      "yes",
                      "0x10",
                      "",
                      "'; rm -rf /; '",
                      "!!python/none",
                      "\xc3\xa9 \xf0\x9f\x98\x80"};
  return submission;
}

/// Some seconds of a sweep, for the test of the image.
inline Submission short_submission() {
  Submission submission = plain_submission();
  submission.sweep = {"--gpus",     "1,4", "--workload", "lenet5", "--profile", "aws-p3-25gbe",
                      "--launches", "1",   "--steps",    "3",      "--trace",   "0"};
  return submission;
}

}  // namespace hbench
