#include "bench/worker/training_request.hpp"

#include <algorithm>

#include "analysis/prediction/case_strategy.hpp"

namespace hbench {

TrainingRequest training_request(const WorkOrder& order) {
  TrainingRequest request;
  request.model = order.asked.workload;
  request.own = order.own;
  request.batch = order.asked.micro_batch();
  request.micro_batches = std::max(order.asked.accumulate, 1);
  request.image_size = order.asked.image_size;
  request.strategy = parse_strategy(order.asked);
  request.workers_per_node = workers_per_node(order.asked);
  request.world = request.strategy.world(order.asked.workers(), request.workers_per_node);
  for (Rank rank = 0; rank < request.world.ranks(); ++rank)
    request.node_of_rank.push_back(rank < request.world.workers
                                       ? rank / request.workers_per_node
                                       : (rank - request.world.workers) % std::max(order.asked.nodes, 1));
  request.warmup_steps = order.warmup_steps;
  request.steps = order.steps;
  request.budget = order.budget;
  request.timeout = order.timeout;
  request.traced_steps = order.traced_steps;
  request.delay = order.delay;
  return request;
}

}  // namespace hbench
