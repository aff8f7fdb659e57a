#include "bench/output/output_file.hpp"

#include <fmt/format.h>

#include <ctime>

#include "collectives/base/error.hpp"
#include "collectives/base/file.hpp"

namespace hbench {

namespace {

[[noreturn]] void fail(const std::filesystem::path& file, std::string_view flag, std::string_view why) {
  throw Error(ExitCode::environment, fmt::format("cannot write {}: {}", file.string(), why),
              fmt::format("choose another file with {} FILE", flag));
}

}  // namespace

void check_writable(const std::filesystem::path& file, std::string_view flag) {
  if (const std::string why = why_not_replaceable(file); !why.empty()) fail(file, flag, why);
}

void write_whole(const std::filesystem::path& file, const std::string& text, std::string_view flag) {
  if (const std::string why = replace_file(file, text); !why.empty()) fail(file, flag, why);
}

FolderTrial try_folder(const std::filesystem::path& folder) {
  std::error_code status, ignored;
  FolderTrial trial{.made = std::filesystem::create_directories(folder, status)};
  const std::filesystem::path probe = folder / ".hbench-probe";
  trial.why_not = status ? status.message() : write_file(probe, "probe");
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
