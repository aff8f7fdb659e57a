#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace hbench {

/// A folder of one test's own; gone with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string bytes_of(const std::filesystem::path& file);
void write_bytes(const std::filesystem::path& file, std::string_view bytes);
/// A file that may be run.
void write_program(const std::filesystem::path& file, std::string_view script);

/// Runs statements with SQLite itself, behind the store's back.
void run_sql(const std::filesystem::path& database, std::string_view sql);

}  // namespace hbench
