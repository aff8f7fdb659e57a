#pragma once

/// Who has written and read a piece of memory, word by word, and what is wrong with an access that is added to that.
///
/// An access races with an earlier one, one of the two being a write, when nothing puts them in order: a barrier
/// between two threads of a block, the end of a kernel on the same stream, an event or a synchronisation between
/// streams. No luck is needed to see that: who accesses is compared, not when.

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tests/emulated_gpu/operations.hpp"

namespace hbench::emulated_gpu {

enum class AccessKind : std::uint8_t { read, write, atomic };
const char* name_of(AccessKind kind);

/// A thread of a kernel between two of its barriers, or a copy (block, thread and interval 0).
struct Accessor {
  OperationId operation = 0;
  std::uint32_t block = 0;
  std::uint16_t thread = 0;
  std::uint16_t interval = 0;
};
/// True where an operation is done before what is running begins.
bool is_before_now(OperationId id);

struct Access {
  std::uintptr_t address = 0;
  std::size_t size = 0;
  AccessKind kind = AccessKind::read;
  const void* place = nullptr;  ///< in the program's code; null for copies
};

/// Four bytes, or one of them where different threads have parts of the four. Masks have a bit for each byte.
struct Cell {
  Accessor writer, reader;
  OperationId other_reader = 0;  ///< one that has read since, and does not come before the reader
  std::uint8_t written = 0;      ///< by `writer`
  std::uint8_t read = 0;         ///< by `reader`, the last of those that have read since
  std::uint8_t valid = 0;        ///< written by anyone
  bool is_split : 1 = false;
  bool atomically : 1 = false;    ///< the last write was atomic
  bool many_threads : 1 = false;  ///< of the reader's block have read in its interval
  bool many_blocks : 1 = false;   ///< of the reader's operation have read
};

enum class MemoryKind : std::uint8_t { device, shared };

class Shadow {
 public:
  /// Knows nothing yet of the memory, which begins at `begin`, a multiple of 4.
  Shadow(MemoryKind kind, std::uintptr_t begin, std::size_t bytes);
  ~Shadow();
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;

  /// Adds an access of `running`, and reports what is wrong with it. \pre it lies within the memory
  void add(const Access& access);
  /// An operation that used the memory and does not come before what is running; 0 when there is none.
  OperationId unordered_user() const;
  /// Forgets all accesses: when another block begins. \pre shared memory
  void clear();

 private:
  void add_to_word(std::size_t word, std::uint8_t mask, const Access& access);
  void add_to_cell(Cell& cell, std::uint8_t mask, const Access& access);
  const char* memory() const { return kind_ == MemoryKind::device ? "device" : "shared"; }
  void report_race(const Accessor& other, const char* other_did, const Access& access) const;

  MemoryKind kind_;
  std::uintptr_t begin_;
  std::size_t words_;
  Cell* cells_;
  std::vector<std::size_t> touched_;  ///< words of shared memory that are not as new
  std::unordered_map<std::size_t, std::array<Cell, 4>> bytes_of_;
};

}  // namespace hbench::emulated_gpu
