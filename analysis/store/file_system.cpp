#include "analysis/store/file_system.hpp"

#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>

namespace hbench::store {
namespace {

struct FileSystem {
  std::int64_t type;
  std::string_view name;
};

constexpr std::array kShared{
    FileSystem{NFS_SUPER_MAGIC, "NFS"},   FileSystem{SMB_SUPER_MAGIC, "SMB"}, FileSystem{0xfe534d42, "SMB2"},
    FileSystem{0xff534d42, "CIFS"},       FileSystem{0x0bd00bd0, "Lustre"},   FileSystem{0x65735546, "FUSE"},
    FileSystem{0x47504653, "GPFS"},       FileSystem{0x19830326, "BeeGFS"},   FileSystem{0x00c36400, "Ceph"},
    FileSystem{V9FS_MAGIC, "9P"},         FileSystem{AFS_SUPER_MAGIC, "AFS"}, FileSystem{0x6b414653, "AFS"},
    FileSystem{CODA_SUPER_MAGIC, "Coda"}, FileSystem{NCP_SUPER_MAGIC, "NCP"}, FileSystem{0x7461636f, "OCFS2"},
    FileSystem{0x01161970, "GFS2"},       FileSystem{0xaad7aaea, "PanFS"},    FileSystem{0xbeefdead, "SNFS"},
    FileSystem{0x20030528, "OrangeFS"},
};

}  // namespace

std::int64_t file_system_type(const std::filesystem::path& file) {
  struct statfs facts {};
  const std::filesystem::path whole = std::filesystem::absolute(file);
  if (statfs(whole.c_str(), &facts) != 0 && statfs(whole.parent_path().c_str(), &facts) != 0) return kUnknownFileSystem;
  // 32 bits wherever the kernel gives it; some architectures extend its sign.
  return static_cast<std::int64_t>(static_cast<std::uint32_t>(facts.f_type));
}

std::string_view network_file_system(std::int64_t type) {
  const auto found = std::ranges::find(kShared, type, &FileSystem::type);
  return found == kShared.end() ? std::string_view() : found->name;
}

bool wal_works_on(std::int64_t type) { return type != kUnknownFileSystem && network_file_system(type).empty(); }

}  // namespace hbench::store
