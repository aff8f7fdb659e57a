#include <cstdlib>
#include <utility>

#include "collectives/endpoints/endpoint.hpp"
#include "collectives/transport/emulated_transport.hpp"

namespace hbench {
namespace {

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

}  // namespace

std::unique_ptr<Endpoint> make_emulated_endpoint(Endpoint& inner, const EmulatedCosts& costs,
                                                 std::unique_ptr<Transport> control) {
  return std::make_unique<EmulatedEndpoint>(inner, costs, std::move(control));
}

}  // namespace hbench
