#include "tests/emulated_gpu/block.hpp"

#include <fmt/format.h>
#include <immintrin.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <numeric>

#include "tests/emulated_gpu/checker.hpp"
#include "tests/emulated_gpu/reports.hpp"

namespace hbench::emulated_gpu {

BlockExecutor& BlockExecutor::instance() {
  static auto* const executor = new BlockExecutor;  // the worker may run while the process ends
  return *executor;
}

BlockExecutor::BlockExecutor()
    : fibers_(make_fibers(kMostThreads)), states_(kMostThreads), warps_(kMostThreads / Warp::kLanes) {}

void BlockExecutor::run(const Grid& grid, std::mt19937_64* order) {
  grid_ = &grid;
  order_ = order;
  threads_ = grid.threads.x * grid.threads.y * grid.threads.z;
  std::vector<std::uint32_t> blocks(std::size_t{grid.blocks.x} * grid.blocks.y * grid.blocks.z);
  std::iota(blocks.begin(), blocks.end(), 0U);
  if (order != nullptr) std::shuffle(blocks.begin(), blocks.end(), *order);
  for (const std::uint32_t block : blocks) run_block(block);
  ++counts.launches;
  counts.threads += blocks.size() * threads_;
}

void BlockExecutor::run_block(std::uint32_t index) {
  const dim3 grid = grid_->blocks;
  block_ = {index % grid.x, index / grid.x % grid.y, index / grid.x / grid.y};
  running.block = index;
  running.interval = 0;
  forget_shared_memory();
  alive_ = threads_;
  at_barrier_ = 0;
  for (unsigned thread = 0; thread < threads_; ++thread) {
    fibers_[thread].begin([] { instance().run_thread(); });
    make_ready(thread);
  }
  for (unsigned first = 0; first < threads_; first += Warp::kLanes)
    warps_[first / Warp::kLanes].begin(threads_ - first);
  while (!ready_.empty()) resume(next_ready());
  if (alive_ > 0) report_deadlock();
}

unsigned BlockExecutor::next_ready() {
  if (order_ != nullptr) std::swap(ready_.front(), ready_[(*order_)() % ready_.size()]);
  const unsigned thread = ready_.front();
  ready_.pop_front();
  return thread;
}

void BlockExecutor::make_ready(unsigned thread) {
  states_[thread] = State::ready;
  ready_.push_back(thread);
}

void BlockExecutor::resume(unsigned thread) {
  Fiber& fiber = fibers_[thread];
  current_ = thread;
  running.thread = static_cast<std::uint16_t>(thread);
  running.stack_begin = fiber.stack_begin();
  running.stack_end = fiber.stack_end();
  running.in_kernel = true;
  fiber.resume();
  running.in_kernel = false;
}

void BlockExecutor::suspend(State state) {
  states_[current_] = state;
  fibers_[current_].suspend();
}

void BlockExecutor::run_thread() {
  {
    alignas(64) char arguments[kMostArgumentBytes];
    std::memcpy(arguments, grid_->arguments.data(), grid_->arguments.size());
    grid_->body(arguments);
  }
  end_thread();
  std::abort();  // nobody resumes a thread that has ended
}

// Those that have ended are not waited for any more.
void BlockExecutor::end_thread() {
  --alive_;
  Warp& warp = warp_of_current();
  warp.end(current_ % Warp::kLanes);
  if (warp.is_complete()) complete_exchange(warp);
  if (alive_ > 0 && at_barrier_ == alive_) open_barrier();
  suspend(State::ended);
}

void BlockExecutor::barrier(Site site) {
  if (at_barrier_ == 0) {
    barrier_ = site;
  } else if (!is_same(barrier_, site)) {
    report(Mistake::barrier, fmt::format("threads of a block wait at {}:{} and at {}:{}", barrier_.file, barrier_.line,
                                         site.file, site.line));
  }
  states_[current_] = State::at_barrier;
  if (++at_barrier_ == alive_) open_barrier();
  fibers_[current_].suspend();
}

void BlockExecutor::open_barrier() {
  at_barrier_ = 0;
  if (running.interval == std::numeric_limits<std::uint16_t>::max())
    report(Mistake::barrier, "a block has more barriers than the checker can count");
  ++running.interval;
  for (unsigned thread = 0; thread < threads_; ++thread)
    if (states_[thread] == State::at_barrier) make_ready(thread);
}

std::uint64_t BlockExecutor::exchange(WarpOperation operation, unsigned mask, const WarpArgument& argument, Site site) {
  const unsigned lane = current_ % Warp::kLanes;
  Warp& warp = warp_of_current();
  warp.arrive(lane, operation, mask, argument, site);
  states_[current_] = State::in_warp;
  if (warp.is_complete()) complete_exchange(warp);
  fibers_[current_].suspend();
  return warp.result(lane);
}

void BlockExecutor::complete_exchange(Warp& warp) {
  const std::uint32_t lanes = warp.complete();
  const auto first = static_cast<unsigned>(&warp - warps_.data()) * Warp::kLanes;
  for (unsigned lane = 0; lane < Warp::kLanes; ++lane)
    if ((lanes >> lane & 1) != 0) make_ready(first + lane);
}

void BlockExecutor::report_deadlock() const {
  const auto all = states_.begin() + threads_;
  report(Mistake::deadlock,
         fmt::format("{} threads wait at a barrier (line {}) and {} for lanes of their warp, for ever",
                     std::count(states_.begin(), all, State::at_barrier), barrier_.line,
                     std::count(states_.begin(), all, State::in_warp)));
}

uint3 BlockExecutor::thread_index() const {
  const dim3 size = grid_->threads;
  if (size.x == threads_) return {current_, 0, 0};  // for most kernels, and asked often
  return {current_ % size.x, current_ / size.x % size.y, current_ / size.x / size.y};
}

// The functions that kernels call.

uint3 thread_index() { return BlockExecutor::instance().thread_index(); }
uint3 block_index() { return BlockExecutor::instance().block_index(); }
dim3 block_size() { return BlockExecutor::instance().block_size(); }
dim3 grid_size() { return BlockExecutor::instance().grid_size(); }
void barrier(Site site) { BlockExecutor::instance().barrier(site); }
std::uint64_t exchange(WarpOperation operation, unsigned mask, const WarpArgument& argument, Site site) {
  return BlockExecutor::instance().exchange(operation, mask, argument, site);
}

void check_atomic(const std::uint32_t* at, const void* place) {
  check_kernel_access({reinterpret_cast<std::uintptr_t>(at), sizeof *at, AccessKind::atomic, place}, true);
}

__attribute__((target("f16c"))) std::uint16_t half_from_float(float value) {
  return static_cast<std::uint16_t>(_cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT));
}
__attribute__((target("f16c"))) float float_from_half(std::uint16_t half) { return _cvtsh_ss(half); }

}  // namespace hbench::emulated_gpu
