#pragma once

/// What a submission to Kubernetes says, with what stands for options that nobody gives. Pure functions.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/submit/engine.hpp"

namespace hbench {

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
