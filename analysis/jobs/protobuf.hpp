#pragma once

/// The wire format of protobuf (protobuf.dev/programming-guides/encoding), as far as recordings need it: the fields of
/// a message one after the other, none of them copied.

#include <cstdint>
#include <optional>
#include <string_view>

namespace hbench {

/// One field of a message.
struct ProtobufField {
  int number = 0;
  bool is_bytes = false;    ///< a text, bytes, or a message: `bytes`; else `value`
  std::uint64_t value = 0;  ///< of a varint; of a fixed number, its bits
  std::string_view bytes;
};

/// The fields of a message, in the order in which they stand there.
class ProtobufMessage {
 public:
  /// \pre `bytes` outlives it.
  explicit ProtobufMessage(std::string_view bytes) : rest_(bytes) {}
  /// Returns the next field; absent at the end, and where what follows is damaged.
  std::optional<ProtobufField> next();
  /// Returns what stands after its own length, as the messages of a file do; absent where that is damaged or cut off.
  std::optional<std::string_view> message();
  /// What was not read.
  std::string_view rest() const { return rest_; }
  bool damaged() const { return damaged_; }

 private:
  std::optional<std::uint64_t> varint();
  std::optional<std::string_view> take(std::uint64_t bytes);

  std::string_view rest_;
  bool damaged_ = false;
};

}  // namespace hbench
