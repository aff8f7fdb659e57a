#include "tests/emulated_gpu/scheduler.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "tests/emulated_gpu/reports.hpp"

namespace hbench::emulated_gpu {

void join(Clock& into, const Clock& other) {
  if (into.size() < other.size()) into.resize(other.size());
  for (std::size_t i = 0; i < other.size(); ++i) into[i] = std::max(into[i], other[i]);
}

Operations::Operations() : all_(static_cast<Operation*>(reserve(sizeof(Operation) << 24))) {}

OperationId Operations::add(const Operation& operation) {
  all_[++last_] = operation;
  return last_;
}

Scheduler::Scheduler(Operations& operations, std::uint64_t seed) : operations_(operations), seed_(seed), random_(seed) {
  std::thread([this] { work(); }).detach();  // it ends with the process
}

Stream& Scheduler::make_stream(int device) {
  const std::lock_guard lock(mutex_);
  Stream& stream = *streams_.emplace_back(std::make_unique<Stream>());
  stream.index = static_cast<std::uint32_t>(streams_.size() - 1);
  stream.device = device;
  stream.clock.resize(streams_.size());
  return stream;
}

OperationId Scheduler::add(Stream& stream, const Asked& asked, std::function<void()> run) {
  if (stream.is_destroyed) report(Mistake::stream, "work is enqueued on a stream that was destroyed");
  join(stream.clock, host_);
  stream.clock[stream.index] = ++stream.tick;
  const OperationId id = operations_.add({stream.index, stream.tick, asked.name, asked.kernel});
  stream.queue.push_back({id, std::make_shared<const Clock>(stream.clock), asked.is_ready, std::move(run)});
  changed_.notify_all();
  return id;
}

OperationId Scheduler::enqueue(Stream& stream, const Asked& asked, std::function<void()> run) {
  const std::lock_guard lock(mutex_);
  return add(stream, asked, std::move(run));
}

std::shared_ptr<Recorded> Scheduler::record(Stream& stream) {
  const auto event = std::make_shared<Recorded>();
  const std::lock_guard lock(mutex_);
  add(stream, {.name = "recording of an event"}, [event] {
    event->time = std::chrono::steady_clock::now();
    event->is_done = true;
  });
  event->clock = stream.clock;
  return event;
}

void Scheduler::wait(Stream& stream, const std::shared_ptr<Recorded>& event) {
  const std::lock_guard lock(mutex_);
  join(stream.clock, event->clock);
  add(stream, {.name = "waiting for an event", .is_ready = [event] { return event->is_done.load(); }}, [] {});
}

void Scheduler::synchronize(Stream& stream) {
  std::unique_lock lock(mutex_);
  const Clock before = stream.clock;
  changed_.wait(lock, [&] { return stream.is_idle(); });
  join(host_, before);
}

void Scheduler::synchronize(const std::shared_ptr<Recorded>& event) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return event->is_done.load(); });
  join(host_, event->clock);
}

bool Scheduler::query(const std::shared_ptr<Recorded>& event) {
  const std::lock_guard lock(mutex_);
  if (!event->is_done) return false;
  join(host_, event->clock);
  return true;
}

void Scheduler::synchronize_device(std::optional<int> device) {
  std::unique_lock lock(mutex_);
  const auto is_done = [&](const auto& stream) { return (device && stream->device != *device) || stream->is_idle(); };
  changed_.wait(lock, [&] { return std::ranges::all_of(streams_, is_done); });
  for (const auto& stream : streams_)
    if (!device || stream->device == *device) join(host_, stream->clock);
}

void Scheduler::destroy(Stream& stream) {
  const std::lock_guard lock(mutex_);
  stream.is_destroyed = true;
}

Stream* Scheduler::next_stream() {
  std::vector<Stream*> able;
  for (const auto& stream : streams_)
    if (!stream->queue.empty() && (!stream->queue.front().is_ready || stream->queue.front().is_ready()))
      able.push_back(stream.get());
  if (able.empty()) return nullptr;
  return able[seed_ == 0 ? 0 : random_() % able.size()];
}

void Scheduler::work() {
  is_worker = true;
  std::unique_lock lock(mutex_);
  while (true) {
    Stream* const stream = next_stream();
    if (stream == nullptr) {
      // To ask an operation whether it is ready may make another one ready: then there is no notification.
      changed_.wait_for(lock, std::chrono::milliseconds(1));
      if (std::ranges::all_of(streams_, [](const auto& each) { return each->queue.empty(); })) changed_.wait(lock);
      continue;
    }
    Work next = std::move(stream->queue.front());
    stream->queue.pop_front();
    run(*stream, std::move(next), lock);
  }
}

void Scheduler::run(Stream& stream, Work work, std::unique_lock<std::mutex>& lock) {
  stream.is_busy = true;
  lock.unlock();
  running = {.operation = work.id, .clock = work.clock.get(), .device = stream.device};
  work.run();
  running = {};
  work.run = nullptr;
  lock.lock();
  stream.is_busy = false;
  changed_.notify_all();
}

}  // namespace hbench::emulated_gpu
