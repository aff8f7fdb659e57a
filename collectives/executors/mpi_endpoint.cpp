#include <fmt/format.h>
#include <mpi.h>

#include <climits>
#include <cstdlib>
#include <cstring>
#include <exception>

#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/units_text.hpp"
#include "collectives/executors/endpoint.hpp"

namespace hbench {
namespace {

/// \throws Error when an MPI call has failed.
void succeed(int code, std::string_view what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(ExitCode::lost_rank, fmt::format("{} failed: {}", what, std::string_view(text, length)),
              "see what the other ranks said last");
}

/// MPI counts in `int`.
int count_of(std::size_t count, Bytes size) {
  if (count > INT_MAX) {
    throw Error(ExitCode::usage, fmt::format("{} in one message are more than MPI takes", format(size)),
                "choose smaller buckets, or an algorithm that cuts them into more parts");
  }
  return static_cast<int>(count);
}

class MpiTransport final : public Transport {
 public:
  explicit MpiTransport(MPI_Comm communicator) : communicator_(communicator) {
    succeed(MPI_Comm_rank(communicator_, &rank_), "MPI_Comm_rank");
    succeed(MPI_Comm_size(communicator_, &size_), "MPI_Comm_size");
  }

  Rank rank() const override { return rank_; }
  int size() const override { return size_; }

  Request send(Rank to, int tag, std::span<const std::byte> payload) override {
    const int count = bytes_of(payload.size());
    MPI_Request request = MPI_REQUEST_NULL;
    succeed(MPI_Isend(payload.data(), count, MPI_BYTE, to, tag, communicator_, &request), "MPI_Isend");
    return keep(request);
  }

  Request receive(Rank from, int tag, std::span<std::byte> payload) override {
    const int count = bytes_of(payload.size());
    MPI_Request request = MPI_REQUEST_NULL;
    succeed(MPI_Irecv(payload.data(), count, MPI_BYTE, from, tag, communicator_, &request), "MPI_Irecv");
    return keep(request);
  }

  bool test(Request request) override {
    int done = 0;
    succeed(MPI_Test(&requests_[request], &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) free_.push_back(request);
    return done != 0;
  }

  void cancel(Request request) override {
    MPI_Cancel(&requests_[request]);
    MPI_Request_free(&requests_[request]);
    free_.push_back(request);
  }

 private:
  static int bytes_of(std::size_t size) { return count_of(size, Bytes(static_cast<double>(size))); }

  Request keep(MPI_Request request) {
    if (free_.empty()) {
      free_.push_back(requests_.size());
      requests_.push_back(MPI_REQUEST_NULL);
    }
    const Request slot = free_.back();
    free_.pop_back();
    requests_[slot] = request;
    return slot;
  }

  MPI_Comm communicator_;
  int rank_ = 0;
  int size_ = 0;
  std::vector<MPI_Request> requests_;
  std::vector<Request> free_;
};

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

/// Blocks: Open MPI's MPI_Iallreduce takes twice the time of its MPI_Allreduce, and a peer is measured at its best.
class VendorCollective final : public Operation {
 public:
  VendorCollective(MPI_Comm communicator, Goal goal, const Operand& operand)
      : communicator_(communicator),
        goal_(goal),
        operand_(operand),
        type_(mpi_type(operand.type)),
        op_(mpi_op(operand.op)),
        count_(
            count_of(static_cast<std::size_t>(operand.elements()), Bytes(static_cast<double>(operand.buffer.size())))) {
    MPI_Comm_size(communicator_, &ranks_);
    if ((goal == Goal::reduce_scatter || goal == Goal::all_gather) && count_ % ranks_ != 0)
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
    switch (goal_) {
      case Goal::all_reduce:
        succeed(MPI_Allreduce(MPI_IN_PLACE, data, count_, type_, op_, communicator_), "MPI_Allreduce");
        return finish(operand_.type, operand_.op, ranks_, operand_.buffer);
      case Goal::reduce_scatter:
        return reduce_scatter();
      case Goal::all_gather:
        return succeed(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, count_ / ranks_, type_, communicator_),
                       "MPI_Allgather");
      case Goal::broadcast:
        return succeed(MPI_Bcast(data, count_, type_, 0, communicator_), "MPI_Bcast");
    }
  }

  /// MPI leaves the part at the beginning of the buffer; ours lies in its place.
  void reduce_scatter() {
    succeed(MPI_Reduce_scatter_block(MPI_IN_PLACE, operand_.buffer.data(), count_ / ranks_, type_, op_, communicator_),
            "MPI_Reduce_scatter_block");
    int rank = 0;
    MPI_Comm_rank(communicator_, &rank);
    const std::size_t part = operand_.buffer.size() / static_cast<std::size_t>(ranks_);
    const std::span<std::byte> own = operand_.buffer.subspan(static_cast<std::size_t>(rank) * part, part);
    if (rank != 0) std::memcpy(own.data(), operand_.buffer.data(), part);
    finish(operand_.type, operand_.op, ranks_, own);
  }

  MPI_Comm communicator_;
  Goal goal_;
  Operand operand_;
  MPI_Datatype type_;
  MPI_Op op_;
  int count_ = 0;
  int ranks_ = 1;
  bool done_ = false;
};

/// MPI itself, from initialisation to finalisation; leaves it alone where somebody else has it.
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

  /// Finalising waits for all ranks, and would hide why this one fails: the launcher ends the others then.
  ~Session() {
    if (ours_ && std::uncaught_exceptions() == 0) MPI_Finalize();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

 private:
  bool ours_ = false;
};

/// Our own communicator: our tags meet no one else's messages.
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
  Transport& transport() override { return transport_; }

  std::unique_ptr<Operation> vendor(Goal goal, const Operand& operand) override {
    return std::make_unique<VendorCollective>(communicator_.handle(), goal, operand);
  }

  [[noreturn]] void abort(int exit_code) override {
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    std::abort();
  }

 private:
  Session session_;
  Communicator communicator_;
  MpiTransport transport_{communicator_.handle()};
};

}  // namespace

Availability mpi_availability() { return {}; }

std::unique_ptr<Endpoint> make_mpi_endpoint() { return std::make_unique<MpiEndpoint>(); }

}  // namespace hbench
