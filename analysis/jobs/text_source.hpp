#pragma once

/// Large text files, packed or not, read a piece after the other.

#include <array>
#include <memory>
#include <string>

#include "collectives/base/error.hpp"

namespace hbench {

/// The text of a file, unpacked where it is a gzip file. One owner.
class TextSource {
 public:
  /// \throws Error (usage) when the file cannot be read or is no regular file.
  explicit TextSource(const std::string& file_name);
  ~TextSource();
  TextSource(const TextSource&) = delete;
  TextSource& operator=(const TextSource&) = delete;

  /// Returns the next byte without taking it; -1 at the end. \throws Error (usage) for a damaged or shortened gzip
  /// file.
  int peek() { return at_ < size_ || refill() ? static_cast<unsigned char>(buffer_[at_]) : -1; }
  /// Takes the next byte; -1 at the end. \throws as `peek`.
  int take() {
    const int byte = peek();
    if (byte >= 0) ++at_;
    return byte;
  }
  const std::string& file_name() const { return file_name_; }

 private:
  struct Packed;
  bool refill();

  std::string file_name_;
  std::unique_ptr<Packed> packed_;
  std::array<char, 1 << 16> buffer_;
  std::size_t at_ = 0, size_ = 0;
  bool begun_ = false;
};

}  // namespace hbench
