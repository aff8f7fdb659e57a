#pragma once

/// The family of executors: interpreters of a schedule that give a `Timeline`.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/compressors/compressor.hpp"
#include "collectives/executors/availability.hpp"
#include "collectives/executors/operand.hpp"
#include "collectives/executors/operation.hpp"
#include "collectives/schedule.hpp"

namespace hbench {

/// When each local rank had finished, in seconds since the start.
struct Timeline {
  std::vector<Seconds> finish;
  /// The slowest of them: the time of the collective.
  Seconds slowest() const;
};

class Endpoint;

/// One collective to execute.
struct Collective {
  const Schedule* schedule = nullptr;  ///< null asks for the vendor's own all-reduce
  Encoding encoding;
  std::int64_t elements = 0;  ///< per rank
  /// One of `elements` elements per local rank: all ranks for `threads`, this process's for `mpi`, none for
  /// `simulate`. Servers get a buffer too; its initial content does not matter.
  std::vector<Operand> operands;
  /// What a rank runs instead of `schedule`, such as `prepare_exchange`; `simulate` has no use for it.
  std::function<std::unique_ptr<Operation>(Endpoint&, const Operand&)> prepare = {};
};

/// Executes collectives; not thread-safe.
class Executor {
 public:
  virtual ~Executor() = default;
  /// \throws Error (lost_rank) that names the late rank and the round when a peer does not answer in time.
  virtual Timeline run(const Collective& collective) = 0;
};

struct Profile;

/// One entry of the family.
struct ExecutorKind {
  std::string_view name;
  std::string_view summary;
  /// Where its times come from: `measured` or `simulated`.
  std::string_view evidence;
  /// What it cannot do, in words.
  std::string_view limits;
  Availability (*availability)();
  bool on_gpu = false;  ///< operands of its operations lie in a GPU's memory
  /// Which algorithms it runs.
  enum class Runs : std::uint8_t { schedules, vendor, both } runs = Runs::both;
  /// Why it cannot run with a compressor, for a person; empty where it can. Null: it runs with all.
  std::string (*refuses)(const CompressorChoice& compressor) = nullptr;
  /// `profile` is needed by `simulate` only and outlives the executor. `timeout` bounds one collective.
  std::unique_ptr<Executor> (*make)(const Profile* profile, Seconds timeout);
  /// Endpoints of so many ranks that are threads of this process; null where they cannot be.
  std::vector<std::unique_ptr<Endpoint>> (*make_endpoints)(int ranks) = nullptr;
  /// This rank's endpoint in a job of processes; `home` is the one that MPI gives it, and outlives it. Null where ranks
  /// cannot be processes, and for `mpi`, whose endpoint that is.
  std::unique_ptr<Endpoint> (*make_endpoint)(Endpoint& home) = nullptr;

  /// Unless someone else has started them as processes.
  bool ranks_are_threads() const { return make_endpoints != nullptr; }
};

/// The table, in the order in which `hbench list executors` prints it.
std::span<const ExecutorKind* const> executors();
/// Null when there is none of this name: another library's.
const ExecutorKind* find_executor(std::string_view name);
/// Whether it is one whose operands lie in a GPU's memory.
bool works_on_gpu(std::string_view executor);

}  // namespace hbench
