#include "bench/worker/process_identity.hpp"

#include <unistd.h>

#include <array>
#include <fstream>
#include <iterator>
#include <sstream>

namespace hbench {
namespace {

/// `starttime`, as proc(5) numbers the fields; the first after the program's name is the state, field 3.
constexpr int kFieldsFromStateToStart = 22 - 3;

/// The whole of one of the kernel's files: the name of a program may hold the end of a line.
std::string content(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string find_host_identity() {
  const std::string boot = content("/proc/sys/kernel/random/boot_id");
  std::array<char, 64> space{};
  const ssize_t length = readlink("/proc/self/ns/pid", space.data(), space.size());
  if (boot.empty() || length <= 0) return "";
  return boot.substr(0, boot.find('\n')) + " " + std::string(space.data(), static_cast<std::size_t>(length));
}

}  // namespace

const std::string& own_host_identity() {
  static const std::string kIdentity = find_host_identity();
  return kIdentity;
}

ProcessIdentity own_process() {
  const std::optional<ProcessStatus> status = process_status(getpid());
  if (!status) return {getpid(), "", 0};
  return {getpid(), own_host_identity(), status->start_time};
}

std::optional<ProcessStatus> parse_process_status(const std::string& stat) {
  const std::size_t end = stat.rfind(')');  // of the program's name, which may hold anything
  if (end == std::string::npos) return std::nullopt;
  std::istringstream fields(stat.substr(end + 1));
  ProcessStatus status;
  std::string passed;
  fields >> status.state;
  for (int i = 1; i < kFieldsFromStateToStart; ++i) fields >> passed;
  fields >> status.start_time;
  if (!fields) return std::nullopt;
  return status;
}

std::optional<ProcessStatus> process_status(pid_t pid) {
  return parse_process_status(content("/proc/" + std::to_string(pid) + "/stat"));
}

std::optional<ProcessStatus> status_of(const ProcessIdentity& process) {
  if (process.host.empty() || process.host != own_host_identity()) return std::nullopt;
  const std::optional<ProcessStatus> status = process_status(process.pid);
  return status && status->start_time == process.start_time ? status : std::nullopt;
}

}  // namespace hbench
