#pragma once

/// The family of executors: the ways in which ranks reach each other, each a table entry that makes endpoints.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/base/library.hpp"
#include "collectives/compressors/compressor.hpp"

namespace hbench {

class Endpoint;

/// One entry of the family. Ranks are threads of one process where it has `make_endpoints`; processes of a job where it
/// has `make_endpoint`, and for `mpi`; `simulate` has no ranks.
struct ExecutorKind {
  std::string_view name;
  std::string_view summary;
  /// Where its times come from: `measured` or `simulated`.
  std::string_view evidence;
  /// What it cannot do, in words.
  std::string_view limits;
  Availability (*availability)();
  bool across_hosts = false;  ///< its ranks may be on several hosts
  bool on_gpu = false;        ///< operands of its operations lie in a GPU's memory
  /// Which algorithms it runs.
  enum class Runs : std::uint8_t { schedules, vendor, both } runs = Runs::both;
  /// Whether operands travel in rounds of a schedule alone, and no message goes from one rank to one other.
  bool rounds_only = false;
  /// Why it cannot run with a compressor, for a person; empty where it can. Null: it runs with all.
  std::string (*refuses)(const CompressorChoice& compressor) = nullptr;
  /// Endpoints of `ranks` ranks that are threads of this process; null where they cannot be.
  std::vector<std::unique_ptr<Endpoint>> (*make_endpoints)(int ranks) = nullptr;
  /// This rank's endpoint in a job of processes; `home` is the one that MPI gives it, and outlives it. Null where ranks
  /// cannot be processes, and for `mpi`, whose endpoint `home` is.
  std::unique_ptr<Endpoint> (*make_endpoint)(Endpoint& home) = nullptr;

  /// Whether ranks are threads unless a launcher has started them as processes.
  bool ranks_are_threads() const { return make_endpoints != nullptr; }
};

/// The table, in the order in which `hbench list executors` prints it.
std::span<const ExecutorKind* const> executors();
/// Null where no executor has this name: it is another library's.
const ExecutorKind* find_executor(std::string_view name);
/// Whether `executor` names one whose operands lie in a GPU's memory.
bool works_on_gpu(std::string_view executor);

}  // namespace hbench
