#include "tests/emulated_gpu/machine.hpp"

#include <unistd.h>

#include <cstdlib>

namespace hbench::emulated_gpu {
namespace {

std::mutex making;

/// HBENCH_EMULATED_GPU_SEED: 0, the default, keeps the order of streams, blocks and threads.
std::uint64_t seed() {
  const char* const text = std::getenv("HBENCH_EMULATED_GPU_SEED");
  return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
}

}  // namespace

Machine::Machine() : scheduler(operations, seed()), process(getpid()) {
  for (int device = 0; device < kDevices; ++device)
    default_streams[static_cast<std::size_t>(device)] = &scheduler.make_stream(device);
}

std::atomic<Machine*> made_machine = nullptr;

Machine& make_machine() {
  const std::lock_guard lock(making);
  if (made_machine == nullptr) made_machine = new Machine;  // for ever: its worker runs until the process ends
  return *made_machine;
}

bool was_forked() {
  const Machine* const made = made_machine;
  return made != nullptr && made->process != getpid();
}

void start_anew_after_fork() { made_machine = nullptr; }

void show_devices(int count) { machine().visible_devices = count; }

void drain() { machine().scheduler.synchronize_device(std::nullopt); }

}  // namespace hbench::emulated_gpu
