#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "collectives/base/error.hpp"
#include "collectives/executors/endpoint.hpp"
#include "collectives/executors/slot_pool.hpp"

namespace hbench {
namespace {

/// A send that its receiver has yet to take. Lives with the sender, at one address, until `taken`.
struct Parcel {
  std::span<const std::byte> payload;
  int tag = 0;
  Moment written;  ///< the payload is there
  Moment read;     ///< the receiver's device has read it
  /// Set by the receiver, last of all: the sender may then reuse payload and parcel.
  std::atomic<bool> taken{false};
};

/// Parcels from one rank to another, in the order posted.
class Mailbox {
 public:
  void post(Parcel* parcel) {
    const std::lock_guard lock(mutex_);
    parcels_.push_back(parcel);
    count_.store(parcels_.size(), std::memory_order_release);
  }

  /// The next parcel with `tag`, which the caller must mark `taken`; null when there is none.
  Parcel* take(int tag) {
    if (count_.load(std::memory_order_acquire) == 0) return nullptr;
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(parcels_, tag, &Parcel::tag);
    if (found == parcels_.end()) return nullptr;
    Parcel* parcel = *found;
    remove(found);
    return parcel;
  }

  /// False when the receiver already has it.
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
  std::atomic<std::size_t> count_{0};  ///< so that looking for nothing takes no lock
};

/// From each of a job's ranks to each.
class Mailboxes {
 public:
  explicit Mailboxes(int ranks) : ranks_(ranks), boxes_(static_cast<std::size_t>(ranks) * ranks) {}
  Mailbox& of(Rank from, Rank to) { return boxes_.at(static_cast<std::size_t>(to) * ranks_ + from); }

 private:
  int ranks_;
  std::vector<Mailbox> boxes_;
};

/// What the ranks of one job share.
struct Job {
  explicit Job(int number) : ranks(number), data(number), control(number) {}

  int ranks;
  Mailboxes data, control;
  /// The rank that stopped the job; -1 while it runs.
  std::atomic<Rank> stopped_by{-1};
  std::atomic<int> exit_code{0};
};

class ThreadTransport final : public Transport {
 public:
  ThreadTransport(Job& job, Mailboxes& mailboxes, Rank rank, Device& device)
      : job_(job),
        mailboxes_(mailboxes),
        rank_(rank),
        device_(device),
        expected_(static_cast<std::size_t>(job.ranks)) {}

  ~ThreadTransport() override {
    for (const Request request : slots_.taken()) cancel(request);
  }
  ThreadTransport(const ThreadTransport&) = delete;
  ThreadTransport& operator=(const ThreadTransport&) = delete;

  Rank rank() const override { return rank_; }
  int size() const override { return job_.ranks; }
  Device& device() override { return device_; }

  Request send(Rank to, int tag, std::span<const std::byte> payload) override {
    Moment written = device_.mark();  // a device that fails posts nothing
    const Request request = slots_.take();
    Slot& slot = slots_[request];
    slot.is_send = true;
    slot.peer = to;
    slot.parcel.payload = payload;
    slot.parcel.tag = tag;
    slot.parcel.written = std::move(written);
    slot.parcel.taken.store(false, std::memory_order_relaxed);
    mailboxes_.of(rank_, to).post(&slot.parcel);
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
    leave_if_stopped();
    Slot& slot = slots_[request];
    if (!slot.is_send && !slot.arrived) collect(request);
    const bool done = slot.is_send ? slot.parcel.taken.load(std::memory_order_acquire) : slot.arrived;
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
      settle(device_, slot.parcel.read);
    }
    slots_.give_back(request);
  }

  void leave_if_stopped() const {
    const Rank culprit = job_.stopped_by.load(std::memory_order_acquire);
    if (culprit < 0) return;
    throw Error(static_cast<ExitCode>(job_.exit_code.load()), fmt::format("rank {} stopped the job", culprit));
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

  /// The receives posted for one sender that have nothing yet, in order.
  std::vector<Request>& expected_from(Rank from) { return expected_[static_cast<std::size_t>(from)]; }

  /// Gives what has been sent to the receives of one sender and tag in order, up to `last`. A receive with a sink waits
  /// for its own test, and the ones after it wait for it.
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
      hand_over(*parcel, slot);
      if (request == last) return;
    }
  }

  /// Straight from the sender's memory, who is released in any case.
  void hand_over(Parcel& parcel, Slot& slot) const {
    struct Release {
      ~Release() { parcel.taken.store(true, std::memory_order_release); }
      Parcel& parcel;
    } const release{parcel};
    if (parcel.payload.size() != slot.landing.size())
      refuse_length(slot.peer, rank_, parcel.payload.size(), slot.landing.size());
    device_.wait(parcel.written);
    if (slot.sink != nullptr) {
      slot.sink->take(parcel.payload, slot.message);
    } else {
      device_.copy(parcel.payload, slot.landing);
    }
    parcel.read = device_.mark();
    slot.arrived = true;
  }

  Job& job_;
  Mailboxes& mailboxes_;
  Rank rank_;
  Device& device_;
  SlotPool<Slot> slots_;
  std::vector<std::vector<Request>> expected_;  ///< by sender
};

class ThreadEndpoint final : public Endpoint {
 public:
  ThreadEndpoint(std::shared_ptr<Job> job, Rank rank, std::shared_ptr<Device> device)
      : job_(std::move(job)),
        device_(std::move(device)),
        transport_(*job_, job_->data, rank, *device_),
        control_(*job_, job_->control, rank, host_device()) {}

  Transport& transport() override { return transport_; }
  Transport& control() override { return control_; }

  /// Threads cannot be ended from outside: the others leave at their next look at a message.
  [[noreturn]] void abort(int exit_code) override {
    Rank nobody = -1;
    job_->exit_code.store(exit_code);
    job_->stopped_by.compare_exchange_strong(nobody, transport_.rank(), std::memory_order_release);
    throw Error(static_cast<ExitCode>(exit_code), fmt::format("rank {} stopped the job", transport_.rank()));
  }

 private:
  std::shared_ptr<Job> job_;
  std::shared_ptr<Device> device_;
  ThreadTransport transport_;
  ThreadTransport control_;
};

}  // namespace

std::vector<std::unique_ptr<Endpoint>> make_thread_endpoints(int ranks, const DeviceFactory& device) {
  const auto job = std::make_shared<Job>(ranks);
  std::vector<std::unique_ptr<Endpoint>> endpoints;
  for (Rank rank = 0; rank < ranks; ++rank) {
    auto own = device ? device(rank) : shared_host_device();
    endpoints.push_back(std::make_unique<ThreadEndpoint>(job, rank, std::move(own)));
  }
  return endpoints;
}

}  // namespace hbench
