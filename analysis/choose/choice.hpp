#pragma once

/// Which of several clusters a training job should run on: simulated points with what they cost, weighed against what
/// the job may take. Pure.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/choose/failures.hpp"
#include "analysis/points/lead.hpp"
#include "analysis/points/points.hpp"
#include "collectives/network/price.hpp"
#include "collectives/network/profile.hpp"

namespace hbench {

/// What a job may take, and what it has to do. 0: no condition.
struct Goals {
  double efficiency = 0;          ///< at least
  bool usual_efficiency = false;  ///< nobody asked for it: answers are ordered by it, and say times and costs first
  double samples = 0;             ///< to train on, in all
  double hours = 0;               ///< at most; needs `samples`
  double budget = 0;              ///< at most; needs `samples`
  /// Of the budget and of every cost: no currency is converted to another. Empty: that of the clusters' prices.
  std::string currency{};
  /// Assumptions about failures; none: nothing interrupts a job.
  std::optional<FailureAssumptions> failures{};
};

/// Whether a goal is met, by the band of the prediction.
enum class Certainty : std::uint8_t {
  pass,    ///< all of the band meets it, and nothing that it rests on is assumed
  likely,  ///< the stated figure does
  failed,
};
/// Its name above.
std::string_view to_string(Certainty certainty);

/// A cluster as the choice sees it.
struct Offer {
  int gpus_per_node = 1;
  std::optional<double> per_node_hour{};  ///< in the currency of the goals; empty where no such price is known
  double rate_factor = 1;                 ///< the speed of one GPU may be higher or lower by this factor
  PurchaseModel purchase = PurchaseModel::on_demand;
  std::string gpu = {};              ///< of the catalogue; clusters with the same one share what is not known of it
  const Profile* cluster = nullptr;  ///< what is assumed of it, where it is given; not kept
  std::function<Interruptions(const Point&)> interruptions = {};  ///< of a job on it; empty: nothing interrupts it
};

/// One way to run the job.
struct Alternative {
  Point point;
  int nodes = 1;      ///< whole ones, which is what is paid
  int paid_gpus = 1;  ///< all of these nodes
  Band efficiency;
  Band throughput;  ///< that of the efficiency, and of the speed of one GPU as an independent one, on logarithms
  std::optional<Pace> pace;  ///< where interruptions are counted
  /// For all samples, interruptions and what they lose included; a cost only where a price is known.
  std::optional<Band> hours, cost;
  std::optional<double> cost_per_hour;
  PurchaseModel purchase = PurchaseModel::on_demand;  ///< how its nodes are bought
  std::string gpu = {};                               ///< `Offer::gpu`
  Certainty meets = Certainty::pass;                  ///< all goals: that of the hardest
  /// Keys of the figures that it rests on and that nobody states: with any of them it is likely at best.
  std::vector<std::string> assumed{};
  /// By which factor the stated figures miss the hardest goal; 1 where none is missed.
  double missed_by = 1;
  /// Other strategies on as many GPUs of this cluster that no prediction tells apart from this one, by their labels,
  /// the quickest first.
  std::vector<std::string> rivals{};
  /// The quickest other strategy, and how far this one is ahead of it.
  struct RunnerUp {
    std::string label;
    Lead behind;
  };
  std::optional<RunnerUp> runner_up{};
};

/// One thing that widens the band of an alternative, or moves it.
struct Doubt {
  std::string what;                       ///< `what its TCP streams carry is known within a factor of 4`
  std::string measurement;                ///< that would decide it
  std::optional<Narrowed> narrowed = {};  ///< `Point::narrowed`, of what makes most of its band
};

/// For certain or likely.
inline bool meets_goals(const Alternative& alternative) { return alternative.meets <= Certainty::likely; }

/// The alternatives among `points` (those with an efficiency and a known offer), in their order.
std::vector<Alternative> make_alternatives(const std::vector<Point>& points, const std::map<std::string, Offer>& offers,
                                           const Goals& goals);

/// Of each cluster and number of GPUs the strategy to take, with its rivals: the first in the order of `alternatives`
/// that is as quick as the quickest, within what no run would show, and meets the goals where that does. A rival is
/// one that it is not ahead of (`lead_of`).
std::vector<Alternative> best_strategies(const std::vector<Alternative>& alternatives);

/// Alternatives whose nodes are bought in one way.
struct Purchase {
  PurchaseModel model = PurchaseModel::on_demand;
  std::vector<Alternative> alternatives;
};

/// `alternatives` by how their nodes are bought: a price that may end the job at any time, or that is paid in advance,
/// is no match for another. The first are those on demand, with those that have no price, or where there are none the
/// next that there are; at least one.
std::vector<Purchase> by_purchase(const std::vector<Alternative>& alternatives);

/// The prices at which the order of the two best clusters changes. Of each cluster one alternative; those that meet the
/// goals are ordered by their costs, so that the price of one cluster decides as long as all others stay.
struct PriceFlip {
  std::string first, second;                                 ///< clusters
  double first_per_node_hour = 0, second_per_node_hour = 0;  ///< now
  /// How many times a node of the second a node of the first may cost until both cost the same in all; with the bands
  /// of both times as independent errors, or of two clusters with the same GPU with the band of `lead_of`, as they
  /// share its speed and what the framework costs.
  Band ratio;

  double first_may_rise_to() const { return ratio.stated * second_per_node_hour; }
  double second_must_fall_to() const { return first_per_node_hour / ratio.stated; }
};

/// Of the first two of `best_by_cluster`; empty where not both meet the goals and have a cost.
std::optional<PriceFlip> price_flip(const std::vector<Alternative>& best);

/// Returns the best alternative of each cluster, the best cluster first. What meets the goals comes before the rest,
/// where the nearest is the best. Among those that meet them the best is, where samples are counted, the cheapest, or
/// without a price what takes the fewest hours of GPUs; else the quickest.
std::vector<Alternative> best_by_cluster(const std::vector<Alternative>& alternatives);

/// The alternatives that meet the goals and of which no other is both quicker and cheaper: from the
/// quickest to the cheapest. Empty where samples are not counted or no price is known.
std::vector<Alternative> pareto_front(const std::vector<Alternative>& alternatives);

/// Samples for a dollar, or for 1 of another currency; 0 where nothing is to be paid.
double samples_for_one(double samples_per_second, double cost_per_hour);

/// The same cluster with twice as many GPUs, by the alternative there that is the quickest; null where there is none.
const Alternative* doubled(const Alternative& alternative, const std::vector<Alternative>& alternatives);

}  // namespace hbench
