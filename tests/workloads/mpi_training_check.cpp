// Real training under MPI, as many ranks as were started: 2 workers, and dedicated servers on all further
// ranks. Ends with 0 when every worker holds what one worker with all samples ends with.

#include <fmt/format.h>

#include "tests/workloads/training_cases.hpp"

namespace hbench {
namespace {

constexpr int kWorkers = 2;

struct Variant {
  const char* algorithm;
  const char* placement = "greedy";
  const char* compressor = "none";
};

std::vector<Variant> variants(int servers) {
  if (servers == 0) return {{"ring"}, {.algorithm = "ring", .compressor = "fp16"}, {"vendor"}};
  return {{"ps"}, {"ps", "sliced"}, {.algorithm = "ps", .compressor = "fp16"}};
}

bool agrees(const TrainingRequest& request, Endpoint& endpoint) {
  const std::vector<float> trained = trained_parameters(request, endpoint);
  if (trained.empty()) return true;
  const double difference = largest_difference(trained, reference_parameters(request));
  if (difference <= tolerance(request)) return true;
  fmt::print(stderr, "rank {}: {} of {} with {}, fusion {}, ends {} away from one worker\n",
             endpoint.transport().rank(), request.strategy.algorithm.text(), request.model,
             request.strategy.compressor.text(), request.strategy.fusion.text(), difference);
  return false;
}

bool run(Endpoint& endpoint) {
  const int servers = endpoint.transport().size() - kWorkers;
  bool good = servers >= 0;
  for (const Variant& variant : variants(servers)) {
    for (const char* fusion : {"none", "horovod", "ddp"}) {
      for (const bool overlap : {true, false}) {
        TrainingRequest request = small_request("lenet5", {.workers = kWorkers, .servers = servers}, variant.algorithm);
        request.strategy.placement = &find_entry(placements(), variant.placement, "placement");
        request.strategy.compressor = parse_compressor(variant.compressor);
        request.strategy.fusion = parse_fusion(fusion);
        request.strategy.overlap = overlap;
        good = agrees(request, endpoint) && good;
      }
    }
  }
  return good;
}

}  // namespace
}  // namespace hbench

int main() {
  const std::unique_ptr<hbench::Endpoint> endpoint = hbench::make_mpi_endpoint();
  try {
    return hbench::run(*endpoint) ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "rank {}: {}\n", endpoint->transport().rank(), error.what());
    endpoint->abort(static_cast<int>(hbench::ExitCode::wrong_data));
  }
}
