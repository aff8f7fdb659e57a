#pragma once

/// What one timed collective says: figures from a result whose case has a `CollectiveTask`. Pure.
///
/// Sample metrics: `in_place_seconds`, `out_of_place_seconds` (one per launch, rank and iteration, warm-up marked);
/// `in_place_wrong`, `out_of_place_wrong` (elements that failed the check, of all ranks); `wire_bytes` and
/// `plain_wire_bytes` (sent by the busiest rank, with and without the compressor); `encode_seconds`, `decode_seconds`
/// (the whole buffer once, per rank and repetition); `encoded_elements`, `decoded_elements` (by the busiest rank, in
/// one collective); `relative_l2_error`, `cosine` (of the result against the exact one); `bound_seconds` and
/// `bound_read_seconds` (all ranks read and write back a buffer of that size at once, or only read it).
/// `nccl_transport/...` (connections by the transport that NCCL says it uses, of the case's processes since their
/// start: a case has those of the cases before it). Of simulated collectives `in_place_seconds_low` and `_high` (the
/// band, which holds 9 of 10 measured times) and `time_basis/...` (1, with `TimeBasis` in the name). What GPUs say of
/// themselves meanwhile is in `analysis/throttling.hpp`.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/records.hpp"
#include "analysis/statistics.hpp"
#include "analysis/throttling.hpp"

namespace hbench {

namespace metric {
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
}  // namespace metric

/// One way of timing: in place, or out of place.
struct CollectiveTiming {
  /// Median over iterations of the slowest rank's time, over launches; none when the check failed or it was not timed.
  std::optional<double> seconds;
  std::optional<std::int64_t> wrong;  ///< none when it was not checked
  ThrottledShare throttled;           ///< of the timed iterations, on GPUs
};

/// Seconds, bytes, bytes per second. Absent where the case has no such samples.
struct CollectiveFigures {
  CollectiveTiming in_place, out_of_place;
  std::optional<double> wire_bytes, plain_wire_bytes;
  std::optional<double> encode_seconds, decode_seconds;  ///< in one collective: median, slowest rank
  std::optional<double> bits_per_element;                ///< on the wire, for one element sent
  std::optional<double> relative_error, cosine;
  std::optional<double> low, high;  ///< seconds: the band of a simulated one
  std::string basis;                ///< of a simulated one: a `TimeBasis` in words
  /// The speed of a rank's link below which compressing pays: bytes saved / seconds of coding.
  std::optional<double> break_even;
  /// Time in which memory serves the bytes that this collective must at least read and write in shared memory; see
  /// `memory_bound`.
  std::optional<double> bound_seconds;
  /// NCCL's connections by transport, of the launch with the most; empty where it did not say.
  std::map<std::string, int> transports;
};

CollectiveFigures collective_figures(const CaseResult& result);

/// The least time of a collective of `ranks` buffers in the memory that they share, from the fastest passes in which
/// every rank read its buffer (`read`), and read it and wrote it back (`rewritten`). An all-reduce reads and writes all
/// buffers; a reduce-scatter reads all and writes one buffer's worth; an all-gather and a broadcast read one buffer's
/// worth and write all the others. That lines are read before they are written anew is not counted: processors can
/// avoid it.
double memory_bound(std::string_view collective, int ranks, double read, double rewritten);

/// Bus bandwidth / algorithm bandwidth, as nccl-tests: 2(n-1)/n for an all-reduce, (n-1)/n for a reduce-scatter or
/// all-gather, 1 for a broadcast. What a link must carry whatever the algorithm, were none shared.
double bus_factor(std::string_view collective, int ranks);

}  // namespace hbench
