#pragma once

/// `hbench choose`: simulates a training job on clusters, and says where it should run.

#include <chrono>
#include <string>
#include <vector>

#include "analysis/choose/choice.hpp"
#include "analysis/choose/interruptions.hpp"
#include "analysis/prediction/data.hpp"
#include "analysis/prediction/plan.hpp"

namespace hbench {

/// The job in the words of its flags; empty where nothing is said. \throws Error (usage) that names the flag.
struct GoalTexts {
  std::string target;    ///< `90%`, `0.9`
  std::string samples;   ///< `115M`
  std::string epochs;    ///< of ImageNet's 1,281,167 images
  std::string deadline;  ///< `6h`, `90min`, `2d`
  std::string budget;    ///< `500usd`, `40000inr`
  FailureTexts failures;
};
/// Without any condition an efficiency of 90 % is asked for.
Goals parse_goals(const GoalTexts& texts);

/// Alternatives and what they were made of.
struct Choice {
  Goals goals;
  std::string workload;                   ///< its title
  std::string timeline;                   ///< its name
  std::string flags;                      ///< of the step, as they were typed, for commands that are advised
  std::vector<std::string> profiles;      ///< as they were typed, for the same
  double single_gpu_rate = 0;             ///< samples/s of one GPU given for all clusters; 0: each has its own
  std::vector<Alternative> alternatives;  ///< of each cluster and number of GPUs the strategy to take
  Catalog catalog;
  std::vector<Refusal> refused;
  /// The efficiency of the best where it misses the one that is asked for, on a network of any rate; 0: not simulated.
  double on_any_network = 0;
  std::chrono::sys_days today{};  ///< what prices are too old for; they are taken as they are where it is not set
};

/// Simulates `request`, which has one workload and simulated evidence only. \throws Error as `plan_predictions`,
/// (interrupted) after a stop, (usage) for goals that cannot be met at ideal speed.
Choice choose(const PredictionRequest& request, const Goals& goals, const Data& data,
              const SimulationMeans& means = {});

/// By what factor the speed of one GPU may be off, where that is more than usual; else 1.
double uncertain_rate(const Choice& choice, const Profile& profile);

/// The doubts about `alternative`, which is one of `choice`: what is not known for sure of its network and GPU, what
/// nobody states, and which measurement would decide it. Pure.
std::vector<Doubt> doubts_of(const Choice& choice, const Alternative& alternative);

}  // namespace hbench
