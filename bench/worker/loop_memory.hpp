#pragma once

/// The buffers of a rank's loop: one for each executor, used by all sizes, and what is copied to and from devices.
///
/// What a rank's loop measures, and how.
///
/// One candidate of a size in a rank's loop, with what it has shown so far.
///
/// The check of lossy compressors: normally distributed data, and how near a result comes to the exact one.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/records/records.hpp"
#include "bench/worker/candidate.hpp"
#include "bench/worker/gpu_observations.hpp"
#include "bench/worker/pattern.hpp"
#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/base/test_delay.hpp"
#include "collectives/base/units.hpp"
#include "collectives/compressors/compressor.hpp"

namespace hbench {

/// How each size is measured.
struct LoopOptions {
  int warmups = 5;
  int iterations = 0;        ///< timed ones of each candidate; 0: by size and budget, agreed by rank 0
  bool check = true;         ///< before it is timed; a size that fails is not timed
  bool out_of_place = true;  ///< also time a copy of the input followed by the collective in place
  Seconds budget{0.3};       ///< of the timed iterations of one candidate, each of the two ways
  Seconds timeout{60};
  TestDelay delay;  ///< of one rank, in each iteration of a candidate
};

/// A case with the buffers that travel, in elements; several are all-reduced one after another.
struct LoopCase {
  int index = 0;  ///< the caller's number of it
  Case asked;
  std::vector<std::int64_t> tensors;
};

struct LoopEntry {
  const LoopCase* of = nullptr;
  Endpoint* endpoint = nullptr;
  std::span<std::byte> buffer{};
  std::unique_ptr<Candidate> candidate{};  ///< null where it cannot be done
  std::string refusal{};                   ///< why not
  bool void_in_place = false, void_out_of_place = false;
  int iterations = 0;
  bool slow = false;                                          ///< one iteration takes longer than the budget
  std::map<std::string_view, std::vector<double>> times{};    ///< seconds of this rank, by metric
  std::map<std::string_view, std::vector<double>> warmups{};  ///< the same, not to be counted
  std::vector<Sample> figures{};
  GpuObservations looks{};
  bool lossy = false;
  int passes = 0;  ///< over memory, for the bound

  std::size_t bytes() const { return static_cast<std::size_t>(of->asked.collective.bytes); }
  Device& device() const { return endpoint->device(); }
  bool in_host_memory() const { return &device() == &host_device(); }
  bool runs() const { return candidate != nullptr; }

  void add_time(std::string_view metric, double seconds, bool warmup) {
    (warmup ? warmups : times)[metric].push_back(seconds);
  }
  /// A figure of the job, not of one rank or iteration.
  void add_figure(std::string_view metric, double value, std::string_view unit) {
    figures.push_back({.metric = std::string(metric), .value = value, .unit = std::string(unit)});
  }
};

/// \pre aligned as floats are
inline std::span<float> as_floats(std::span<std::byte> bytes) {
  return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
}

/// Returns what ranks begin with, and what must come out. \pre the entry runs
Pattern pattern_of(const LoopEntry& entry);

/// Used by the rank's thread alone.
class LoopMemory {
 public:
  /// Sizes have at most `most_bytes`. \pre `home` outlives it
  LoopMemory(Endpoint& home, std::int64_t most_bytes) : home_(home), most_bytes_(most_bytes) {}

  /// The memory of an executor, the same for all sizes: one allocation, touched once.
  std::span<std::byte> buffer_of(std::string_view executor, Endpoint& endpoint, std::size_t bytes);
  /// What is reduced out of place, where the entry's device reads it. Host memory is shared by all who work there.
  std::span<std::byte> input(const LoopEntry& entry);
  /// `fill` writes what is to be in `buffer`, in host memory.
  void put(const LoopEntry& entry, std::span<std::byte> buffer, const std::function<void(std::span<std::byte>)>& fill);
  /// Puts this rank's input into `buffer`: of lossy candidates normally distributed values, else a pattern.
  void put_input(const LoopEntry& entry, std::span<std::byte> buffer);
  /// Puts normally distributed values of this rank into `buffer`.
  void put_normal(const LoopEntry& entry, std::span<std::byte> buffer);
  /// Returns what is in the entry's buffer, in host memory; valid until the next call of `put` or `content`.
  std::span<std::byte> content(const LoopEntry& entry);

 private:
  Endpoint& home_;
  std::int64_t most_bytes_;
  std::map<std::string, std::span<std::byte>> buffers_;
  std::map<Endpoint*, std::span<std::byte>> inputs_;
  std::vector<std::byte> host_;  ///< what goes to a device, or came from one
};

/// Standard normal values, others for every rank; the same in every run.
void fill_normal(Rank rank, std::span<float> buffer);

/// A result against the exact one, in the Euclidean norm.
struct Closeness {
  double relative_error = 0;  ///< |result - exact| / |exact|; NaN when the result holds one
  double cosine = 1;
};

/// Of `result` to the sum (or average) of all `workers`' `fill_normal`.
Closeness closeness(ReduceOp op, int workers, std::span<const float> result);

/// The largest relative error that an all-reduce of `workers` may have by what the compressor declares: every encoding
/// of a partial sum adds one declared error at most, and there are as many as workers. None where nothing is declared
/// for these parameters.
std::optional<double> allowed_error(const CompressorChoice& compressor, int workers);

}  // namespace hbench
