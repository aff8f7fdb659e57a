#pragma once

/// What both gathered exchanges do apart from messages. Internal to `exchange/`.

#include <vector>

#include "collectives/exchange/exchange.hpp"

namespace hbench {

/// One rank's gradient: encodes what it sends, and adds up what it receives.
class GatheredGradient {
 public:
  GatheredGradient(Endpoint& endpoint, const ExchangeRequest& request);

  int workers() const { return workers_; }
  /// The largest size of one encoding, in bytes.
  std::int64_t most() const { return codec_->max_wire_bytes(operand_.elements()); }
  /// Encodes the gradient of the next step, with what was carried over, to the beginning of `room`, which has `most`
  /// bytes. Returns the size of the encoding.
  std::int64_t encode(std::span<std::byte> room);
  /// Adds the encoding of `peer`; the sum is complete after the last. \pre called for all ranks in their order, so that
  /// all end with the same bits
  void decode(Rank peer, std::span<const std::byte> payload);

 private:
  Device& device_;
  Rank rank_;
  int workers_;
  Operand operand_;
  std::span<float> gradient_;
  std::shared_ptr<const Codec> codec_;
  std::shared_ptr<const Codec> timed_;
  std::shared_ptr<ExchangeMemory> memory_;
};

/// The all-gather of an exchange, whose parts have `most` bytes at most.
const Schedule& all_gather_for(Endpoint& endpoint, const ExchangeRequest& request, std::int64_t most);

/// Offsets of its chunks where part r has `sizes[r]` bytes, cut evenly into as many chunks as a part has.
std::vector<std::int64_t> offsets_of(const Schedule& schedule, std::span<const std::int64_t> sizes);

}  // namespace hbench
