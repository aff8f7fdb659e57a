#include <fmt/format.h>

#include <cstring>

#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/base/error.hpp"
#include "collectives/transport/mpi_support.hpp"

namespace hbench {
namespace {

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

}  // namespace

std::unique_ptr<Operation> make_mpi_vendor(MPI_Comm communicator, CollectiveKind collective, const Operand& operand) {
  return std::make_unique<VendorCollective>(communicator, collective, operand);
}

}  // namespace hbench
