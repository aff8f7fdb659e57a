#pragma once

/// The words of recorders for exchanges and element types, in hbench's words.

#include <string>
#include <string_view>

namespace hbench {

/// Returns `all-reduce` for `c10d::allreduce_`, `nccl:all_reduce`, `ncclDevKernel_AllReduce_Sum_f32_RING_LL`,
/// `allreduce_coalesced` and the like; likewise `reduce-scatter`, `all-gather`, `all-to-all`, `broadcast`, `reduce`,
/// `gather`, `scatter`, `barrier`, `send-receive`. Empty for what is none of these.
std::string operation_word(std::string_view recorded);

/// Returns `float32` for `Float`, `float`, `c10::Float` or `torch.float32`; likewise `bfloat16`, `float16`, `float64`,
/// `float8`, `int8`, `uint8`, `int32`, `int64`. Empty for what is none of these.
std::string type_word(std::string_view recorded);

/// Whether an exchange in hbench's words adds up what ranks put in: in a backward pass these are gradients.
bool is_reduction(std::string_view operation);

/// PyTorch's operators of a backward pass: what runs one of its functions, and what takes a gradient.
inline constexpr std::string_view kBackwardTask = "autograd::engine::evaluate_function: ";
inline constexpr std::string_view kAccumulateGrad = "torch::autograd::AccumulateGrad";

/// Bytes of an element of one of these types; 0 for others.
int type_bytes(std::string_view word);

}  // namespace hbench
