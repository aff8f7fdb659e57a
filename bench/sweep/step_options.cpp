#include "bench/sweep/step_options.hpp"

#include "bench/command/values.hpp"
#include "collectives/base/table.hpp"
#include "workloads/step/precision.hpp"

namespace hbench {

void add_step_options(Arguments& app, PredictionRequest& request) {
  app.add_option("--batch", request.batch, "samples per GPU and step, or per micro-batch", in_range(1, 1'000'000));
  app.add_option("--accumulate", request.accumulate,
                 "micro-batches of --batch samples per step, whose gradients are added up", in_range(1, 1'000'000));
  app.add_option("--global-batch", request.global_batch,
                 "strong scaling: samples per step of all GPUs together (default: weak scaling)",
                 in_range(1, 1'000'000));
  app.add_option("--single-gpu-rate", request.single_gpu_rate,
                 "samples/s of one GPU that keeps all activations, in the place of the cluster's", positive_rate());
  app.add_option("--single-node-rate", request.node_rate,
                 "samples/s of all GPUs of one full node: what input and framework lose inside it is known then",
                 positive_rate());
  app.add_parsed("--rate", request.gpu_rates, parse_gpu_rates, "the same by GPU: h100=300,a100=150");
  const std::vector<std::string_view> names = names_of(recomputations());
  app.add_parsed("--recompute", request.recomputation, parse_recomputation,
                 "activations that a predicted backward pass computes again: none, selective (scores of attention), "
                 "full (each layer from its input)",
                 "none")
      ->check(one_of({names.begin(), names.end()}));
  add_optimizer_option(app, request, "measured steps sgd, others as the workload was recorded");
}

void add_optimizer_option(Arguments& app, PredictionRequest& request, const std::string& standard) {
  app.add_parsed("--optimizer", request.optimizer, parse_optimizer,
                 "sgd, momentum, nesterov, adam, adamw; parameters follow: momentum:0.8 (default: " + standard + ")");
}

void add_method_option(Arguments& app, PredictionRequest& request) {
  app.add_list("--method", request.methods,
               "training methods: synchronous, zero:2, local-sgd:8 ..., auto (comma list; default: synchronous)");
}

void add_precision_option(Arguments& app, PredictionRequest& request, const std::string& standard) {
  const std::vector<std::string_view> names = names_of(precisions());
  app.add_option(
         "--precision", request.precision,
         "float32, tf32; bf16, fp16: by autocast, whose gradients travel in float32 where a preset does not say "
         "otherwise; bf16-true: all numbers, predicted only (default: " +
             standard + ")")
      ->check(one_of({names.begin(), names.end()}));
}

}  // namespace hbench
