#pragma once

#include <string>
#include <vector>

namespace hbench {

/// What `--method auto` tries on a cluster: all methods whose updates are those of synchronous training, so that they
/// differ in speed and memory alone. Sharded within a node, over all, and over all with gathers of the backward pass
/// within a node; and divided by tensor groups within a node, by pipelines of up to 16 stages, and by both, with 2, 4
/// and 8 micro-batches for each stage, of 1, 2 or 4 chunks of layers. Many of them are refused for a model that they do
/// not divide or that has no room; the first is synchronous. \param gpus_per_domain the GPUs of a node, or of a domain
/// that is wider
std::vector<std::string> methods_to_search(int gpus, int gpus_per_domain);

}  // namespace hbench
