// Where ranks that are threads of one process leave messages for each other. Internal to `thread_transport.cpp`.

#include "collectives/transport/thread_transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

#include "collectives/base/error.hpp"
#include "collectives/base/units.hpp"
#include "collectives/device/device.hpp"
#include "collectives/transport/slot_pool.hpp"

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

struct ThreadJob::State {
  explicit State(int number)
      : ranks(number), data(number), control(number), doorbells(static_cast<std::size_t>(number)) {}
  DoorbellState& doorbell(Rank rank) { return doorbells[static_cast<std::size_t>(rank)]; }

  int ranks;
  Mailboxes data, control;
  std::vector<DoorbellState> doorbells;  ///< by rank
  /// The rank that stopped the job; -1 while it runs.
  std::atomic<Rank> stopped_by{-1};
  std::atomic<int> exit_code{0};
};

class ThreadTransport final : public Transport {
 public:
  ThreadTransport(ThreadJob::State& job, Mailboxes& mailboxes, Rank rank, Device& device)
      : job_(job),
        mailboxes_(mailboxes),
        rank_(rank),
        device_(device),
        expected_(static_cast<std::size_t>(job.ranks)) {}

  ~ThreadTransport() override {
    for (const Request request : slots_.taken()) cancel(request);
  }

  Rank rank() const override { return rank_; }
  int size() const override { return job_.ranks; }
  Device& device() override { return device_; }

  Request send(Rank to, int tag, std::span<const std::byte> payload) override {
    Event written = device_.record_event();  // first: when the device fails, nothing is posted
    const Request request = slots_.take();
    Slot& slot = slots_[request];
    slot.is_send = true;
    slot.peer = to;
    slot.parcel.payload = payload;
    slot.parcel.tag = tag;
    slot.parcel.written = std::move(written);
    slot.parcel.taken.store(false, std::memory_order_relaxed);
    mailboxes_.of(rank_, to).post(&slot.parcel);
    ring(job_.doorbell(to));
    return request;
  }

  Request receive(Rank from, int tag, std::span<std::byte> landing, Sink* sink, std::size_t message) override {
    const Request request = slots_.take();
    Slot& slot = slots_[request];
    slot.is_send = false;
    slot.peer = from;
    slot.tag = tag;
    slot.landing = landing;
    slot.sink = sink;
    slot.message = message;
    slot.arrived = false;
    expected_from(from).push_back(request);
    return request;
  }

  bool test(Request request) override {
    throw_if_stopped();
    Slot& slot = slots_[request];
    if (!slot.is_send && !slot.arrived) collect(request);
    const bool done = slot.is_send ? slot.parcel.taken.load() : slot.arrived;
    if (!done) return false;
    if (slot.is_send) {
      device_.wait(slot.parcel.read);
      slot.parcel.written = slot.parcel.read = nullptr;
    }
    slots_.give_back(request);
    return true;
  }

  void cancel(Request request) override {
    const Slot& slot = slots_[request];
    if (!slot.is_send) {
      std::erase(expected_from(slot.peer), request);
    } else if (!mailboxes_.of(rank_, slot.peer).withdraw(&slot.parcel)) {
      while (!slot.parcel.taken.load(std::memory_order_acquire)) std::this_thread::yield();
      synchronize_noexcept(device_, slot.parcel.read);
    }
    slots_.give_back(request);
  }

 private:
  struct Slot {
    bool is_send = false;
    Rank peer = 0;
    Parcel parcel;  ///< of a send
    int tag = 0;    ///< this and what follows: of a receive
    std::span<std::byte> landing;
    Sink* sink = nullptr;
    std::size_t message = 0;
    bool arrived = false;
  };

  void throw_if_stopped() const {
    const Rank rank = job_.stopped_by.load(std::memory_order_acquire);
    if (rank >= 0) throw_stopped(rank, job_.exit_code.load());
  }

  /// The receives posted for one sender that have nothing yet, in order.
  std::vector<Request>& expected_from(Rank from) { return expected_[static_cast<std::size_t>(from)]; }

  /// Matches what has been sent with the receives of one sender and tag in order, up to `last`. A receive with a sink
  /// waits for its own test, and the ones after it wait for it.
  void collect(Request last) {
    const Slot& wanted = slots_[last];
    std::vector<Request>& waiting = expected_from(wanted.peer);
    for (auto it = waiting.begin(); it != waiting.end();) {
      const Request request = *it;
      Slot& slot = slots_[request];
      if (slot.tag != wanted.tag) {
        ++it;
        continue;
      }
      if (slot.sink != nullptr && request != last) return;
      Parcel* parcel = mailboxes_.of(slot.peer, rank_).take(slot.tag);
      if (parcel == nullptr) return;
      it = waiting.erase(it);
      deliver(*parcel, slot);
      if (request == last) return;
    }
  }

  /// Reads the payload in the sender's memory. Sets `taken` in any case, so that the sender does not wait for a
  /// receiver that throws.
  void deliver(Parcel& parcel, Slot& slot) const {
    struct Release {
      ~Release() {
        parcel.taken.store(true);  // from here on the parcel may be gone
        ring(sender);
      }
      Parcel& parcel;
      DoorbellState& sender;
    } const release{parcel, job_.doorbell(slot.peer)};
    if (parcel.payload.size() != slot.landing.size())
      refuse_length(slot.peer, rank_, parcel.payload.size(), slot.landing.size());
    device_.wait(parcel.written);
    if (slot.sink != nullptr) {
      slot.sink->take(parcel.payload, slot.message);
    } else {
      device_.copy(parcel.payload, slot.landing);
    }
    parcel.read = device_.record_event();
    slot.arrived = true;
  }

  ThreadJob::State& job_;
  Mailboxes& mailboxes_;
  Rank rank_;
  Device& device_;
  SlotPool<Slot> slots_;
  std::vector<std::vector<Request>> expected_;  ///< by sender
};

ThreadJob::ThreadJob(int ranks) : state_(std::make_unique<State>(ranks)) {}

ThreadJob::~ThreadJob() = default;

std::unique_ptr<Transport> ThreadJob::make_transport(Channel channel, Rank rank, Device& device) {
  Mailboxes& mailboxes = channel == Channel::data ? state_->data : state_->control;
  return std::make_unique<ThreadTransport>(*state_, mailboxes, rank, device);
}

DoorbellState& ThreadJob::doorbell(Rank rank) { return state_->doorbell(rank); }

void ThreadJob::stop(Rank rank, int exit_code) {
  Rank none = -1;
  state_->exit_code.store(exit_code);
  state_->stopped_by.compare_exchange_strong(none, rank);
  for (DoorbellState& doorbell : state_->doorbells) ring(doorbell);
}

void throw_stopped(Rank rank, int exit_code) {
  throw Error(static_cast<ExitCode>(exit_code), fmt::format("rank {} stopped the job", rank));
}

}  // namespace hbench
