#pragma once

/// Reports of what the emulated GPU found wrong. A test that leaves a report behind fails (`report_listener.cpp`).

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace hbench::emulated_gpu {

enum class Mistake {
  out_of_bounds,
  use_after_free,
  misaligned,
  host_memory,
  no_peer_access,
  not_yet_allocated,
  unwritten,
  race_of_threads,
  race_of_blocks,
  race_of_streams,
  freed_in_use,
  bad_free,
  barrier,
  warp,
  deadlock,
  stream,
  nccl,
};
std::string_view name_of(Mistake mistake);

struct Report {
  Mistake mistake;
  std::string text;
  const void* place = nullptr;   ///< in the program's code, behind the access
  const void* kernel = nullptr;  ///< that made it
};
/// For a person, with places in the sources, which take a second to be found.
std::string text_of(const Report& report);

/// Files a report about what the worker does now. The same mistake of the same operation's kind at the same place is
/// filed once. `place` is an address in the program's code, or null.
void report(Mistake mistake, const std::string& text, const void* place = nullptr);
/// True where `report` would file nothing new: a mistake that is made at a million accesses needs its words once.
bool is_filed(Mistake mistake, const void* place);

/// Returns the reports since the last call. Only what has been done can have been reported: `drain` first.
std::vector<Report> take_reports();

/// Counts of what was run, for a table.
struct Counts {
  std::size_t launches = 0;
  std::size_t threads = 0;
  std::size_t accesses = 0;
  std::size_t reports = 0;
};
/// Written by the worker.
extern Counts counts;

}  // namespace hbench::emulated_gpu
