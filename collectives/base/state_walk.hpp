#pragma once

/// What a rank carries from step to step is kept, and brought back, by one and the same walk through it.

#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace hbench {

/// Goes through the pieces of a state, one after the other: it copies them, or writes earlier copies over them. Who is
/// walked through makes the memory that it does not have yet before that is written to. Used by one thread.
class StateWalk {
 public:
  virtual ~StateWalk() = default;
  /// Whether a state is brought back, and not kept.
  virtual bool brings() const = 0;
  /// Bytes in host memory. \throws Error (usage) where what is brought back has another piece there.
  virtual void bytes(std::string_view name, std::span<std::byte> piece) = 0;

  template <class Number>
  void number(std::string_view name, Number& value) {
    static_assert(std::is_trivially_copyable_v<Number>);
    bytes(name, std::as_writable_bytes(std::span(&value, 1)));
  }

  /// As many as there were.
  template <class Number>
  void numbers(std::string_view name, std::vector<Number>& values) {
    static_assert(std::is_trivially_copyable_v<Number>);
    auto count = std::ssize(values);
    number(name, count);
    values.resize(static_cast<std::size_t>(count));
    bytes(name, std::as_writable_bytes(std::span(values)));
  }
};

}  // namespace hbench
