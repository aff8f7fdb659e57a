// Real training under MPI, as many ranks as were started: 2 workers, and dedicated servers on all further
// ranks. Ends with 0 when every worker holds what one worker with all samples ends with, and each method sends what its
// closed form says.

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

/// The models that a worker sends in a step, and gets from a server.
bool sends(const char* method, double models, const TrainingRequest& like, Endpoint& endpoint) {
  TrainingRequest request = like;
  request.strategy.method = parse_method(method);
  std::optional<Moved> sent;
  const std::vector<float> trained = trained_parameters(request, endpoint, &sent);
  const double expected = models * static_cast<double>(trained.size() * sizeof(float));
  if (trained.empty() || (sent && sent->within + sent->between == expected)) return true;
  fmt::print(stderr, "rank {}: {} sends {} bytes of {}\n", endpoint.transport().rank(), method,
             sent ? sent->within + sent->between : 0, expected);
  return false;
}

/// Two workers: a ring sends half of a model in each of its two steps.
bool all_send(Endpoint& endpoint, int servers) {
  const TrainingRequest request =
      small_request("lenet5", {.workers = kWorkers, .servers = servers}, servers > 0 ? "ps" : "ring");
  using Models = std::vector<std::pair<const char*, double>>;
  bool good = true;
  for (const auto& [method, models] :
       servers > 0 ? Models{{"synchronous", 2}, {"local-sgd:2", 1}, {"async-ps", 2}, {"ssp:1", 2}}
                   : Models{{"synchronous", 1},
                            {"zero:1", 1},
                            {"zero:2", 1},
                            {"local-sgd:2", 0.5},
                            {"post-local-sgd:2:2", 0.5},
                            {"diloco:2", 0.5},
                            {"decentralized", 1},
                            {"gossip", 2}})
    good = sends(method, models, request, endpoint) && good;
  return good;
}

bool run(Endpoint& endpoint) {
  const int servers = endpoint.transport().size() - kWorkers;
  bool good = servers >= 0 && all_send(endpoint, servers);
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
