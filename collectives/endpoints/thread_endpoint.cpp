#include <vector>

#include "collectives/endpoints/endpoint.hpp"
#include "collectives/transport/thread_transport.hpp"

namespace hbench {
namespace {

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

}  // namespace

std::vector<std::unique_ptr<Endpoint>> make_thread_endpoints(int ranks, const DeviceFactory& device) {
  const auto job = std::make_shared<ThreadJob>(ranks);
  std::vector<std::unique_ptr<Endpoint>> endpoints;
  for (Rank rank = 0; rank < ranks; ++rank) {
    auto own = device ? device(rank) : shared_host_device();
    endpoints.push_back(std::make_unique<ThreadEndpoint>(job, rank, std::move(own)));
  }
  return endpoints;
}

}  // namespace hbench
