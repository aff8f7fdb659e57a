#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>

#include "collectives/base/error.hpp"
#include "collectives/executors/endpoint.hpp"

namespace hbench {
namespace {

/// Who sent it, and its tag: messages with one key arrive in the order sent.
using Key = std::pair<Rank, int>;

/// A send that its receiver has yet to copy. Lives with the sender, at one address, until `taken`.
struct Parcel {
  std::span<const std::byte> payload;
  /// Set by the receiver, last of all: the sender may then reuse payload and parcel.
  std::atomic<bool> taken{false};
};

/// Parcels posted to one rank.
class Mailbox {
 public:
  void post(Key key, Parcel* parcel) {
    const std::lock_guard lock(mutex_);
    parcels_[key].push_back(parcel);
  }

  /// The next parcel, which the caller must mark `taken`; null when there is none.
  Parcel* take(Key key) {
    const std::lock_guard lock(mutex_);
    const auto found = parcels_.find(key);
    if (found == parcels_.end()) return nullptr;
    Parcel* parcel = found->second.front();
    found->second.pop_front();
    if (found->second.empty()) parcels_.erase(found);
    return parcel;
  }

  /// False when the receiver already has it.
  bool withdraw(Key key, const Parcel* parcel) {
    const std::lock_guard lock(mutex_);
    const auto found = parcels_.find(key);
    if (found == parcels_.end() || std::erase(found->second, parcel) == 0) return false;
    if (found->second.empty()) parcels_.erase(found);
    return true;
  }

 private:
  std::mutex mutex_;
  std::map<Key, std::deque<Parcel*>> parcels_;
};

/// What the ranks of one job share.
struct Job {
  explicit Job(int ranks) : mailboxes(static_cast<std::size_t>(ranks)) {}

  Mailbox& mailbox(Rank rank) { return mailboxes.at(static_cast<std::size_t>(rank)); }

  std::vector<Mailbox> mailboxes;
  /// The rank that stopped the job; -1 while it runs.
  std::atomic<Rank> stopped_by{-1};
  std::atomic<int> exit_code{0};
};

class ThreadTransport final : public Transport {
 public:
  ThreadTransport(Job& job, Rank rank) : job_(job), rank_(rank) {}

  ~ThreadTransport() override {
    for (Request request = 0; request < slots_.size(); ++request) {
      if (slots_[request].used) cancel(request);
    }
  }
  ThreadTransport(const ThreadTransport&) = delete;
  ThreadTransport& operator=(const ThreadTransport&) = delete;

  Rank rank() const override { return rank_; }
  int size() const override { return static_cast<int>(job_.mailboxes.size()); }

  Request send(Rank to, int tag, std::span<const std::byte> payload) override {
    const Request request = free_slot();
    Slot& slot = slots_[request];
    slot.is_send = true;
    slot.peer = to;
    slot.tag = tag;
    slot.parcel.payload = payload;
    slot.parcel.taken.store(false, std::memory_order_relaxed);
    job_.mailbox(to).post({rank_, tag}, &slot.parcel);
    return request;
  }

  Request receive(Rank from, int tag, std::span<std::byte> payload) override {
    const Request request = free_slot();
    Slot& slot = slots_[request];
    slot.is_send = false;
    slot.peer = from;
    slot.tag = tag;
    slot.target = payload;
    slot.arrived = false;
    expected_[{from, tag}].push_back(request);
    return request;
  }

  bool test(Request request) override {
    leave_if_stopped();
    Slot& slot = slots_[request];
    if (!slot.is_send && !slot.arrived) collect({slot.peer, slot.tag});
    const bool done = slot.is_send ? slot.parcel.taken.load(std::memory_order_acquire) : slot.arrived;
    if (done) release(request);
    return done;
  }

  void cancel(Request request) override {
    const Slot& slot = slots_[request];
    if (!slot.is_send) {
      forget({slot.peer, slot.tag}, request);
    } else if (!job_.mailbox(slot.peer).withdraw({rank_, slot.tag}, &slot.parcel)) {
      while (!slot.parcel.taken.load(std::memory_order_acquire)) std::this_thread::yield();
    }
    release(request);
  }

  void leave_if_stopped() const {
    const Rank culprit = job_.stopped_by.load(std::memory_order_acquire);
    if (culprit < 0) return;
    throw Error(static_cast<ExitCode>(job_.exit_code.load()), fmt::format("rank {} stopped the job", culprit));
  }

 private:
  struct Slot {
    bool used = false;
    bool is_send = false;
    Rank peer = 0;
    int tag = 0;
    Parcel parcel;                ///< of a send
    std::span<std::byte> target;  ///< of a receive
    bool arrived = false;
  };

  Request free_slot() {
    if (free_.empty()) {
      slots_.emplace_back();
      free_.push_back(slots_.size() - 1);
    }
    const Request request = free_.back();
    free_.pop_back();
    slots_[request].used = true;
    return request;
  }

  void release(Request request) {
    slots_[request].used = false;
    free_.push_back(request);
  }

  /// Copies what has been sent under `key`, straight from the senders' memory, into the receives in order.
  void collect(Key key) {
    std::deque<Request>& waiting = expected_[key];
    while (!waiting.empty()) {
      Parcel* parcel = job_.mailbox(rank_).take(key);
      if (parcel == nullptr) return;
      Slot& slot = slots_[waiting.front()];
      waiting.pop_front();
      const bool fits = parcel->payload.size() == slot.target.size();
      if (fits && !slot.target.empty()) std::memcpy(slot.target.data(), parcel->payload.data(), slot.target.size());
      parcel->taken.store(true, std::memory_order_release);
      if (!fits) throw std::logic_error("a message has another length than its receiver expects");
      slot.arrived = true;
    }
    expected_.erase(key);
  }

  void forget(Key key, Request request) {
    const auto found = expected_.find(key);
    if (found == expected_.end()) return;
    std::erase(found->second, request);
    if (found->second.empty()) expected_.erase(found);
  }

  Job& job_;
  Rank rank_;
  std::deque<Slot> slots_;  ///< a deque, so that parcels stay where they are
  std::vector<Request> free_;
  std::map<Key, std::deque<Request>> expected_;
};

class ThreadEndpoint final : public Endpoint {
 public:
  ThreadEndpoint(std::shared_ptr<Job> job, Rank rank) : job_(std::move(job)), transport_(*job_, rank) {}

  Transport& transport() override { return transport_; }

  std::unique_ptr<Operation> vendor(Goal, const Operand&) override {
    throw Error(ExitCode::usage, "there is no library, and so no all-reduce of its own, between threads",
                "choose another algorithm, or the executor mpi");
  }

  /// Threads cannot be ended from outside: the others leave at their next look at a message.
  [[noreturn]] void abort(int exit_code) override {
    Rank nobody = -1;
    job_->exit_code.store(exit_code);
    job_->stopped_by.compare_exchange_strong(nobody, transport_.rank(), std::memory_order_release);
    throw Error(static_cast<ExitCode>(exit_code), fmt::format("rank {} stopped the job", transport_.rank()));
  }

 private:
  std::shared_ptr<Job> job_;
  ThreadTransport transport_;
};

}  // namespace

std::vector<std::unique_ptr<Endpoint>> make_thread_endpoints(int ranks) {
  const auto job = std::make_shared<Job>(ranks);
  std::vector<std::unique_ptr<Endpoint>> endpoints;
  for (Rank rank = 0; rank < ranks; ++rank) endpoints.push_back(std::make_unique<ThreadEndpoint>(job, rank));
  return endpoints;
}

}  // namespace hbench
