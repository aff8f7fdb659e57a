// Endpoints whose collectives are NCCL's, and how the ranks of a job find each other for it: threads of one process, or
// processes of an MPI job.

#include <fmt/format.h>

#include <cstdlib>
#include <optional>

#include "collectives/base/error.hpp"
#include "collectives/cuda/cuda.hpp"
#include "collectives/cuda/launching_device.hpp"
#include "collectives/cuda/nccl.hpp"
#include "collectives/cuda/nccl_communicator.hpp"
#include "collectives/program/grouped_program.hpp"
#include "collectives/schedule/schedule.hpp"
#include "collectives/transport/host_place.hpp"

namespace hbench {
namespace cuda {
namespace {

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

/// Rounds of ncclSend and ncclRecv.
class NcclMessages final : public GroupedMessages {
 public:
  NcclMessages(LaunchingDevice& device, NcclCommunicator& communicator, ByteCounts& byte_counts)
      : device_(device), communicator_(communicator), byte_counts_(byte_counts) {}

  Device& device() override { return device_; }
  Turns& turns() override { return turns_; }
  ByteCounts& byte_counts() override { return byte_counts_; }
  NcclCommunicator& communicator() { return communicator_; }
  cudaStream_t stream() { return device_.queue().stream; }

  void begin() override { succeed(ncclGroupStart(), "a round of NCCL messages"); }
  void send(Rank to, std::span<const std::byte> payload) override {
    succeed(ncclSend(payload.data(), payload.size(), ncclUint8, to, communicator_.handle(), stream()), "ncclSend");
  }
  void receive(Rank from, std::span<std::byte> landing) override {
    succeed(ncclRecv(landing.data(), landing.size(), ncclUint8, from, communicator_.handle(), stream()), "ncclRecv");
  }
  void end() override { succeed(ncclGroupEnd(), "a round of NCCL messages"); }
  bool idle() override { return communicator_.idle(); }
  void cancel() override { communicator_.abort(); }

 private:
  LaunchingDevice& device_;
  NcclCommunicator& communicator_;
  ByteCounts& byte_counts_;
  Turns turns_;
};

/// NCCL's own collective, issued to the rank's stream by `progress`.
class Vendor final : public Operation {
 public:
  Vendor(NcclMessages& messages, const Transport& ranks, CollectiveKind collective, const Operand& operand)
      : messages_(messages), rank_(ranks.rank()), ranks_(ranks.size()), collective_(collective), operand_(operand) {
    const bool parts = collective == CollectiveKind::reduce_scatter || collective == CollectiveKind::all_gather;
    if (parts && operand.elements() % ranks_ != 0)
      throw Error(ExitCode::usage,
                  fmt::format("NCCL needs equal parts, and {} elements are no multiple of {} ranks", operand.elements(),
                              ranks_),
                  "choose a size that is");
  }
  ~Vendor() override {
    if (turn_) messages_.turns().leave(*turn_);
    if (stage_ == Stage::begin || stage_ == Stage::complete) return;
    messages_.cancel();
    synchronize_noexcept(messages_.device());
  }

  bool progress() override {
    if (stage_ == Stage::complete) return true;
    const bool idle = messages_.idle();
    if (stage_ == Stage::begin) begin(idle);
    if (stage_ == Stage::issued && messages_.idle()) record_end();
    if (stage_ == Stage::in_flight && messages_.device().query(end_)) stage_ = Stage::complete;
    return stage_ == Stage::complete;
  }
  void restart() override { stage_ = Stage::begin; }
  std::string waiting_for() const override {
    return stage_ == Stage::complete ? "" : "NCCL, which does not say for whom";
  }
  std::vector<Rank> waiting_ranks() const override { return {}; }

 private:
  enum class Stage { begin, issued, in_flight, complete };

  void begin(bool idle) {
    if (!turn_) turn_ = messages_.turns().take();
    if (!idle || !messages_.turns().has(*turn_)) return;
    stage_ = Stage::issued;
    succeed(issue(messages_.communicator().handle(), messages_.stream()), "NCCL");
  }

  void record_end() {
    messages_.turns().leave(*turn_);
    turn_.reset();
    end_ = messages_.device().record_event();
    stage_ = Stage::in_flight;
  }

  ncclResult_t issue(ncclComm_t communicator, cudaStream_t stream) {
    std::byte* const all = operand_.buffer.data();
    const auto count = static_cast<std::size_t>(operand_.elements());
    const std::size_t part = count / static_cast<std::size_t>(ranks_);
    std::byte* const own = all + static_cast<std::size_t>(rank_) * part * size_of(operand_.type);
    const ncclDataType_t type = nccl_type(operand_.type);
    const ncclRedOp_t op = nccl_operation(operand_.op);
    switch (collective_) {
      case CollectiveKind::all_reduce:
        return ncclAllReduce(all, all, count, type, op, communicator, stream);
      case CollectiveKind::reduce_scatter:
        return ncclReduceScatter(all, own, part, type, op, communicator, stream);
      case CollectiveKind::all_gather:
        return ncclAllGather(own, all, part, type, communicator, stream);
      case CollectiveKind::broadcast:
        return ncclBroadcast(all, all, count, type, 0, communicator, stream);
    }
    return ncclInvalidArgument;
  }

  NcclMessages& messages_;
  Rank rank_;
  int ranks_;
  CollectiveKind collective_;
  Operand operand_;
  Stage stage_ = Stage::begin;
  std::optional<Turns::Ticket> turn_;
  Event end_;
};

/// Schedules and NCCL's own collectives use NCCL on `device`, a GPU's, that of the communicator; all other messages use
/// the transport of `inner`, the same rank of the same job.
class NcclEndpoint final : public Endpoint {
 public:
  NcclEndpoint(std::shared_ptr<Endpoint> inner, std::shared_ptr<Device> device,
               std::shared_ptr<NcclCommunicator> communicator)
      : inner_(std::move(inner)),
        device_(std::move(device)),
        communicator_(std::move(communicator)),
        messages_(launching_device(*device_), *communicator_, inner_->byte_counts()) {}

  Transport& transport() override { return inner_->transport(); }
  Transport& control() override { return inner_->control(); }
  Device& device() override { return *device_; }

  std::unique_ptr<Operation> prepare(const Schedule& schedule, const Operand& operand, const Codec* codec) override {
    return std::make_unique<GroupedProgram>(plan_for(schedule, transport().rank()), messages_, operand, codec);
  }

  std::unique_ptr<Operation> vendor(CollectiveKind collective, const Operand& operand) override {
    return std::make_unique<Vendor>(messages_, transport(), collective, operand);
  }

  [[noreturn]] void abort(int exit_code) override {
    communicator_->abort();
    inner_->abort(exit_code);
    std::abort();
  }

 private:
  std::shared_ptr<Endpoint> inner_;
  std::shared_ptr<Device> device_;
  std::shared_ptr<NcclCommunicator> communicator_;
  NcclMessages messages_;
};

}  // namespace
}  // namespace cuda

namespace {

void require_nccl() {
  const Availability availability = nccl_availability();
  if (!availability.available) throw availability.error();
}

}  // namespace

Availability nccl_availability() { return cuda_availability(); }

std::string nccl_version() {
  int version = 0;
  ncclGetVersion(&version);
  return fmt::format("{}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
}

std::vector<std::unique_ptr<Endpoint>> make_nccl_endpoints(int ranks) {
  require_nccl();
  // Not the endpoints of `cuda`: NCCL needs no GPU that reaches another's memory.
  auto threads = make_thread_endpoints(ranks, [](Rank rank) { return make_cuda_device(gpu_of(rank)); });
  const auto communicators = cuda::make_nccl_communicators(ranks, cuda_devices(), kSetupTimeout);
  std::vector<std::unique_ptr<Endpoint>> endpoints;
  for (std::size_t rank = 0; rank < threads.size(); ++rank) {
    const std::shared_ptr<Endpoint> inner = std::move(threads[rank]);
    const std::shared_ptr<Device> device(inner, &inner->device());  // lives as long as its endpoint
    endpoints.push_back(std::make_unique<cuda::NcclEndpoint>(inner, device, communicators[rank]));
  }
  return endpoints;
}

std::unique_ptr<Endpoint> make_nccl_endpoint(Endpoint& home) {
  require_nccl();
  Transport& transport = home.control();
  const HostPlace place = find_host_place(transport, kSetupTimeout);
  ncclUniqueId job{};
  if (transport.rank() == 0) cuda::succeed(ncclGetUniqueId(&job), "beginning NCCL's job");
  share_from_first(transport, as_message(job), kSetupTimeout);
  const int gpu = gpu_of(place.rank);
  auto communicator = cuda::make_nccl_communicator(
      {job, transport.rank(), transport.size(), gpu, (place.most + cuda_devices() - 1) / cuda_devices()},
      kSetupTimeout);
  const std::shared_ptr<Endpoint> inner(&home, [](Endpoint*) {});
  return std::make_unique<cuda::NcclEndpoint>(inner, make_cuda_device(gpu), std::move(communicator));
}

}  // namespace hbench
