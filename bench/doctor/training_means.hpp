#pragma once

#include <functional>
#include <map>
#include <string>

namespace hbench {

/// What training can be measured with on a machine.
struct TrainingMeans {
  std::string no_training;  ///< why no model can be trained; empty where one can
  int gpus = 0;             ///< that models can be trained on
  std::string no_gpu;       ///< why there are none
  /// Why an executor cannot be used, by its name; those that can are not in it.
  std::map<std::string, std::string, std::less<>> absent;
};

/// Of this machine. Asks the driver where there are GPUs.
TrainingMeans own_training_means();

}  // namespace hbench
