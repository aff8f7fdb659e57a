#pragma once

/// The arguments of a pickle's instructions, as they stand in the file.

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/job/text_source.hpp"

namespace hbench {

/// Reads a pickle's numbers and texts. All functions \throws Error (usage) that names the file and the byte, also
/// where the file ends early and where its texts have more than 64 MiB.
class PickleBytes {
 public:
  explicit PickleBytes(TextSource& source) : source_(source) {}

  int byte();
  /// A number of up to 8 bytes without a sign, the lowest first.
  std::uint64_t number(int size);
  /// A number that ends with its line, as in protocol 0.
  std::uint64_t line_number();
  /// The value of an instruction that puts a number, a text, bytes, a truth value or None on the stack; absent for
  /// other instructions. NaN and infinite numbers are null.
  std::optional<nlohmann::json> scalar(int code);

  [[noreturn]] void fail(std::string_view why) const;

 private:
  std::int64_t whole(std::uint64_t size);
  nlohmann::json big_endian_double();
  std::string bytes(std::uint64_t size);
  std::string line();
  nlohmann::json line_whole();
  nlohmann::json line_double();
  std::string line_quoted();
  std::string unescaped(std::string_view text) const;
  template <class Number>
  Number parsed(std::string_view text, int base = 10) const;

  TextSource& source_;
  std::size_t position_ = 0, text_bytes_ = 0;
};

}  // namespace hbench
