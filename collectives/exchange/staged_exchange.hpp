#pragma once

/// Exchanges whose device works before, between and after programs that run one after the other: gathered ones, and
/// those of low rank. Internal to `exchange/`.

#include <memory>
#include <vector>

#include "collectives/exchange/exchange.hpp"

namespace hbench {

/// One rank's side of such an exchange. Its work is enqueued on the rank's device, and outlives the programs.
class ExchangeStages {
 public:
  virtual ~ExchangeStages() = default;
  /// Enqueues what comes before the first program.
  virtual void begin() = 0;
  /// Enqueues what follows the program of this number.
  virtual void after(std::size_t program) = 0;
  /// Returns what to add where a rank is waited for in that program: ` of the left factor`.
  virtual std::string_view part(std::size_t) const { return {}; }

  std::vector<std::unique_ptr<Operation>> programs;
};

std::unique_ptr<Operation> make_staged_exchange(Device& device, std::unique_ptr<ExchangeStages> stages);

/// One rank's gradient in a gathered exchange: encodes what it sends, and adds up what it receives.
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
