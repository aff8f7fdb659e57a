#include "bench/output/output_file.hpp"

#include <fmt/format.h>

#include <ctime>
#include <fstream>

#include "collectives/base/error.hpp"

namespace hbench {

namespace {

std::filesystem::path part_of(const std::filesystem::path& file) { return file.string() + ".part"; }

[[noreturn]] void fail(const std::filesystem::path& file, std::string_view flag) {
  std::error_code ignored;
  std::filesystem::remove(part_of(file), ignored);
  throw Error(ExitCode::environment, fmt::format("cannot write {}", file.string()),
              fmt::format("choose another file with {} FILE", flag));
}

}  // namespace

void check_writable(const std::filesystem::path& file, std::string_view flag) {
  std::error_code status;
  if (std::filesystem::is_directory(file, status) || !std::ofstream(part_of(file)).good()) fail(file, flag);
  std::filesystem::remove(part_of(file), status);
}

void write_whole(const std::filesystem::path& file, const std::string& text, std::string_view flag) {
  bool written = false;
  {
    std::ofstream out(part_of(file), std::ios::binary);
    out << text << std::flush;
    written = out.good();
  }
  std::error_code status;
  if (written) std::filesystem::rename(part_of(file), file, status);
  if (!written || status) fail(file, flag);
}

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

}  // namespace hbench
