#pragma once

/// Point-to-point messages between ranks: what an executor needs from MPI, or from threads.

#include <cstddef>
#include <span>

#include "collectives/base/units.hpp"

namespace hbench {

/// One rank's end. Owned and called by one thread at a time. Messages between two ranks with one tag
/// arrive in the order sent. Nothing blocks; buffers stay valid and untouched until `test` says done.
class Transport {
 public:
  using Request = std::size_t;

  virtual ~Transport() = default;
  virtual Rank rank() const = 0;
  virtual int size() const = 0;
  virtual Request send(Rank to, int tag, std::span<const std::byte> payload) = 0;
  virtual Request receive(Rank from, int tag, std::span<std::byte> payload) = 0;
  /// Whether the request is complete; a completed request is forgotten and must not be tested again.
  virtual bool test(Request request) = 0;
  /// Forgets a request that will not be waited for; afterwards its buffer is left alone. For ends that come
  /// early: its peer is left waiting, and a library that cannot recall a send (MPI) must be aborted next.
  virtual void cancel(Request request) = 0;
};

}  // namespace hbench
