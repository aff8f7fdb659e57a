#include "bench/worker/loop_memory.hpp"

#include "bench/worker/lossy.hpp"

namespace hbench {

Pattern pattern_of(const LoopEntry& entry) {
  const Case& asked = entry.of->asked;
  return {.collective = parse_collective_kind(asked.collective.name),
          .type = parse_data_type(asked.collective.data_type),
          .op = parse_reduce_op(asked.collective.operation),
          .workers = asked.gpus,
          .parts = entry.candidate->parts()};
}

std::span<std::byte> LoopMemory::buffer_of(std::string_view executor, Endpoint& endpoint, std::size_t bytes) {
  auto [found, added] = buffers_.try_emplace(std::string(executor));
  if (added) found->second = endpoint.allocate(static_cast<std::size_t>(most_bytes_));
  return found->second.first(bytes);
}

std::span<std::byte> LoopMemory::input(const LoopEntry& entry) {
  Endpoint& owner = entry.in_host_memory() ? home_ : *entry.endpoint;
  auto [found, added] = inputs_.try_emplace(&owner);
  if (added) found->second = owner.Endpoint::allocate(static_cast<std::size_t>(most_bytes_));
  return found->second.first(entry.bytes());
}

void LoopMemory::put(const LoopEntry& entry, std::span<std::byte> buffer,
                     const std::function<void(std::span<std::byte>)>& fill) {
  if (entry.in_host_memory()) return fill(buffer);
  host_.resize(buffer.size());
  fill(host_);
  entry.device().write(host_, buffer);
}

void LoopMemory::put_input(const LoopEntry& entry, std::span<std::byte> buffer) {
  if (entry.lossy) return put_normal(entry, buffer);
  put(entry, buffer,
      [&](std::span<std::byte> where) { fill_input(pattern_of(entry), home_.transport().rank(), where); });
}

void LoopMemory::put_normal(const LoopEntry& entry, std::span<std::byte> buffer) {
  put(entry, buffer, [this](std::span<std::byte> where) { fill_normal(home_.transport().rank(), as_floats(where)); });
}

std::span<std::byte> LoopMemory::content(const LoopEntry& entry) {
  if (entry.in_host_memory()) return entry.buffer;
  host_.resize(entry.bytes());
  entry.device().read(entry.buffer, host_);
  return host_;
}

}  // namespace hbench
