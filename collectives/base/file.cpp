#include "collectives/base/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>

#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;
constexpr std::chrono::milliseconds kReaderPatience{5000}, kReaderPoll{20};

[[noreturn]] void fail(int error = errno) { throw std::runtime_error(std::strerror(error)); }

/// The number of an own descriptor that a path names: `/proc/self/fd/1`.
std::optional<int> descriptor_in(const fs::path& path) {
  std::error_code unknown;
  const fs::path own = fs::canonical("/proc/self/fd", unknown);
  if (unknown || fs::canonical(fs::absolute(path).parent_path(), unknown) != own) return std::nullopt;
  return parse_number<int>(path.filename().string());
}

/// What a path names in the end, through symbolic links; nothing need be there.
fs::path resolved(fs::path path) {
  for (int links = 0; links < kMostLinks; ++links) {
    std::error_code none;
    if (descriptor_in(path) || !fs::is_symlink(path, none)) return path;
    path = path.parent_path() / fs::read_symlink(path);
  }
  fail(ELOOP);
}

std::optional<struct stat> status_of(const fs::path& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0) return status;
  if (errno != ENOENT) fail();
  return std::nullopt;
}

int connected(const fs::path& path) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  if (path.native().size() >= sizeof address.sun_path) fail(ENAMETOOLONG);
  path.native().copy(address.sun_path, path.native().size());
  const int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) fail();
  if (connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return descriptor;
  const int error = errno;
  close(descriptor);
  fail(error);
}

/// Of a pipe or a terminal. A pipe without a reader would keep us waiting.
int opened(const fs::path& path) {
  const auto until = std::chrono::steady_clock::now() + kReaderPatience;
  for (;;) {
    const int descriptor = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (descriptor >= 0) {
      fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK);
      return descriptor;
    }
    if (errno != ENXIO) fail();
    if (std::chrono::steady_clock::now() > until) throw std::runtime_error("no program reads this pipe");
    std::this_thread::sleep_for(kReaderPoll);
  }
}

/// A descriptor to write to, where `path` names no regular file, and none is to be made.
std::optional<int> opened_node(const fs::path& path) {
  if (const std::optional<int> own = descriptor_in(path)) {
    std::fflush(stdout);  // what was printed before stands before
    const int copy = fcntl(*own, F_DUPFD_CLOEXEC, 0);
    return copy >= 0 ? copy : (fail(), copy);
  }
  const std::optional<struct stat> status = status_of(path);
  if (!status || S_ISREG(status->st_mode)) return std::nullopt;
  return S_ISSOCK(status->st_mode) ? connected(path) : opened(path);
}

void write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail();
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

/// Without the signal that a pipe gives whose reader has gone: it ends with an error.
void write_node(int descriptor, std::string_view bytes) {
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  std::string why;
  try {
    write_all(descriptor, bytes);
  } catch (const std::exception& error) {
    why = error.what();
  }
  std::signal(SIGPIPE, before);
  close(descriptor);
  if (!why.empty()) throw std::runtime_error(why);
}

/// \throws for what must not be written to.
void check_target(const fs::path& target) {
  const std::optional<struct stat> status = status_of(target);
  if (!status) return;
  if (S_ISDIR(status->st_mode)) fail(EISDIR);
  if (S_ISBLK(status->st_mode)) throw std::runtime_error("it is a disk");
  if (faccessat(AT_FDCWD, target.c_str(), W_OK, AT_EACCESS) != 0) fail();
}

}  // namespace

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

std::filesystem::path temporary_base() {
  const char* folder = std::getenv("TMPDIR");
  return folder != nullptr && *folder != '\0' ? folder : "/tmp";
}

ScratchFolder::ScratchFolder() {
  std::string name = temporary_base() / "hbench-scratch-XXXXXX";
  if (mkdtemp(name.data()) == nullptr)
    throw Error(ExitCode::environment, fmt::format("cannot make a folder {}: {}", name, std::strerror(errno)),
                "set TMPDIR to a folder that you may write");
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string replace_file(const fs::path& file, std::string_view bytes) {
  try {
    const fs::path target = resolved(file);
    if (!descriptor_in(target)) check_target(target);
    if (const std::optional<int> descriptor = opened_node(target)) return write_node(*descriptor, bytes), "";
    PartialFile partial(target);
    partial.write(bytes);
    partial.replace_target();
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

std::string why_not_replaceable(const fs::path& file) {
  try {
    const fs::path target = resolved(file);
    if (descriptor_in(target)) return "";
    check_target(target);
    const std::optional<struct stat> status = status_of(target);
    if (!status || S_ISREG(status->st_mode)) PartialFile{target};
    return "";
  } catch (const std::exception& error) {
    return error.what();
  }
}

PartialFile::PartialFile(fs::path target) : target_(std::move(target)) {
  std::random_device random;
  do {
    path_ = target_.parent_path() / fmt::format("{}{:08x}{:08x}", kBegin, random(), random());
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ < 0) fail();
}

PartialFile::PartialFile(PartialFile&& other) noexcept
    : target_(std::move(other.target_)),
      path_(std::exchange(other.path_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

PartialFile::~PartialFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!path_.empty()) unlink(path_.c_str());
}

void PartialFile::write(std::string_view bytes) { write_all(descriptor_, bytes); }

// A hint: what it cannot do or has left, `sync` does.
void PartialFile::begin_sync() { sync_file_range(descriptor_, 0, 0, SYNC_FILE_RANGE_WRITE); }

void PartialFile::sync() {
  if (fsync(descriptor_) != 0) fail();
}

void PartialFile::replace_target() {
  if (const std::optional<struct stat> before = status_of(target_)) {
    // The owner first, since that clears bits of the mode; only root may give files away.
    if (fchown(descriptor_, before->st_uid, before->st_gid) != 0 && errno != EPERM) fail();
    if (fchmod(descriptor_, before->st_mode & 07777) != 0) fail();
  }
  if (close(std::exchange(descriptor_, -1)) != 0) fail();
  if (rename(path_.c_str(), target_.c_str()) != 0) fail();
  path_.clear();
}

}  // namespace hbench
