#pragma once

/// Where ranks that are threads of one process leave messages for each other. Internal to `thread_transport.cpp`.

#include <algorithm>
#include <atomic>
#include <mutex>
#include <span>
#include <vector>

#include "collectives/base/units.hpp"
#include "collectives/device/device.hpp"

namespace hbench {

/// A send that its receiver has yet to take. Owned by the sender, which keeps it at one address until `taken`.
struct Parcel {
  std::span<const std::byte> payload;
  int tag = 0;
  Event written;  ///< after the work that writes the payload
  Event read;     ///< after the receiver's device has read it
  /// Set by the receiver, last of all: the sender may then reuse payload and parcel.
  std::atomic<bool> taken{false};
};

/// Parcels from one rank to another, in the order posted. Called by these two threads.
class Mailbox {
 public:
  void post(Parcel* parcel) {
    const std::lock_guard lock(mutex_);
    parcels_.push_back(parcel);
    count_.store(parcels_.size());
  }

  /// The next parcel with `tag`, whose `taken` the caller must set; null when there is none.
  Parcel* take(int tag) {
    if (count_.load() == 0) return nullptr;
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(parcels_, tag, &Parcel::tag);
    if (found == parcels_.end()) return nullptr;
    Parcel* parcel = *found;
    remove(found);
    return parcel;
  }

  /// Removes a parcel; false when the receiver already has it.
  bool withdraw(const Parcel* parcel) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(parcels_, parcel);
    if (found == parcels_.end()) return false;
    remove(found);
    return true;
  }

 private:
  void remove(std::vector<Parcel*>::iterator at) {
    parcels_.erase(at);
    count_.store(parcels_.size(), std::memory_order_release);
  }

  std::mutex mutex_;
  std::vector<Parcel*> parcels_;
  std::atomic<std::size_t> count_{0};  ///< lets `take` return without the lock where there is nothing
};

/// One mailbox for each ordered pair of a job's ranks.
class Mailboxes {
 public:
  explicit Mailboxes(int ranks) : ranks_(ranks), boxes_(static_cast<std::size_t>(ranks) * ranks) {}
  Mailbox& of(Rank from, Rank to) { return boxes_.at(static_cast<std::size_t>(to) * ranks_ + from); }

 private:
  int ranks_;
  std::vector<Mailbox> boxes_;
};

}  // namespace hbench
