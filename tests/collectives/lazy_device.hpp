#pragma once

/// A device that does its work later, as a GPU does: what goes wrong with one goes wrong here.

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/base/error.hpp"
#include "collectives/compressors/compressor.hpp"
#include "collectives/compressors/low_rank.hpp"
#include "collectives/device/device.hpp"

namespace hbench::support {

/// What devices of several ranks may share. Once it has failed, none of them does more, and every query of one throws:
/// a kernel faulted.
struct LazyGpu {
  std::atomic<bool> failed{false};
  std::atomic<int> busy{0};  ///< devices that are at work
};

/// In host memory; a thread does the work in order, after pauses that `seed` draws. Fresh memory is poisoned.
class LazyDevice final : public Device {
 public:
  explicit LazyDevice(unsigned seed, std::shared_ptr<LazyGpu> gpu = std::make_shared<LazyGpu>())
      : random_(seed), gpu_(std::move(gpu)), worker_([this](const std::stop_token& stop) { work(stop); }) {}
  ~LazyDevice() override {
    worker_.request_stop();
    changed_.notify_all();
  }

  DeviceMemory allocate(std::size_t bytes) override {
    DeviceMemory memory = host_device().allocate(bytes);
    std::fill_n(memory.get(), bytes, std::byte{0x5c});
    return memory;
  }
  void accumulate(DataType type, ReduceOp op, std::span<const std::byte> in, std::span<std::byte> inout) override {
    push([=] { host_device().accumulate(type, op, in, inout); });
  }
  void fill_neutral(DataType type, ReduceOp op, std::span<std::byte> buffer) override {
    push([=] { host_device().fill_neutral(type, op, buffer); });
  }
  void finish(DataType type, ReduceOp op, int workers, std::span<std::byte> buffer) override {
    push([=] { host_device().finish(type, op, workers, buffer); });
  }
  void keep_rest(std::span<const float> whole, std::span<float> part) override {
    push([=] { host_device().keep_rest(whole, part); });
  }
  void change(const NumbersChange& by, std::span<float> numbers) override {
    push([=] { host_device().change(by, numbers); });
  }
  std::shared_ptr<const Codec> codec_of(const CompressorChoice& choice) override;
  std::unique_ptr<LowRankProducts> low_rank_products() override;
  void copy(std::span<const std::byte> from, std::span<std::byte> to) override {
    push([=] { host_device().copy(from, to); });
  }
  void write(std::span<const std::byte> host, std::span<std::byte> to) override {
    copy(host, to);
    synchronize(*this);
  }
  void read(std::span<const std::byte> from, std::span<std::byte> host) override {
    copy(from, host);
    synchronize(*this);
  }

  Event record_event() override {
    throw_if_failed();
    const auto event = std::make_shared<Completion>();
    push([event] {
      event->time = std::chrono::steady_clock::now();
      event->completed.store(true, std::memory_order_release);
    });
    return event;
  }
  Event record_timed_event() override { return record_event(); }
  Seconds elapsed(const Event& begin, const Event& end) override {
    while (!query(begin) || !query(end)) std::this_thread::yield();
    return Seconds(std::chrono::duration<double>(static_cast<const Completion&>(*end).time -
                                                 static_cast<const Completion&>(*begin).time)
                       .count());
  }
  void wait(const Event& event) override {
    push([=, this] {
      while (!has_completed(event) && !gpu_->failed) std::this_thread::yield();
    });
  }
  bool query(const Event& event) override {
    throw_if_failed();
    return has_completed(event);
  }

  void push(std::function<void()> work) {
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(std::move(work));
    }
    changed_.notify_all();
  }

 private:
  struct Completion final : DeviceEvent {
    // Set by the device; read by the owners of the event.
    std::chrono::steady_clock::time_point time;
    std::atomic<bool> completed{false};
  };

  static bool has_completed(const Event& event) {
    return event == nullptr || static_cast<const Completion&>(*event).completed.load(std::memory_order_acquire);
  }
  /// Once what the GPU was doing when it failed has ended: a peer may have been reading memory of ours.
  void throw_if_failed() const {
    if (!gpu_->failed) return;
    while (gpu_->busy > 0) std::this_thread::yield();
    throw Error(ExitCode::environment, "the lazy device has failed");
  }

  /// Until it is asked to stop and has nothing left to do.
  void work(const std::stop_token& stop) {
    while (true) {
      std::function<void()> next;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, stop, [this] { return !queue_.empty(); });
        if (queue_.empty()) return;
        next = std::move(queue_.front());
        queue_.pop_front();
      }
      if (random_() % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random_() % 200));
      ++gpu_->busy;
      if (!gpu_->failed) next();
      --gpu_->busy;
    }
  }

  std::minstd_rand random_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::function<void()>> queue_;
  std::shared_ptr<LazyGpu> gpu_;
  std::jthread worker_;
};

/// A codec of the host, whose work a lazy device does. \pre it writes as much whatever it is given
class LazyCodec final : public Codec {
 public:
  LazyCodec(std::shared_ptr<const Codec> codec, LazyDevice& device) : codec_(std::move(codec)), device_(device) {}

  std::int64_t max_wire_bytes(std::int64_t elements) const override { return codec_->max_wire_bytes(elements); }
  std::int64_t encode(std::span<const float> in, const Draw& draw, std::span<std::byte> out) const override {
    const std::int64_t bytes = max_wire_bytes(std::ssize(in));
    device_.push([=, codec = codec_] { EXPECT_EQ(codec->encode(in, draw, out), bytes); });
    return bytes;
  }
  void decode(std::span<const std::byte> in, TransferKind kind, std::span<float> out) const override {
    device_.push([=, codec = codec_] { codec->decode(in, kind, out); });
  }

 private:
  std::shared_ptr<const Codec> codec_;
  LazyDevice& device_;
};

/// The host's products, which a lazy device makes.
class LazyProducts final : public LowRankProducts {
 public:
  explicit LazyProducts(LazyDevice& device) : device_(device) {}

  void renew_lost_columns(const LowRankShape& shape, const Draw& draw, std::span<float> right) override {
    device_.push([=, host = host_] { host->renew_lost_columns(shape, draw, right); });
  }
  void multiply(const LowRankShape& shape, std::span<const float> matrix, std::span<const float> right,
                std::span<float> left) override {
    device_.push([=, host = host_] { host->multiply(shape, matrix, right, left); });
  }
  void multiply_transposed(const LowRankShape& shape, std::span<const float> matrix, std::span<const float> left,
                           std::span<float> right) override {
    device_.push([=, host = host_] { host->multiply_transposed(shape, matrix, left, right); });
  }
  void expand(const LowRankShape& shape, std::span<const float> left, std::span<const float> right,
              std::span<float> matrix) override {
    device_.push([=, host = host_] { host->expand(shape, left, right, matrix); });
  }
  void orthonormalise(std::int64_t rows, std::span<float> columns) override {
    device_.push([=, host = host_] { host->orthonormalise(rows, columns); });
  }

 private:
  std::shared_ptr<LowRankProducts> host_ = host_low_rank_products();
  LazyDevice& device_;
};

inline std::shared_ptr<const Codec> LazyDevice::codec_of(const CompressorChoice& choice) {
  if (choice.compressor->bytes_vary) return nullptr;
  return std::make_shared<LazyCodec>(choice.codec, *this);
}

inline std::unique_ptr<LowRankProducts> LazyDevice::low_rank_products() {
  return std::make_unique<LazyProducts>(*this);
}

}  // namespace hbench::support
