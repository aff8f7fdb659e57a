#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>

#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/base/error.hpp"
#include "collectives/endpoints/endpoint.hpp"
#include "collectives/endpoints/shared_endpoint.hpp"
#include "collectives/transport/mpi_support.hpp"
#include "collectives/transport/shared_memory.hpp"

namespace hbench {
namespace {

/// The communicator of the ranks of one host, used during start-up.
class HostCommunicator {
 public:
  explicit HostCommunicator(int ranks_per_host) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm shared = MPI_COMM_NULL;
    succeed(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &shared),
            "MPI_Comm_split_type");
    const int host = ranks_per_host > 0 ? rank / ranks_per_host : 0;
    succeed(MPI_Comm_split(shared, host, rank, &handle_), "MPI_Comm_split");
    MPI_Comm_free(&shared);
  }
  ~HostCommunicator() { MPI_Comm_free(&handle_); }
  HostCommunicator(const HostCommunicator&) = delete;
  HostCommunicator& operator=(const HostCommunicator&) = delete;

  MPI_Comm handle() const { return handle_; }

 private:
  MPI_Comm handle_ = MPI_COMM_NULL;
};

Hosts find_hosts(MPI_Comm host) {
  Hosts hosts{.local = numbers_in(host, MPI_COMM_WORLD)};
  MPI_Comm_rank(MPI_COMM_WORLD, &hosts.rank);
  return hosts;
}

/// The first rank of the host creates the mapping and the others open it; afterwards no process can.
std::shared_ptr<SharedMemory> share_memory(MPI_Comm host, const Hosts& hosts) {
  const int ranks = hosts.local_ranks();
  const std::size_t bytes = SharedSegment::bytes(ranks, SharedSegment::good_part(ranks));
  std::array<int, 2> source{};  // process and handle
  std::shared_ptr<SharedMemory> memory;
  const bool first = hosts.local[static_cast<std::size_t>(hosts.rank)] == 0;
  if (first) {
    memory = std::make_shared<SharedMemory>(SharedMemory::create(bytes));
    source = {getpid(), memory->handle()};
  }
  succeed(MPI_Bcast(source.data(), 2, MPI_INT, 0, host), "MPI_Bcast");
  if (!first) memory = std::make_shared<SharedMemory>(SharedMemory::open(source[0], source[1], bytes));
  succeed(MPI_Barrier(host), "MPI_Barrier");
  memory->close_handle();
  return memory;
}

MPI_Datatype mpi_type(DataType type) {
  switch (type) {
    case DataType::float32:
      return MPI_FLOAT;
    case DataType::float64:
      return MPI_DOUBLE;
    case DataType::int32:
      return MPI_INT32_T;
    case DataType::int64:
      return MPI_INT64_T;
    case DataType::uint8:
      return MPI_UINT8_T;
    case DataType::float16:
    case DataType::bfloat16:
      break;
  }
  throw Error(ExitCode::usage, fmt::format("MPI has no type for {}", entry_of(type).name),
              "choose float32, or an algorithm of ours");
}

MPI_Op mpi_op(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::average:
      return MPI_SUM;
    case ReduceOp::min:
      return MPI_MIN;
    case ReduceOp::max:
      return MPI_MAX;
    case ReduceOp::product:
      return MPI_PROD;
  }
  return MPI_OP_NULL;
}

/// Blocking, because Open MPI's MPI_Iallreduce takes twice the time of its MPI_Allreduce, and a vendor collective is
/// measured at its best.
class VendorCollective final : public Operation {
 public:
  VendorCollective(MPI_Comm communicator, CollectiveKind collective, const Operand& operand)
      : communicator_(communicator),
        collective_(collective),
        operand_(operand),
        type_(mpi_type(operand.type)),
        op_(mpi_op(operand.op)),
        count_(mpi_count(static_cast<std::size_t>(operand.elements()), operand.buffer.size())) {
    MPI_Comm_size(communicator_, &ranks_);
    if ((collective == CollectiveKind::reduce_scatter || collective == CollectiveKind::all_gather) &&
        count_ % ranks_ != 0)
      throw Error(ExitCode::usage, fmt::format("{} elements do not divide among {} ranks", count_, ranks_),
                  "MPI's own reduce-scatter and all-gather take equal parts");
  }

  bool progress() override {
    if (!done_) call();
    done_ = true;
    return true;
  }

  void restart() override { done_ = false; }

  std::string waiting_for() const override { return done_ ? "" : "the other ranks in the library's collective"; }

  std::vector<Rank> waiting_ranks() const override { return {}; }

 private:
  void call() {
    std::byte* const data = operand_.buffer.data();
    switch (collective_) {
      case CollectiveKind::all_reduce:
        succeed(MPI_Allreduce(MPI_IN_PLACE, data, count_, type_, op_, communicator_), "MPI_Allreduce");
        return finish(operand_.type, operand_.op, ranks_, operand_.buffer);
      case CollectiveKind::reduce_scatter:
        return reduce_scatter();
      case CollectiveKind::all_gather:
        return succeed(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, count_ / ranks_, type_, communicator_),
                       "MPI_Allgather");
      case CollectiveKind::broadcast:
        return succeed(MPI_Bcast(data, count_, type_, 0, communicator_), "MPI_Bcast");
    }
  }

  /// MPI writes the part to the beginning of the buffer; our collectives leave it in its place.
  void reduce_scatter() {
    succeed(MPI_Reduce_scatter_block(MPI_IN_PLACE, operand_.buffer.data(), count_ / ranks_, type_, op_, communicator_),
            "MPI_Reduce_scatter_block");
    int rank = 0;
    MPI_Comm_rank(communicator_, &rank);
    const std::size_t part = operand_.buffer.size() / static_cast<std::size_t>(ranks_);
    const std::span<std::byte> own = operand_.buffer.subspan(static_cast<std::size_t>(rank) * part, part);
    if (rank != 0 && part > 0) std::memcpy(own.data(), operand_.buffer.data(), part);
    finish(operand_.type, operand_.op, ranks_, own);
  }

  MPI_Comm communicator_;
  CollectiveKind collective_;
  Operand operand_;
  MPI_Datatype type_;
  MPI_Op op_;
  int count_ = 0;
  int ranks_ = 1;
  bool done_ = false;
};

/// MPI from initialisation to finalisation. Does neither where MPI was initialised before.
class Session {
 public:
  Session() {
    int initialised = 0;
    MPI_Initialized(&initialised);
    if (initialised != 0) return;
    int level = MPI_THREAD_SINGLE;
    succeed(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread");
    ours_ = true;
    if (level < MPI_THREAD_SERIALIZED) {
      throw Error(ExitCode::environment, "this MPI does not let several threads take turns (MPI_THREAD_SERIALIZED)",
                  "use an MPI that was built with thread support");
    }
  }

  /// Does not finalise while an exception is in flight: finalising waits for all ranks, and would hide why this one
  /// fails. The launcher ends the others.
  ~Session() {
    if (ours_ && std::uncaught_exceptions() == 0) MPI_Finalize();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

 private:
  bool ours_ = false;
};

/// A communicator of our own, so that our tags match no messages of other libraries.
class Communicator {
 public:
  Communicator() {
    succeed(MPI_Comm_dup(MPI_COMM_WORLD, &handle_), "MPI_Comm_dup");
    succeed(MPI_Comm_set_errhandler(handle_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }
  ~Communicator() {
    if (std::uncaught_exceptions() == 0) MPI_Comm_free(&handle_);
  }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  MPI_Comm handle() const { return handle_; }

 private:
  MPI_Comm handle_ = MPI_COMM_NULL;
};

class MpiEndpoint final : public Endpoint {
 public:
  Transport& transport() override { return *transport_; }

  std::unique_ptr<Operation> vendor(CollectiveKind collective, const Operand& operand) override {
    return make_mpi_vendor(communicator_.handle(), collective, operand);
  }

  [[noreturn]] void abort(int exit_code) override {
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    std::abort();
  }

 private:
  Session session_;
  Communicator communicator_;
  std::unique_ptr<Transport> transport_ = make_mpi_transport(communicator_.handle());
};

}  // namespace

Availability shm_availability() { return SharedMemory::availability(); }

std::unique_ptr<Endpoint> make_shm_endpoint(int ranks_per_host) {
  std::unique_ptr<Endpoint> outer = make_mpi_endpoint();
  const HostCommunicator host(ranks_per_host);
  const Hosts hosts = find_hosts(host.handle());
  std::shared_ptr<SharedMemory> memory = share_memory(host.handle(), hosts);
  return make_shared_endpoint(std::move(memory), hosts, std::move(outer));
}

std::unique_ptr<Operation> make_mpi_vendor(MPI_Comm communicator, CollectiveKind collective, const Operand& operand) {
  return std::make_unique<VendorCollective>(communicator, collective, operand);
}

Availability mpi_availability() { return {}; }

std::string mpi_library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  if (MPI_Get_library_version(text, &length) != MPI_SUCCESS) return "";
  // Open MPI goes on with who packed it, MPICH with tabs and how it was configured.
  const std::string_view whole(text, static_cast<std::size_t>(length));
  std::string first(whole.substr(0, whole.find_first_of(",\n")));
  std::ranges::replace(first, '\t', ' ');
  return first;
}

std::unique_ptr<Endpoint> make_mpi_endpoint() { return std::make_unique<MpiEndpoint>(); }

}  // namespace hbench
