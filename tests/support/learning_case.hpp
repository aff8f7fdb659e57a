#pragma once

#include "analysis/records/records.hpp"

namespace hbench {

/// cnn1d on mnist1d by a ring of two ranks.
inline Case learning_case(const char* compressor, int epochs) {
  Case asked;
  asked.workload = "cnn1d";
  asked.gpus = 2;
  asked.batch_per_gpu = 50;
  asked.strategy.algorithm = "ring";
  asked.strategy.compressor = compressor;
  asked.training.data = "mnist1d";
  asked.training.epochs = epochs;
  return asked;
}

}  // namespace hbench
