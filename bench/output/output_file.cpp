#include "bench/output/output_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <fstream>

#include "collectives/base/error.hpp"

namespace hbench {

namespace {

std::filesystem::path part_of(const std::filesystem::path& file) { return file.string() + ".part"; }

/// Writes a file. Why that cannot be done, in the system's words; empty where it is done.
std::string refusal_of(const std::filesystem::path& file, const std::string& text) {
  errno = 0;
  std::ofstream out(file, std::ios::binary);
  out << text << std::flush;
  return out.good() ? "" : std::strerror(errno != 0 ? errno : EIO);
}

[[noreturn]] void fail(const std::filesystem::path& file, std::string_view flag, std::string_view why) {
  std::error_code ignored;
  std::filesystem::remove(part_of(file), ignored);
  throw Error(ExitCode::environment, fmt::format("cannot write {}: {}", file.string(), why),
              fmt::format("choose another file with {} FILE", flag));
}

}  // namespace

void check_writable(const std::filesystem::path& file, std::string_view flag) {
  std::error_code status;
  if (std::filesystem::is_directory(file, status)) fail(file, flag, std::strerror(EISDIR));
  if (const std::string why = refusal_of(part_of(file), ""); !why.empty()) fail(file, flag, why);
  std::filesystem::remove(part_of(file), status);
}

void write_whole(const std::filesystem::path& file, const std::string& text, std::string_view flag) {
  if (const std::string why = refusal_of(part_of(file), text); !why.empty()) fail(file, flag, why);
  std::error_code status;
  std::filesystem::rename(part_of(file), file, status);
  if (status) fail(file, flag, status.message());
}

FolderTrial try_folder(const std::filesystem::path& folder) {
  std::error_code status, ignored;
  FolderTrial trial{.made = std::filesystem::create_directories(folder, status)};
  const std::filesystem::path probe = folder / ".hbench-probe";
  trial.why_not = status ? status.message() : refusal_of(probe, "probe");
  std::filesystem::remove(probe, ignored);
  return trial;
}

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

}  // namespace hbench
