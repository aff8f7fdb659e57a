#include "collectives/endpoints/endpoint.hpp"

#include <cstdlib>
#include <utility>

#include "collectives/base/error.hpp"
#include "collectives/program/rank_program.hpp"
#include "collectives/schedule/schedule.hpp"
#include "collectives/transport/emulated_transport.hpp"
#include "collectives/transport/thread_transport.hpp"

namespace hbench {
namespace {

/// Tags that are reserved begin here; lower ones are their owner's.
constexpr int kFirstTag = 20000;
constexpr int kTags = 8192;

class ThreadEndpoint final : public Endpoint {
 public:
  ThreadEndpoint(std::shared_ptr<ThreadJob> job, Rank rank, std::shared_ptr<Device> device)
      : job_(std::move(job)),
        device_(std::move(device)),
        doorbell_(job_->doorbell(rank)),
        transport_(job_->make_transport(ThreadJob::Channel::data, rank, *device_)),
        control_(job_->make_transport(ThreadJob::Channel::control, rank, host_device())) {}

  Transport& transport() override { return *transport_; }
  Transport& control() override { return *control_; }
  Doorbell* doorbell() override { return device_.get() == &host_device() ? &doorbell_ : nullptr; }

  [[noreturn]] void abort(int exit_code) override {
    job_->stop(transport_->rank(), exit_code);
    throw_stopped(transport_->rank(), exit_code);
  }

 private:
  std::shared_ptr<ThreadJob> job_;
  std::shared_ptr<Device> device_;
  FutexDoorbell doorbell_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Transport> control_;
};

EmulatedCosts without_servers(EmulatedCosts costs) {
  for (double& seconds : costs.server_seconds_per_byte) seconds = 0;
  return costs;
}

/// Collectives and control messages both travel on the emulated network; only what is reduced passes servers.
class EmulatedEndpoint final : public Endpoint {
 public:
  EmulatedEndpoint(Endpoint& inner, const EmulatedCosts& costs, std::unique_ptr<Transport> control)
      : inner_(inner),
        transport_(make_emulated_transport(inner.transport(), costs)),
        control_(control != nullptr ? std::move(control)
                                    : make_emulated_transport(inner.control(), without_servers(costs))) {}

  Transport& transport() override { return *transport_; }
  Transport& control() override { return *control_; }
  Device& device() override { return inner_.device(); }
  std::span<std::byte> allocate(std::size_t bytes) override { return inner_.allocate(bytes); }
  [[noreturn]] void abort(int exit_code) override {
    inner_.abort(exit_code);
    std::abort();
  }

 private:
  Endpoint& inner_;
  std::unique_ptr<Transport> transport_, control_;
};

Schedule build_in_groups(const AlgorithmChoice& algorithm, const World& world, int segments, const RankGroups& groups) {
  if (groups.all()) return algorithm.build(world, segments);
  const World group{.workers = groups.size_among(world.workers)};
  return to_transfers(in_groups(to_runs(algorithm.build(group, segments)), world.workers, groups));
}

}  // namespace

std::span<std::byte> Endpoint::allocate(std::size_t bytes) {
  memory_.push_back(device().allocate(bytes));
  const std::span<std::byte> memory(memory_.back().get(), bytes);
  device().fill_neutral(DataType::uint8, ReduceOp::sum, memory);
  return memory;
}

int Endpoint::reserve_tag() { return kFirstTag + reserved_++ % kTags; }

std::unique_ptr<Operation> Endpoint::prepare(const Schedule& schedule, const Operand& operand, const Codec* codec) {
  return make_rank_program(plan_for(schedule, transport().rank()), codec, transport(), reserve_tag(), operand);
}

std::unique_ptr<Operation> Endpoint::vendor(CollectiveKind, const Operand&) {
  throw Error(ExitCode::usage, "there is no library, and so no all-reduce of its own, between threads",
              "choose another algorithm, or the executor mpi");
}

std::vector<std::unique_ptr<Endpoint>> make_thread_endpoints(int ranks, const DeviceFactory& device) {
  const auto job = std::make_shared<ThreadJob>(ranks);
  std::vector<std::unique_ptr<Endpoint>> endpoints;
  for (Rank rank = 0; rank < ranks; ++rank) {
    auto own = device ? device(rank) : shared_host_device();
    endpoints.push_back(std::make_unique<ThreadEndpoint>(job, rank, std::move(own)));
  }
  return endpoints;
}

std::unique_ptr<Endpoint> make_emulated_endpoint(Endpoint& inner, const EmulatedCosts& costs,
                                                 std::unique_ptr<Transport> control) {
  return std::make_unique<EmulatedEndpoint>(inner, costs, std::move(control));
}

const Schedule& ScheduleCache::of(const AlgorithmChoice& algorithm, const World& world, int segments,
                                  std::span<const Shard> shards, const RankGroups& groups) {
  if (!shards.empty()) return placed_ = algorithm.build(world, segments, shards);
  const Key key{algorithm.algorithm, algorithm.parameters, world, segments, groups};
  if (const auto known = built_.find(key); known != built_.end()) return known->second;
  if (kept_ > most_) {
    built_.clear();
    kept_ = 0;
  }
  const Schedule& built = built_.emplace(key, build_in_groups(algorithm, world, segments, groups)).first->second;
  kept_ += built.transfers.size();
  return built;
}

}  // namespace hbench
