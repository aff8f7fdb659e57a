#include <fmt/format.h>

#include <cstdlib>
#include <thread>

#include "collectives/base/error.hpp"
#include "collectives/cuda/cuda_device.hpp"
#include "collectives/cuda/nccl_communicator.hpp"
#include "collectives/executors/cuda.hpp"
#include "collectives/executors/cuda_endpoints.hpp"
#include "collectives/executors/grouped_program.hpp"
#include "collectives/executors/nccl.hpp"

namespace hbench {
namespace cuda {
namespace {

using Communicators = std::vector<std::shared_ptr<NcclCommunicator>>;

ncclDataType_t nccl_type(DataType type) {
  switch (type) {
    case DataType::float32:
      return ncclFloat32;
    case DataType::float64:
      return ncclFloat64;
    case DataType::float16:
      return ncclFloat16;
    case DataType::bfloat16:
      return ncclBfloat16;
    case DataType::int32:
      return ncclInt32;
    case DataType::int64:
      return ncclInt64;
    case DataType::uint8:
      return ncclUint8;
  }
  return ncclUint8;
}

ncclRedOp_t nccl_operation(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
      return ncclSum;
    case ReduceOp::average:
      return ncclAvg;
    case ReduceOp::min:
      return ncclMin;
    case ReduceOp::max:
      return ncclMax;
    case ReduceOp::product:
      return ncclProd;
  }
  return ncclSum;
}

/// When one rank gives up, no other can go on.
void abort_all(const Communicators& communicators) {
  for (const auto& communicator : communicators) communicator->abort();
}

/// NCCL's own collective, told to the rank's stream at the first look.
class Vendor final : public Operation {
 public:
  Vendor(CudaDevice& device, std::shared_ptr<Communicators> job, Rank rank, Goal goal, const Operand& operand)
      : device_(device), job_(std::move(job)), rank_(rank), goal_(goal), operand_(operand) {
    const bool parts = goal == Goal::reduce_scatter || goal == Goal::all_gather;
    if (parts && operand.elements() % std::ssize(*job_) != 0)
      throw Error(ExitCode::usage,
                  fmt::format("NCCL needs equal parts, and {} elements are no multiple of {} ranks", operand.elements(),
                              job_->size()),
                  "choose a size that is");
  }
  ~Vendor() override {
    if (!told_ || device_.passed(end_)) return;
    abort_all(*job_);
    while (!device_.passed(end_)) std::this_thread::yield();
  }
  Vendor(const Vendor&) = delete;
  Vendor& operator=(const Vendor&) = delete;

  bool progress() override {
    const NcclCommunicator& own = *(*job_)[static_cast<std::size_t>(rank_)];
    own.check();
    if (!told_) {
      succeed(tell(own.handle()), "NCCL");
      end_ = device_.mark();
      told_ = true;
    }
    return device_.passed(end_);
  }
  void restart() override { told_ = false; }
  std::string waiting_for() const override { return "NCCL, which does not say for whom"; }
  std::vector<Rank> waiting_ranks() const override { return {}; }

 private:
  ncclResult_t tell(ncclComm_t communicator) {
    cudaStream_t stream = device_.queue().stream;
    std::byte* const all = operand_.buffer.data();
    const auto count = static_cast<std::size_t>(operand_.elements());
    const std::size_t part = count / job_->size();
    std::byte* const own = all + static_cast<std::size_t>(rank_) * part * size_of(operand_.type);
    const ncclDataType_t type = nccl_type(operand_.type);
    const ncclRedOp_t op = nccl_operation(operand_.op);
    switch (goal_) {
      case Goal::all_reduce:
        return ncclAllReduce(all, all, count, type, op, communicator, stream);
      case Goal::reduce_scatter:
        return ncclReduceScatter(all, own, part, type, op, communicator, stream);
      case Goal::all_gather:
        return ncclAllGather(own, all, part, type, communicator, stream);
      case Goal::broadcast:
        return ncclBroadcast(all, all, count, type, 0, communicator, stream);
    }
    return ncclInvalidArgument;
  }

  CudaDevice& device_;
  std::shared_ptr<Communicators> job_;
  Rank rank_;
  Goal goal_;
  Operand operand_;
  bool told_ = false;
  Moment end_;
};

/// Rounds of ncclSend and ncclRecv.
class NcclMessages final : public GroupedMessages {
 public:
  NcclMessages(CudaDevice& device, std::shared_ptr<Communicators> job, Rank rank)
      : device_(device), job_(std::move(job)), rank_(rank) {}

  Device& device() override { return device_; }
  void begin() override {
    own().check();
    succeed(ncclGroupStart(), "a round of NCCL messages");
  }
  void send(Rank to, std::span<const std::byte> payload) override {
    succeed(ncclSend(payload.data(), payload.size(), ncclUint8, to, own().handle(), device_.queue().stream),
            "ncclSend");
  }
  void receive(Rank from, std::span<std::byte> landing) override {
    succeed(ncclRecv(landing.data(), landing.size(), ncclUint8, from, own().handle(), device_.queue().stream),
            "ncclRecv");
  }
  void end() override { succeed(ncclGroupEnd(), "a round of NCCL messages"); }
  void check() override { own().check(); }
  void abandon() override { abort_all(*job_); }

 private:
  NcclCommunicator& own() const { return *(*job_)[static_cast<std::size_t>(rank_)]; }

  CudaDevice& device_;
  std::shared_ptr<Communicators> job_;
  Rank rank_;
};

/// Messages of other kinds go between the threads, as they do without NCCL.
class NcclEndpoint final : public Endpoint {
 public:
  NcclEndpoint(std::unique_ptr<Endpoint> threads, std::shared_ptr<Communicators> job)
      : threads_(std::move(threads)),
        job_(std::move(job)),
        device_(cuda_device(threads_->transport().device())),
        messages_(device_, job_, threads_->transport().rank()) {}

  Transport& transport() override { return threads_->transport(); }

  std::unique_ptr<Operation> prepare(const Schedule& schedule, const Operand& operand, const Codec* codec) override {
    if (codec != nullptr)
      throw Error(ExitCode::usage, "NCCL's messages are sent as they are, without a compressor that encodes each",
                  "choose another compressor, or the executor cuda");
    return std::make_unique<GroupedProgram>(plan_for(schedule, transport().rank()), messages_, operand);
  }

  std::unique_ptr<Operation> vendor(Goal goal, const Operand& operand) override {
    return std::make_unique<Vendor>(device_, job_, transport().rank(), goal, operand);
  }

  [[noreturn]] void abort(int exit_code) override {
    abort_all(*job_);
    threads_->abort(exit_code);
    std::abort();
  }

 private:
  std::unique_ptr<Endpoint> threads_;
  std::shared_ptr<Communicators> job_;
  CudaDevice& device_;
  NcclMessages messages_;
};

}  // namespace
}  // namespace cuda

Availability nccl_availability() { return cuda_availability(); }

std::vector<std::unique_ptr<Endpoint>> make_nccl_endpoints(int ranks) {
  const Availability availability = nccl_availability();
  if (!availability.available) throw Error(ExitCode::environment, availability.reason, availability.cure);
  auto threads = make_cuda_endpoints(ranks);
  const auto job = std::make_shared<cuda::Communicators>(cuda::make_nccl_communicators(ranks, cuda_devices()));
  std::vector<std::unique_ptr<Endpoint>> endpoints;
  for (auto& each : threads) endpoints.push_back(std::make_unique<cuda::NcclEndpoint>(std::move(each), job));
  return endpoints;
}

}  // namespace hbench
