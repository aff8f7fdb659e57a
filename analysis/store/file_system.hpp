#pragma once

/// What kind of file system a database is on, which decides how SQLite may keep its journal there.

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace hbench::store {

inline constexpr std::int64_t kUnknownFileSystem = 0;

/// `f_type` of statfs(2) of the file, or of its folder where the file is not there yet; `kUnknownFileSystem` where the
/// system does not say.
std::int64_t file_system_type(const std::filesystem::path& file);

/// `NFS`, `Lustre` ...: a file system that several machines may have mounted at once. FUSE counts as one, because it
/// hides what is behind it (sshfs, s3fs). Empty for others. The numbers are those of Linux's `linux/magic.h`, and of
/// systems outside the kernel those that GNU `stat` knows.
std::string_view network_file_system(std::int64_t type);

/// Whether SQLite's write-ahead log works among all processes that can open a file there. Its index is shared memory
/// (sqlite.org/wal.html, "Overview"), which processes on different machines do not share. Not where the type is
/// unknown.
bool wal_works_on(std::int64_t type);

}  // namespace hbench::store
