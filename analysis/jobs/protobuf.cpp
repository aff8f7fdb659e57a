#include "analysis/jobs/protobuf.hpp"

namespace hbench {

std::optional<std::uint64_t> ProtobufMessage::varint() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (rest_.empty()) break;
    const auto byte = static_cast<unsigned char>(rest_.front());
    rest_.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  damaged_ = true;
  return std::nullopt;
}

std::optional<std::string_view> ProtobufMessage::take(std::uint64_t bytes) {
  if (bytes > rest_.size()) {
    damaged_ = true;
    return std::nullopt;
  }
  const std::string_view taken = rest_.substr(0, bytes);
  rest_.remove_prefix(bytes);
  return taken;
}

std::optional<std::string_view> ProtobufMessage::message() {
  const std::optional<std::uint64_t> size = varint();
  return size ? take(*size) : std::nullopt;
}

std::optional<ProtobufField> ProtobufMessage::next() {
  if (rest_.empty() || damaged_) return std::nullopt;
  const std::optional<std::uint64_t> key = varint();
  if (!key) return std::nullopt;
  ProtobufField field{.number = static_cast<int>(*key >> 3 & 0x1fffffff)};
  const auto kind = *key & 7;
  std::optional<std::uint64_t> size;
  switch (kind) {
    case 0:
      if (const auto value = varint()) return field.value = *value, field;
      return std::nullopt;
    case 1:
      size = 8;
      break;
    case 2:
      size = varint();
      break;
    case 5:
      size = 4;
      break;
    default:
      damaged_ = true;
  }
  if (damaged_ || !size) return std::nullopt;
  const std::optional<std::string_view> bytes = take(*size);
  if (!bytes) return std::nullopt;
  field.is_bytes = kind == 2;
  if (field.is_bytes) field.bytes = *bytes;
  if (!field.is_bytes)  // little-endian
    for (std::size_t i = bytes->size(); i > 0; --i)
      field.value = field.value << 8 | static_cast<unsigned char>((*bytes)[i - 1]);
  return field;
}

}  // namespace hbench
