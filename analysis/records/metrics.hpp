#pragma once

/// Names of samples.
///
/// Of collectives: `in_place_seconds`, `out_of_place_seconds` (one per launch, rank and iteration, warm-up marked);
/// `in_place_wrong`, `out_of_place_wrong` (elements that failed the check, of all ranks); `wire_bytes` and
/// `plain_wire_bytes` (sent by the busiest rank, with and without the compressor); `encode_seconds`, `decode_seconds`
/// (the whole buffer once, per rank and repetition); `encoded_elements`, `decoded_elements` (by the busiest rank, in
/// one collective); `relative_l2_error`, `cosine` (of the result against the exact one); `bound_seconds` and
/// `bound_read_seconds` (all ranks read and write back a buffer of that size at once, or only read it).
/// `nccl_transport/...` (connections by the transport that NCCL says it uses, of the case's processes since their
/// start: a case has those of the cases before it). Of simulated collectives `in_place_seconds_low` and `_high` (the
/// band, which holds 9 of 10 measured times) and `time_basis/...` (1, with `TimeBasis` in the name). What GPUs say of
/// themselves meanwhile is in `analysis/records/machine_facts.hpp`.

#include <string_view>

namespace hbench::metric {

/// What a rank reports of each training step: the time from the end of the one before to its end.
inline constexpr std::string_view kStep = "step_seconds";
/// Of a benchmark of another program (`Case::benchmark`), one per launch and repetition: the time of what it repeats;
/// or what is the better the higher it is, such as a rate, in a unit of its own (`items/s`, `B/s`); or another amount
/// that is the better the lower it is (`MiB`).
inline constexpr std::string_view kBenchmarkSeconds = "seconds";
inline constexpr std::string_view kBenchmarkRate = "rate";
inline constexpr std::string_view kBenchmarkAmount = "amount";

/// Of a prediction whose batch per GPU is another than that of the GPU's rate: the batch of which the rate is known,
/// and the factor by which the speed of one GPU may be higher or lower.
inline constexpr std::string_view kRateBatch = "rate_batch";
inline constexpr std::string_view kRateFactor = "rate_factor";

/// A prefix, of predictions whose band is mostly one thing that the user knows: its name (`unknowns.hpp`) and then
/// `low`, `stated` or `high`, the seconds of a step for which it costs nothing.
inline constexpr std::string_view kNarrowed = "narrowed/";
/// A prefix, of predictions: bytes that a step keeps on one GPU as `weights`, `gradients`, `optimizer` (its state) and
/// `activations`; what is not known is left out.
inline constexpr std::string_view kMemory = "memory/";
/// `mean`, `p95` and `largest` after it.
inline constexpr std::string_view kStaleness = "staleness/";
/// Of ranks that average parameters with some others: the root mean square of the distance of a parameter from the mean
/// of all ranks' after the last step.
inline constexpr std::string_view kConsensusDistance = "consensus_distance";
/// `within` and `between` after it: bytes that all send in a step inside nodes and between them, for each GPU.
inline constexpr std::string_view kSent = "sent/";
/// A prefix, of trainings that learn from data: after each epoch, as the iteration, `accuracy` (share of the samples to
/// be judged by), `loss`, `steps` and `seconds` since the first step; the last once more as epoch + 1, of what ranks
/// have agreed on.
inline constexpr std::string_view kLearned = "learned/";
/// The seconds that a step by a flat algorithm on many GPUs would take by what their library chooses.
inline constexpr std::string_view kByLibrary = "by_library_seconds";
/// Seconds for which the busiest stage of a pipeline waits for others.
inline constexpr std::string_view kPipelineIdle = "pipeline_idle_seconds";

inline constexpr std::string_view kInPlace = "in_place_seconds";
inline constexpr std::string_view kOutOfPlace = "out_of_place_seconds";
inline constexpr std::string_view kInPlaceWrong = "in_place_wrong";
inline constexpr std::string_view kOutOfPlaceWrong = "out_of_place_wrong";
inline constexpr std::string_view kWireBytes = "wire_bytes";
inline constexpr std::string_view kPlainWireBytes = "plain_wire_bytes";
inline constexpr std::string_view kEncode = "encode_seconds";
inline constexpr std::string_view kDecode = "decode_seconds";
inline constexpr std::string_view kRelativeError = "relative_l2_error";
inline constexpr std::string_view kCosine = "cosine";
inline constexpr std::string_view kBound = "bound_seconds";
inline constexpr std::string_view kBoundRead = "bound_read_seconds";
inline constexpr std::string_view kTransport = "nccl_transport/";  ///< a prefix
inline constexpr std::string_view kInPlaceLow = "in_place_seconds_low";
inline constexpr std::string_view kInPlaceHigh = "in_place_seconds_high";
inline constexpr std::string_view kBasis = "time_basis/";  ///< a prefix

}  // namespace hbench::metric
