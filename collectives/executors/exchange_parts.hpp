#pragma once

/// The kinds of exchange, one file each. Internal to the executors.

#include <chrono>
#include <memory>
#include <string_view>

#include "collectives/executors/exchange.hpp"

namespace hbench {

/// For a buffer of `bytes`, with as many segments as asked for or as `algorithm` says. Lives until the endpoint is
/// asked for another.
inline const Schedule& schedule_of(Endpoint& endpoint, const ExchangeRequest& request, const AlgorithmChoice& algorithm,
                                   std::size_t bytes, std::span<const Shard> shards = {}) {
  const int segments =
      request.segments > 0 ? request.segments : algorithm.segments(request.world, static_cast<std::int64_t>(bytes));
  return endpoint.schedules().of(algorithm, request.world, segments, shards);
}

/// The all-gather that goes with an all-reduce, by its name; none where there is none.
std::optional<AlgorithmChoice> all_gather_of(const AlgorithmChoice& algorithm);

/// Every rank encodes its gradient once; the encodings are all-gathered, decoded and added in rank order. The first is
/// for host memory, where lengths may vary; the second for devices, where they do not.
/// \pre `all_gather_of` the algorithm; `request.memory` is there.
std::unique_ptr<Operation> prepare_gather(Endpoint& endpoint, const ExchangeRequest& request);
std::unique_ptr<Operation> prepare_fixed_gather(Endpoint& endpoint, const ExchangeRequest& request);
/// Two all-reduces of small factors. \pre `request.memory` has factors.
std::unique_ptr<Operation> prepare_low_rank(Endpoint& endpoint, const ExchangeRequest& request);
/// Every transfer is encoded and decoded.
std::unique_ptr<Operation> prepare_per_hop(Endpoint& endpoint, const ExchangeRequest& request);

/// `codec`, with its times added to `times`; `codec` itself where `times` is null. `times` outlives it.
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
