#pragma once

/// Large text files, packed or not, read a piece after the other.
///
/// The words of recorders for exchanges and element types, in hbench's words.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
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

/// Returns `all-reduce` for `c10d::allreduce_`, `nccl:all_reduce`, `ncclDevKernel_AllReduce_Sum_f32_RING_LL`,
/// `allreduce_coalesced` and the like; likewise `reduce-scatter`, `all-gather`, `all-to-all`, `broadcast`, `reduce`,
/// `gather`, `scatter`, `barrier`, `send-receive`. Empty for what is none of these.
std::string operation_word(std::string_view recorded);

/// Returns `float32` for `Float`, `float`, `c10::Float` or `torch.float32`; likewise `bfloat16`, `float16`, `float64`,
/// `float8`, `int8`, `uint8`, `int32`, `int64`. Empty for what is none of these.
std::string type_word(std::string_view recorded);

/// Whether an exchange in hbench's words adds up what ranks put in: in a backward pass these are gradients.
bool is_reduction(std::string_view operation);

/// PyTorch's operators of a backward pass: what runs one of its functions, and what takes a gradient.
inline constexpr std::string_view kBackwardTask = "autograd::engine::evaluate_function: ";
inline constexpr std::string_view kAccumulateGrad = "torch::autograd::AccumulateGrad";

/// Bytes of an element of one of these types; 0 for others.
int type_bytes(std::string_view word);

}  // namespace hbench
