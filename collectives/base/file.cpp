#include "collectives/base/file.hpp"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

#include "collectives/base/error.hpp"

namespace hbench {

std::string read_file(const std::filesystem::path& file) {
  const auto fail = [&](std::string_view why) {
    throw Error(ExitCode::usage, fmt::format("cannot read {}: {}", file.string(), why));
  };
  // Looked at before it is opened: opening a pipe waits for who writes it.
  std::error_code status;
  const std::filesystem::file_type type = std::filesystem::status(file, status).type();
  if (type == std::filesystem::file_type::directory) fail("it is a folder");
  if (std::filesystem::exists(file, status) && type != std::filesystem::file_type::regular)
    fail("it is not a regular file");
  std::ifstream in(file, std::ios::binary);
  if (!in) fail(std::strerror(errno));
  // Piece by piece: some files (of /proc) do not know how long they are.
  std::array<char, 1 << 16> piece;
  std::string text;
  while (in.read(piece.data(), piece.size()), in.gcount() > 0) {
    text.append(piece.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > kMostFileBytes) fail(fmt::format("it has more than {} MiB", kMostFileBytes >> 20));
  }
  return text;
}

std::string write_file(const std::filesystem::path& file, std::string_view bytes) {
  errno = 0;
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  return out ? "" : std::strerror(errno != 0 ? errno : EIO);
}

std::string first_line(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

}  // namespace hbench
