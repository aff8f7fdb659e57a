#pragma once

/// Large text files, packed or not, read a piece after the other.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "collectives/base/error.hpp"

namespace hbench {

/// The text of a file, unpacked where it is a gzip file. One owner. What is unpacked, and what readers keep of it, is
/// in proportion to the size of the file, so that a small one cannot fill the memory.
class TextSource {
 public:
  /// \throws Error (usage) when the file cannot be read or is no regular file.
  explicit TextSource(const std::string& file_name);
  ~TextSource();
  TextSource(const TextSource&) = delete;
  TextSource& operator=(const TextSource&) = delete;

  /// Returns the next byte without taking it; -1 at the end. \throws Error (usage) for a damaged or shortened gzip
  /// file, and for one that unpacks to more than 64 MiB and 50 times its size; recordings have 10 to 30 times.
  int peek() { return at_ < size_ || refill() ? static_cast<unsigned char>(buffer_[at_]) : -1; }
  /// Takes the next byte; -1 at the end. \throws as `peek`.
  int take() {
    const int byte = peek();
    if (byte >= 0) ++at_;
    return byte;
  }
  const std::string& file_name() const { return file_name_; }

  /// Appends what was read to what a reader keeps; `more` is what it has elsewhere. \throws as `keeps`.
  template <class T>
  void keep(std::vector<T>& all, T value, std::size_t more = 0) {
    keeps(sizeof(T) + more);
    all.push_back(std::move(value));
  }
  /// Counts bytes that a reader keeps. \throws Error (usage) for more than 96 MiB and 8 times the size of what was read
  /// of the file as it is on the disk.
  void keeps(std::size_t bytes) {
    kept_ += bytes;
    if (kept_ > kAlwaysKept + 8 * packed_bytes_) refuse_kept();
  }

 private:
  struct Packed;
  static constexpr std::uint64_t kAlwaysKept = 96 << 20;
  bool refill();
  [[noreturn]] void refuse_kept() const;

  std::string file_name_;
  std::unique_ptr<Packed> packed_;
  std::array<char, 1 << 16> buffer_;
  std::size_t at_ = 0, size_ = 0;
  bool begun_ = false;
  std::uint64_t read_ = 0, packed_bytes_ = 0, kept_ = 0;
};

}  // namespace hbench
