#pragma once

/// The kinds of exchange, one file each. Internal to `exchange/`.

#include <chrono>
#include <memory>
#include <optional>
#include <span>

#include "collectives/endpoints/endpoint.hpp"
#include "collectives/exchange/exchange_request.hpp"

namespace hbench {

/// The schedule for a buffer of `bytes`, with as many segments as requested or, where none are, as `algorithm` says.
/// Valid until the endpoint's cache is asked for another.
inline const Schedule& schedule_of(Endpoint& endpoint, const ExchangeRequest& request, const AlgorithmChoice& algorithm,
                                   std::size_t bytes, std::span<const Shard> shards = {}) {
  const int segments =
      request.segments > 0 ? request.segments : algorithm.segments(request.among(), static_cast<std::int64_t>(bytes));
  return endpoint.schedules().of(algorithm, request.world, segments, shards, request.groups);
}

/// The all-gather of the same name as an all-reduce; none where there is none.
std::optional<AlgorithmChoice> all_gather_of(const AlgorithmChoice& algorithm);

/// Every rank encodes its gradient once; the encodings are all-gathered, decoded and added in rank order. The first is
/// for host memory, where lengths may vary; the second for devices, where they do not.
/// \pre the algorithm has an `all_gather_of`; `request.memory` is not null.
std::unique_ptr<Operation> prepare_gather(Endpoint& endpoint, const ExchangeRequest& request);
std::unique_ptr<Operation> prepare_fixed_gather(Endpoint& endpoint, const ExchangeRequest& request);
/// Every rank adds up one part of the buffer, to which all others send it encoded; the encoded sums are all-gathered.
/// Both sides have error feedback. \pre as above
std::unique_ptr<Operation> prepare_both_sides(Endpoint& endpoint, const ExchangeRequest& request);
/// Two all-reduces of small factors. \pre `request.memory` has factors.
std::unique_ptr<Operation> prepare_low_rank(Endpoint& endpoint, const ExchangeRequest& request);
/// Every transfer is encoded by its sender and decoded by its receiver.
std::unique_ptr<Operation> prepare_per_hop(Endpoint& endpoint, const ExchangeRequest& request);

/// A codec that adds the times of `codec` to `times`, which outlives it; `codec` itself where `times` is null.
std::shared_ptr<const Codec> timed(std::shared_ptr<const Codec> codec, CodecTimes* times);

/// Adds its own lifetime to `sum`, unless that is null.
class Stopwatch {
 public:
  explicit Stopwatch(Seconds* sum) : sum_(sum) {
    if (sum_ != nullptr) begin_ = std::chrono::steady_clock::now();
  }
  ~Stopwatch() {
    if (sum_ == nullptr) return;
    *sum_ += Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count());
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  Seconds* sum_;
  std::chrono::steady_clock::time_point begin_;
};

}  // namespace hbench
