#pragma once

/// What one timed collective says: figures from a result whose case has a `CollectiveTask`. Pure.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/records/machine_facts.hpp"
#include "analysis/records/metrics.hpp"
#include "analysis/records/records.hpp"
#include "analysis/statistics/statistics.hpp"

namespace hbench {

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
