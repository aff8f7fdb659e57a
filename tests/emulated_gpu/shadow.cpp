#include "tests/emulated_gpu/shadow.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <new>

#include "tests/emulated_gpu/machine.hpp"
#include "tests/emulated_gpu/reports.hpp"

namespace hbench::emulated_gpu {
namespace {

bool is_before(const Accessor& other, const Accessor& now) {
  if (other.operation != now.operation) return is_before_now(other.operation);
  return other.block == now.block && (other.thread == now.thread || other.interval < now.interval);
}

/// The one who has the worker.
Accessor accessor_now() { return {running.operation, running.block, running.thread, running.interval}; }

bool is_same_thread(const Accessor& a, const Accessor& b) {
  return a.operation == b.operation && a.block == b.block && a.thread == b.thread;
}

bool bit(std::uint8_t mask, unsigned byte) { return (mask >> byte & 1) != 0; }

/// The bytes of the four at `word` that an access has.
std::uint8_t bytes_in_word(std::uintptr_t word, const Access& access) {
  unsigned mask = 0xf;
  const std::uintptr_t end = access.address + access.size;
  if (word < access.address) mask = mask << (access.address - word) & 0xf;
  if (word + 4 > end) mask &= 0xf >> (word + 4 - end);
  return static_cast<std::uint8_t>(mask);
}

void note_reader(Cell& cell, const Accessor& now, std::uint8_t mask) {
  const bool same_operation = cell.reader.operation == now.operation && cell.read != 0;
  if (!same_operation && cell.read != 0 && !is_before_now(cell.reader.operation))
    cell.other_reader = cell.reader.operation;
  const bool same_block = same_operation && cell.reader.block == now.block;
  const bool same_interval = same_block && cell.reader.interval == now.interval;
  cell.many_blocks = same_operation && (cell.many_blocks || !same_block);
  cell.many_threads = same_interval && (cell.many_threads || cell.reader.thread != now.thread);
  cell.read = static_cast<std::uint8_t>(same_operation ? cell.read | mask : mask);
  cell.reader = now;
}

void note_writer(Cell& cell, const Accessor& now, std::uint8_t mask, AccessKind kind) {
  cell.written = static_cast<std::uint8_t>(is_same_thread(cell.writer, now) ? cell.written | mask : mask);
  cell.writer = now;
  cell.valid |= mask;
  cell.other_reader = 0;
  cell.atomically = kind == AccessKind::atomic;
}

/// True where a write races with the readers that a cell knows of.
bool races_with_readers(const Cell& cell, const Accessor& now) {
  if (!is_before(cell.reader, now)) return true;
  if (cell.reader.operation != now.operation) return false;
  return cell.many_blocks || (cell.many_threads && cell.reader.interval >= now.interval);
}

}  // namespace

bool is_before_now(OperationId id) {
  if (id == 0 || id == running.operation) return true;
  // Neighbouring words were mostly touched by the same operation.
  static OperationId asked_by = 0, asked = 0;
  static bool answer = true;
  if (asked_by == running.operation && asked == id) return answer;
  const Operation& operation = machine().operations.at(id);
  asked_by = running.operation;
  asked = id;
  answer = running.clock != nullptr && operation.stream < running.clock->size() &&
           (*running.clock)[operation.stream] >= operation.tick;
  return answer;
}

const char* name_of(AccessKind kind) {
  return kind == AccessKind::read ? "read" : kind == AccessKind::write ? "write" : "atomic addition";
}

Shadow::Shadow(MemoryKind kind, std::uintptr_t begin, std::size_t bytes)
    : kind_(kind), begin_(begin), words_((bytes + 3) / 4) {
  // Zeros of calloc, of which the kernel maps only what is touched: Cell's own initialisers are zeros too.
  cells_ = static_cast<Cell*>(std::calloc(words_ + 1, sizeof(Cell)));
  if (cells_ == nullptr) throw std::bad_alloc();
}

Shadow::~Shadow() { std::free(cells_); }

void Shadow::add(const Access& access) {
  const std::size_t first = (access.address - begin_) / 4, last = (access.address + access.size - 1 - begin_) / 4;
  for (std::size_t word = first; word <= last; ++word)
    add_to_word(word, bytes_in_word(begin_ + 4 * word, access), access);
}

void Shadow::add_to_word(std::size_t word, std::uint8_t mask, const Access& access) {
  Cell& cell = cells_[word];
  const auto known = static_cast<std::uint8_t>(cell.written | cell.read);
  if (known == 0 && !cell.is_split && kind_ == MemoryKind::shared) touched_.push_back(word);
  if (!cell.is_split && (known == 0 || known == mask)) return add_to_cell(cell, mask, access);
  auto& bytes = bytes_of_[word];
  for (unsigned i = 0; i < 4; ++i) {
    if (cell.is_split) break;
    bytes[i] = cell;
    bytes[i].written = bit(cell.written, i);
    bytes[i].read = bit(cell.read, i);
    bytes[i].valid = bit(cell.valid, i);
    if (!bit(cell.read, i)) bytes[i].other_reader = 0;
  }
  cell.is_split = true;
  for (unsigned i = 0; i < 4; ++i)
    if (bit(mask, i)) add_to_cell(bytes[i], 1, access);
}

void Shadow::add_to_cell(Cell& cell, std::uint8_t mask, const Access& access) {
  const Accessor now = accessor_now();
  const bool both_atomic =
      access.kind == AccessKind::atomic && cell.atomically && cell.writer.operation == now.operation;
  if ((cell.written & mask) != 0 && !both_atomic && !is_before(cell.writer, now))
    report_race(cell.writer, "write", access);
  if (access.kind != AccessKind::read && (cell.read & mask) != 0 && races_with_readers(cell, now))
    report_race(cell.reader, "read", access);
  if (access.kind != AccessKind::read && !is_before_now(cell.other_reader))
    report_race({.operation = cell.other_reader}, "read", access);
  if (access.kind != AccessKind::write && (cell.valid & mask) != mask && !is_filed(Mistake::unwritten, access.place))
    report(Mistake::unwritten,
           fmt::format("{} of {} memory at {:#x} that nothing has written", name_of(access.kind), memory(),
                       access.address),
           access.place);
  if (access.kind == AccessKind::read) {
    note_reader(cell, now, mask);
  } else {
    note_writer(cell, now, mask, access.kind);
  }
}

void Shadow::report_race(const Accessor& other, const char* other_did, const Access& access) const {
  const Mistake mistake = other.operation != running.operation ? Mistake::race_of_streams
                          : other.block != running.block       ? Mistake::race_of_blocks
                                                               : Mistake::race_of_threads;
  if (is_filed(mistake, access.place)) return;
  report(mistake,
         fmt::format("{} of {} memory at {:#x} after a {} by {}, operation {}, block {}, thread {}, after {} barriers",
                     name_of(access.kind), memory(), access.address, other_did,
                     machine().operations.at(other.operation).name, other.operation, other.block, other.thread,
                     other.interval),
         access.place);
}

OperationId Shadow::unordered_user() const {
  const auto user_of = [](const Cell& cell) {
    for (const OperationId id : {cell.writer.operation, cell.reader.operation, cell.other_reader})
      if (!is_before_now(id)) return id;
    return OperationId{0};
  };
  for (std::size_t word = 0; word < words_; ++word) {
    if (cells_[word].is_split) {
      for (const Cell& cell : bytes_of_.at(word))
        if (const OperationId user = user_of(cell); user != 0) return user;
    } else if (const OperationId user = user_of(cells_[word]); user != 0) {
      return user;
    }
  }
  return 0;
}

void Shadow::clear() {
  for (const std::size_t word : touched_) cells_[word] = {};
  touched_.clear();
  bytes_of_.clear();
}

}  // namespace hbench::emulated_gpu
