#include "bench/sweep/batch_options.hpp"

#include "bench/command/values.hpp"

namespace hbench {

void add_batch_options(Arguments& app, PredictionRequest& request) {
  app.add_option("--batch", request.batch, "samples per GPU and step, or per micro-batch", in_range(1, 1'000'000));
  app.add_option("--accumulate", request.accumulate,
                 "micro-batches of --batch samples per step; gradients travel with the last one",
                 in_range(1, 1'000'000));
  app.add_option("--global-batch", request.global_batch,
                 "strong scaling: samples per step of all GPUs together (default: weak scaling)",
                 in_range(1, 1'000'000));
}

void add_method_option(Arguments& app, PredictionRequest& request) {
  app.add_list(
      "--method", request.methods,
      "training methods: synchronous, zero:2, local-sgd:8 ... (comma list; default: synchronous; the others are "
      "simulated)");
}

}  // namespace hbench
