#include "tests/emulated_gpu/reports.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>

#include "tests/emulated_gpu/machine.hpp"
#include "tests/emulated_gpu/operations.hpp"

namespace hbench::emulated_gpu {
namespace {

/// One mistake: what, in which operation's kind, where in the program.
using Key = std::tuple<Mistake, const void*, std::string_view, const void*>;

struct Filed {
  std::mutex mutex;
  std::set<Key> known;
  std::vector<Report> reports;
};
Filed& filed() {
  static auto* const all = new Filed;  // the worker may report while the process ends
  return *all;
}

/// addr2line's lines: a function, then its place, for each function that was inlined there, innermost first.
std::string joined_places(std::FILE* lines) {
  std::string text, function;
  char line[2048];
  for (int i = 0; std::fgets(line, sizeof line, lines) != nullptr; ++i) {
    std::string part(line);
    part.pop_back();
    if (i % 2 == 0) {
      function = part.substr(0, 90);
    } else if (i < 8) {
      text += fmt::format("{}{} ({})", text.empty() ? "" : " < ", part.substr(part.rfind('/') + 1), function);
    }
  }
  return text;
}

/// The function and line of an address in the program's code; empty where there is no addr2line.
std::string place_in_source(const void* address) {
  Dl_info info{};
  char path[512] = {};
  if (dladdr(address, &info) == 0 || readlink("/proc/self/exe", path, sizeof path - 1) < 0) return {};
  const auto offset = static_cast<const char*>(address) - static_cast<const char*>(info.dli_fbase);
  const std::string command = fmt::format("addr2line -C -i -f -e '{}' {:#x} 2>/dev/null", path, offset);
  std::FILE* const lines = popen(command.c_str(), "r");
  if (lines == nullptr) return {};
  std::string text = joined_places(lines);
  pclose(lines);
  return text;
}

Operation operation_now() {
  if (is_worker && running.operation != 0) return machine().operations.at(running.operation);
  return {.name = "the host"};
}

std::string doer(const Operation& operation) {
  if (operation.kernel == nullptr) return fmt::format("by operation {}, {}", running.operation, operation.name);
  return fmt::format("by operation {}, block {}, thread {}, after {} barriers", running.operation, running.block,
                     running.thread, running.interval);
}

}  // namespace

Running running;
thread_local bool is_worker = false;
Counts counts;

std::string_view name_of(Mistake mistake) {
  switch (mistake) {
    case Mistake::out_of_bounds:
      return "out of bounds";
    case Mistake::use_after_free:
      return "use after free";
    case Mistake::misaligned:
      return "misaligned";
    case Mistake::host_memory:
      return "host memory";
    case Mistake::no_peer_access:
      return "no peer access";
    case Mistake::not_yet_allocated:
      return "not yet allocated";
    case Mistake::unwritten:
      return "unwritten memory";
    case Mistake::race_of_threads:
      return "race between threads";
    case Mistake::race_of_blocks:
      return "race between blocks";
    case Mistake::race_of_streams:
      return "race between streams";
    case Mistake::freed_in_use:
      return "freed in use";
    case Mistake::bad_free:
      return "bad free";
    case Mistake::barrier:
      return "divergent barrier";
    case Mistake::warp:
      return "divergent warp";
    case Mistake::deadlock:
      return "deadlock";
    case Mistake::stream:
      return "bad stream";
    case Mistake::nccl:
      return "NCCL";
  }
  return "";
}

bool is_filed(Mistake mistake, const void* place) {
  const Operation operation = operation_now();
  Filed& all = filed();
  const std::lock_guard lock(all.mutex);
  return all.known.contains({mistake, place, operation.name, operation.kernel});
}

void report(Mistake mistake, const std::string& text, const void* place) {
  const Operation operation = operation_now();
  Filed& all = filed();
  const std::lock_guard lock(all.mutex);
  if (!all.known.insert({mistake, place, operation.name, operation.kernel}).second) return;
  ++counts.reports;
  all.reports.push_back(
      {mistake, fmt::format("{} {}", text, is_worker ? doer(operation) : "by the host"), place, operation.kernel});
}

std::string text_of(const Report& report) {
  std::string text = fmt::format("{}: {}", name_of(report.mistake), report.text);
  if (report.kernel != nullptr) text += "\n  in kernel " + place_in_source(report.kernel);
  // The return behind the access may be on the next line.
  if (report.place != nullptr) text += "\n  at " + place_in_source(static_cast<const char*>(report.place) - 1);
  return text;
}

std::vector<Report> take_reports() {
  Filed& all = filed();
  const std::lock_guard lock(all.mutex);
  all.known.clear();
  return std::exchange(all.reports, {});
}

}  // namespace hbench::emulated_gpu
