#include "tests/emulated_gpu/checker.hpp"

#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <span>
#include <vector>

#include "tests/emulated_gpu/machine.hpp"
#include "tests/emulated_gpu/reports.hpp"

namespace hbench::emulated_gpu {
namespace {

struct Range {
  std::uintptr_t begin, end;
  bool contains(const Access& access) const { return access.address >= begin && access.address + access.size <= end; }
};

/// The parts of the program that kernels may touch: what nobody can write, in which constants lie, and variables of the
/// worker's thread, in which those that are `__shared__` lie.
struct ProgramRanges {
  std::vector<Range> constants;
  Range shared{};
};

int add_ranges(dl_phdr_info* program, std::size_t, void* found) {
  auto& ranges = *static_cast<ProgramRanges*>(found);
  for (const auto& part : std::span(program->dlpi_phdr, program->dlpi_phnum)) {
    const std::uintptr_t begin = program->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && (part.p_flags & PF_W) == 0) ranges.constants.push_back({begin, begin + part.p_memsz});
    const auto variables = reinterpret_cast<std::uintptr_t>(program->dlpi_tls_data);
    if (part.p_type == PT_TLS) ranges.shared = {variables & ~std::uintptr_t{3}, variables + part.p_memsz};
  }
  return 1;  // the program alone, without its shared libraries
}

/// \pre the worker calls it
const ProgramRanges& ranges_of_worker() {
  static const auto* const kRanges = [] {
    auto* const ranges = new ProgramRanges;
    dl_iterate_phdr(add_ranges, ranges);
    return ranges;
  }();
  return *kRanges;
}

Shadow& shared_shadow() {
  const Range& range = ranges_of_worker().shared;
  static auto* const shadow = new Shadow(MemoryKind::shared, range.begin, range.end - range.begin);
  return *shadow;
}

bool is_constant(const Access& access) {
  return access.kind == AccessKind::read &&
         std::ranges::any_of(ranges_of_worker().constants, [&](const Range& range) { return range.contains(access); });
}

void file(Mistake mistake, const Access& access, std::string_view what = "") {
  if (is_filed(mistake, access.place)) return;
  report(mistake, fmt::format("{} of {} bytes at {:#x}{}", name_of(access.kind), access.size, access.address, what),
         access.place);
}

bool may_use(const Allocation& memory, int device) {
  if (memory.device == device || memory.origin == Origin::other_process) return true;
  const Peers& peers = machine().peers;
  return memory.origin == Origin::pool ? peers.pool_is_open[memory.device][device]
                                       : peers.enabled[device][memory.device];
}

/// The live allocation in which an access lies; null, after a report, where it lies in none.
Allocation* checked_allocation(const Access& access) {
  Allocation* const found = machine().arena.find(access.address);
  if (found == nullptr || access.address < found->begin || access.address + access.size > found->begin + found->size) {
    file(Mistake::out_of_bounds, access,
         found == nullptr ? " of device memory that was never allocated"
                          : fmt::format(" of an allocation of {} bytes at {:#x}", found->size, found->begin));
    return nullptr;
  }
  if (found->is_freed) {
    file(Mistake::use_after_free, access);
    return nullptr;
  }
  return found;
}

/// Asks what need be asked of an operation once for each allocation that it uses.
void check_right_to_use(Allocation& memory, const Access& access) {
  if (memory.checked_by == running.operation) return;
  memory.checked_by = running.operation;
  if (!may_use(memory, running.device))
    file(Mistake::no_peer_access, access,
         fmt::format(": GPU {} was not given the memory of GPU {}", running.device, memory.device));
  if (!is_before_now(memory.made_by))
    file(Mistake::not_yet_allocated, access, " before its allocation on another stream");
}

bool check_device_access(const Access& access) {
  Allocation* const memory = checked_allocation(access);
  if (memory == nullptr) {
    machine().arena.let_touch(access.address, access.size);
    return false;
  }
  check_right_to_use(*memory, access);
  if (memory->shadow != nullptr) memory->shadow->add(access);
  return true;
}

}  // namespace

void check_kernel_access(const Access& access, bool aligned) {
  if (!is_worker || !running.in_kernel) return;
  if (access.address >= running.stack_begin && access.address + access.size <= running.stack_end) return;
  ++counts.accesses;
  if (aligned && access.address % access.size != 0) file(Mistake::misaligned, access);
  if (machine().arena.contains(access.address)) {
    check_device_access(access);
  } else if (ranges_of_worker().shared.contains(access)) {
    shared_shadow().add(access);
  } else if (!is_constant(access)) {
    file(Mistake::host_memory, access, " by a kernel");
  }
}

bool check_copy(const Access& access) { return access.size == 0 || check_device_access(access); }

void forget_shared_memory() { shared_shadow().clear(); }

}  // namespace hbench::emulated_gpu
