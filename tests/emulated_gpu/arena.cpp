#include "tests/emulated_gpu/arena.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace hbench::emulated_gpu {
namespace {

/// As much as CUDA promises: memory that the host's allocator happened to align better would hide mistakes.
constexpr std::size_t kAlignment = 256;
/// A float that stands out, and a pointer to nowhere.
constexpr int kPoison = 0xdb;

void* map(void* at, std::size_t bytes, int protection, int flags, int file) {
  void* const mapped = mmap(at, bytes, protection, flags, file, 0);
  if (mapped == MAP_FAILED) {
    std::perror("emulated GPU: mmap");
    std::abort();
  }
  return mapped;
}

constexpr int kNothing = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

}  // namespace

void* reserve(std::size_t bytes) { return map(nullptr, bytes, PROT_READ | PROT_WRITE, kNothing, -1); }

Arena::Arena()
    : begin_(reinterpret_cast<std::uintptr_t>(map(nullptr, kBytes, PROT_NONE, kNothing, -1))),
      owners_(static_cast<Allocation**>(reserve(kBytes / kPage * sizeof(Allocation*)))) {}

Allocation* Arena::allocate(std::size_t size, int device, Origin origin, OperationId made_by, int file) {
  if (size > kDeviceBytes || used_[device] + size > kDeviceBytes) return nullptr;
  // A file's memory begins where its page does; other memory some bytes behind, so that what lies before is its own
  // page.
  const std::size_t offset = file >= 0 ? 0 : kAlignment;
  const std::size_t pages = (offset + size + kPage - 1) / kPage;
  const std::lock_guard lock(mutex_);
  if (next_ + (pages + 2) * kPage > kBytes) {
    std::fputs("emulated GPU: all addresses have been used: make Arena::kBytes larger\n", stderr);
    std::abort();
  }
  auto* const page = reinterpret_cast<char*>(begin_) + next_;
  map(page, pages * kPage, PROT_READ | PROT_WRITE, MAP_FIXED | (file >= 0 ? MAP_SHARED : kNothing), file);
  auto* const made = new Allocation;  // for ever, as its addresses
  made->begin = begin_ + next_ + offset;
  made->size = size;
  made->device = device;
  made->origin = origin;
  made->made_by = made_by;
  made->file = file;
  if (origin != Origin::other_process) {
    made->shadow = std::make_unique<Shadow>(MemoryKind::device, made->begin, size);
    std::memset(reinterpret_cast<void*>(made->begin), kPoison, size);
  }
  for (std::size_t i = 0; i <= pages; ++i) owners_[next_ / kPage + i] = made;  // and of the page behind
  next_ += (pages + 1) * kPage;
  used_[device] += size;
  return made;
}

void Arena::release(Allocation& allocation) {
  const std::uintptr_t page = allocation.begin / kPage * kPage;
  const std::size_t pages = (allocation.begin + allocation.size - page + kPage - 1) / kPage;
  map(reinterpret_cast<void*>(page), pages * kPage, PROT_NONE, MAP_FIXED | kNothing, -1);
  if (allocation.file >= 0) close(allocation.file);
  allocation.is_freed = true;
  allocation.shadow = nullptr;
  used_[allocation.device] -= allocation.size;
}

void Arena::let_touch(std::uintptr_t address, std::size_t bytes) {
  for (std::uintptr_t page = address / kPage * kPage; page < address + bytes; page += kPage) {
    const Allocation* const owner = find(page);
    const bool is_live = owner != nullptr && !owner->is_freed && page < owner->begin + owner->size;
    if (!is_live) map(reinterpret_cast<void*>(page), kPage, PROT_READ | PROT_WRITE, MAP_FIXED | kNothing, -1);
  }
}

Allocation* Arena::beginning_at(const void* address) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  Allocation* const found = contains(at) ? find(at) : nullptr;
  return found != nullptr && found->begin == at ? found : nullptr;
}

}  // namespace hbench::emulated_gpu
