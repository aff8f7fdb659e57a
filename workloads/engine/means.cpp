#include "workloads/engine/means.hpp"

#include <cmath>

#include "collectives/exchange/exchange.hpp"
#include "collectives/transport/transport.hpp"
#include "workloads/engine/messages.hpp"
#include "workloads/methods/step_plan.hpp"
#include "workloads/optimizers/optimizer.hpp"

namespace hbench {
namespace {

class NeighbourMean final : public Operation {
 public:
  NeighbourMean(Endpoint& endpoint, int workers, MeanRuns runs)
      : device_(endpoint.device()),
        tag_(endpoint.reserve_tag()),
        neighbours_(neighbours_of(endpoint.transport().rank(), workers)),
        runs_(std::move(runs)),
        posted_(endpoint.transport()) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < neighbours_.size(); ++i)
      for (const auto& run : runs_.own) {
        landings_.push_back(runs_.landing.subspan(at, run.size_bytes()));
        at += run.size_bytes();
      }
  }
  bool progress() override {
    if (!begun_) post();
    if (!posted_.progress()) return false;
    if (!std::exchange(complete_, true)) take_means();
    return true;
  }

  std::string waiting_for() const override { return complete_ ? "" : text_of_ranks(waiting_ranks()); }
  std::vector<Rank> waiting_ranks() const override { return posted_.peers(); }

 private:
  void post() {
    begun_ = true;
    const std::size_t runs = runs_.own.size();
    for (std::size_t i = 0; i < landings_.size(); ++i) posted_.receive(neighbours_[i / runs], tag_, landings_[i]);
    for (const Rank to : neighbours_)
      for (const auto& run : runs_.own) posted_.send(to, tag_, std::as_bytes(run));
  }

  void take_means() {
    const std::size_t runs = runs_.own.size();
    for (std::size_t run = 0; run < runs; ++run) {
      const std::span<std::byte> mean = std::as_writable_bytes(runs_.means[run]);
      device_.copy(std::as_bytes(runs_.own[run]), mean);
      for (std::size_t i = run; i < landings_.size(); i += runs)
        device_.accumulate(DataType::float32, ReduceOp::sum, landings_[i], mean);
      device_.finish(DataType::float32, ReduceOp::average, static_cast<int>(neighbours_.size()) + 1, mean);
    }
  }

  Device& device_;
  int tag_;
  std::vector<Rank> neighbours_;
  MeanRuns runs_;
  std::vector<std::span<std::byte>> landings_;  ///< of each neighbour, by run
  PostedMessages posted_;
  bool begun_ = false, complete_ = false;
};

constexpr std::string_view kTakingMean = "taking the mean of all workers' parameters";

double sum_of_squares(std::span<const float> numbers) {
  double sum = 0;
  for (const float each : numbers) sum += static_cast<double>(each) * each;
  return sum;
}

/// On rank 0 the sum over all workers.
std::optional<double> sum_on_first(double own, const TrainingRequest& request, Transport& transport) {
  if (transport.rank() != 0) {
    Outbox outbox(transport);
    outbox.send(0, kConsensusTag, own);
    flush(outbox, request.timeout, kTakingMean);
    return std::nullopt;
  }
  for (Rank rank = 1; rank < request.world.workers; ++rank) {
    double other = 0;
    receive_now(transport, rank, kConsensusTag, as_message(other), request.timeout, kTakingMean);
    own += other;
  }
  return own;
}

}  // namespace

std::unique_ptr<Operation> Neighbours::exchange(const Bucket& bucket) {
  MeanRuns runs;
  std::size_t bytes = 0;
  for (const ElementRange& range : ranges_of(bucket, offsets_)) {
    const auto first = static_cast<std::size_t>(range.begin), elements = static_cast<std::size_t>(range.size());
    runs.own.emplace_back(memory_.parameters.subspan(first, elements));
    runs.means.push_back(memory_.means.subspan(first, elements));
    bytes += runs.own.back().size_bytes();
  }
  bytes *= neighbours_of(endpoint_.transport().rank(), workers_).size();
  DeviceMemory& landing = landings_[bucket];
  if (landing == nullptr) landing = endpoint_.device().allocate(bytes);
  runs.landing = {landing.get(), bytes};
  return make_neighbour_mean(endpoint_, workers_, std::move(runs));
}

std::unique_ptr<Operation> make_neighbour_mean(Endpoint& endpoint, int workers, MeanRuns runs) {
  return std::make_unique<NeighbourMean>(endpoint, workers, std::move(runs));
}

std::optional<double> take_common_mean(const TrainingRequest& request, Endpoint& endpoint, const ModelMemory& memory) {
  Device& device = endpoint.device();
  const DeviceNumbers parameters(memory.parameters, device);
  DeviceNumbers before(memory.means, device);
  before.assign(parameters);
  Operand operand = Operand::of(memory.parameters);
  operand.op = ReduceOp::average;
  const auto bytes = static_cast<std::int64_t>(memory.parameters.size_bytes());
  const auto mean = prepare_exchange(endpoint, {.world = request.world,
                                                .algorithm = request.strategy.algorithm.at(bytes),
                                                .compressor = parse_compressor("none"),
                                                .operand = operand});
  wait_for(*mean, request.timeout, kTakingMean);
  before.add(parameters, -1);
  std::vector<float> distances(memory.means.size());
  device.read(std::as_bytes(memory.means), std::as_writable_bytes(std::span(distances)));
  const auto all = sum_on_first(sum_of_squares(distances), request, endpoint.control());
  if (!all) return std::nullopt;
  return std::sqrt(*all / (static_cast<double>(memory.parameters.size()) * request.world.workers));
}

}  // namespace hbench
