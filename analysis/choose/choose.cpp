#include "analysis/choose/choose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "analysis/choose/interruptions.hpp"
#include "analysis/points/points.hpp"
#include "analysis/prediction/by_library.hpp"
#include "analysis/prediction/one_gpu.hpp"
#include "analysis/prediction/simulate.hpp"
#include "analysis/prediction/simulate_each.hpp"
#include "analysis/prediction/varied_network.hpp"
#include "analysis/published/published.hpp"
#include "collectives/base/table.hpp"
#include "collectives/base/text.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

/// Training images of ILSVRC 2012.
constexpr double kImageNet = 1'281'167;
constexpr double kUsualTarget = 0.9;

/// Parameter servers that no preset has are asked for on every cluster and GPU count, and in vain where nothing leaves
/// the node.
void refuse_servers_on_one_node(Plan& plan, const std::vector<std::string>& presets) {
  std::erase_if(plan.cases, [&](const Case& asked) {
    const bool one_node = plan.catalog.profiles.at(asked.profile).domains_of(asked.gpus) == 1;
    const bool in_vain = one_node && asked.strategy.uses_servers() && !contains(presets, asked.strategy.preset);
    if (in_vain)
      refuse(plan.refused, "parameter servers on one node",
             "its ranks add up among themselves either way; take a ring");
    return in_vain;
  });
}

/// A step that was recorded elsewhere does not tell how fast the GPUs of a cluster are.
void refuse_recorded_rates(Plan& plan) {
  std::erase_if(plan.cases, [&](const Case& asked) {
    if (!has_recorded_rate(asked)) return false;
    refuse(plan.refused, asked.profile,
           "its GPU is not what the timeline was recorded on; give --single-gpu-rate SAMPLES_PER_SECOND or a [rates] "
           "entry");
    return true;
  });
}

/// Dollars, unless only other prices are known.
std::string usual_currency(const Catalog& catalog) {
  std::string known = "USD";
  for (const auto& [name, profile] : catalog.profiles) {
    if (!profile.price) continue;
    known = profile.price->per_node_hour.currency;
    if (known == "USD") break;
  }
  return known;
}

/// Refuses, where a budget is given, the clusters that it cannot be compared with.
std::map<std::string, Offer> make_offers(Plan& plan, const Goals& goals) {
  const std::string& workload = plan.catalog.traces.begin()->first;
  const auto rate_factor = [&](const Profile& profile) {
    const auto rate = profile.rates.find(workload);
    return rate == profile.rates.end() ? 1 : rate->second.factor;
  };
  std::map<std::string, Offer> offers;
  for (const auto& [name, profile] : plan.catalog.profiles) {
    const bool comparable = profile.price && profile.price->per_node_hour.currency == goals.currency;
    if (goals.budget > 0 && !profile.price)
      refuse(plan.refused, name, "no price is known");
    else if (goals.budget > 0 && !comparable)
      refuse(plan.refused, name,
             fmt::format("its price is in {} and the budget in {}, and no currency is converted",
                         profile.price->per_node_hour.currency, goals.currency));
    else
      offers[name] = {profile.gpus_per_node,
                      comparable ? std::optional(profile.price->per_node_hour.amount) : std::nullopt,
                      rate_factor(profile),
                      comparable ? profile.price->model : PurchaseModel::on_demand,
                      profile.gpu,
                      &profile,
                      goals.failures ? std::function([&](const Point& point) {
                        return interruptions_of(*goals.failures, point, plan.catalog);
                      })
                                     : nullptr};
  }
  return offers;
}

/// Returns the doubt about figures of the cluster that nobody states and that count for the alternative.
std::optional<Doubt> doubt_of_assumptions(const Alternative& alternative, const Profile& profile) {
  std::string keys;
  double most = 1;
  bool network = false;
  for (const Figure& figure : profile.assumed_for(alternative.point.asked.gpus)) {
    keys += (keys.empty() ? "" : ", ") + figure.key;
    most = std::max(most, figure.assumed);
    network |= figure.key.starts_with("network.");
  }
  if (keys.empty()) return std::nullopt;
  return Doubt{fmt::format("nobody states {}: assumed, and up to {:g} times higher or lower", keys, most),
               network ? "nccl-tests on two nodes, for hbench calibrate --from" : "hbench calibrate on one node"};
}

std::optional<Doubt> doubt_of_network(const Alternative& alternative, const Profile& profile) {
  if (profile.domains_of(alternative.point.asked.gpus) == 1) return std::nullopt;
  if (alternative.point.asked.strategy.uses_servers() && profile.server_factor > 1)
    return Doubt{
        fmt::format("what its parameter servers handle is known within a factor of {:g}", profile.server_factor),
        "steps with servers on two nodes, for hbench calibrate --from"};
  if (profile.stream_factor > 1)
    return Doubt{fmt::format("what its TCP streams carry is known within a factor of {:g}", profile.stream_factor),
                 "hbench collective, or nccl-tests, on two nodes"};
  return std::nullopt;
}

/// Returns `Choice::on_any_network`, so that no network is advised where it would not help.
double on_any_network(const Choice& choice, const StopRequested& stop) {
  if (choice.alternatives.empty()) return 0;
  const Alternative best = best_by_cluster(by_purchase(choice.alternatives).front().alternatives).front();
  const Case& asked = best.point.asked;
  if (best.efficiency.stated >= choice.goals.efficiency ||
      choice.catalog.profiles.at(asked.profile).domains_of(asked.gpus) == 1)
    return 0;
  VariedNetwork network(choice.catalog, stop);
  const SimulatedStep& step = network.step(planned(asked), kUnlimited);
  return step.times.alone / step.step();
}

}  // namespace

Goals parse_goals(const GoalTexts& texts) {
  Goals goals;
  if (!texts.target.empty()) goals.efficiency = parse_target_efficiency(texts.target);
  if (!texts.samples.empty() && !texts.epochs.empty())
    throw Error(ExitCode::usage, "--samples and --epochs both say how much to train", "give one of them");
  if (!texts.samples.empty())
    goals.samples =
        parse_flag_amount(texts.samples, "--samples", {{"", 1}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}}, "115M");
  if (!texts.epochs.empty()) goals.samples = kImageNet * parse_flag_amount(texts.epochs, "--epochs", {{"", 1}}, "90");
  if (!texts.deadline.empty()) goals.hours = parse_flag_hours(texts.deadline, "--deadline", "6h, 90min or 2d");
  if (!texts.budget.empty()) {
    const auto budget = parse_money(texts.budget);
    if (!budget)
      throw Error(ExitCode::usage, fmt::format("--budget {} is invalid", texts.budget),
                  "write such as 500usd: a number and the three letters of a currency");
    goals.budget = budget->amount;
    goals.currency = budget->currency;
  }
  if ((goals.hours > 0 || goals.budget > 0) && goals.samples == 0)
    throw Error(ExitCode::usage, "a deadline or a budget needs to know how much to train",
                "add --samples 115M, or --epochs 90 for ImageNet");
  goals.failures = parse_failures(texts.failures);
  goals.usual_efficiency = goals.efficiency == 0 && goals.hours == 0 && goals.budget == 0;
  if (goals.usual_efficiency) goals.efficiency = kUsualTarget;
  return goals;
}

Choice choose(const PredictionRequest& request, const Goals& asked_goals, const Data& data,
              const SimulationMeans& means) {
  Plan plan = plan_predictions(request, data, {.memory = means.memory});
  refuse_servers_on_one_node(plan, request.presets);
  refuse_recorded_rates(plan);
  Goals goals = asked_goals;
  if (goals.currency.empty()) goals.currency = usual_currency(plan.catalog);
  // A rate that was given is as good as measured, whatever a profile says of that GPU.
  for (auto& [name, profile] : plan.catalog.profiles)
    std::erase_if(profile.rates, [&, given = request.rate_on(profile.gpu)](const auto& each) {
      return given > 0 && !(each.second.node > 0 && each.second.samples_per_second == given);
    });
  const std::map<std::string, Offer> offers = make_offers(plan, goals);
  means.more(simulation_time(plan.cases, plan.catalog));
  std::vector<CaseResult> results = simulate_all(plan.cases, plan.catalog, means);
  for (const PlannedCase* flat : flat_cases(plan))
    compare_with_library(results[static_cast<std::size_t>(flat - plan.cases.data())], *flat, plan.catalog, means.memory,
                         means.stop);
  Choice choice{.goals = goals,
                .workload = plan.catalog.traces.begin()->second.title,
                .timeline = plan.catalog.traces.begin()->first,
                .single_gpu_rate = request.single_gpu_rate,
                .alternatives = best_strategies(make_alternatives(make_points(results), offers, goals)),
                .catalog = std::move(plan.catalog),
                .refused = std::move(plan.refused)};
  choice.on_any_network = on_any_network(choice, means.stop);
  return choice;
}

double uncertain_rate(const Choice& choice, const Profile& profile) {
  const auto rate = profile.rates.find(choice.timeline);
  const bool known = choice.single_gpu_rate > 0 || rate == profile.rates.end();
  return known || rate->second.factor <= kUsualRateFactor ? 1 : rate->second.factor;
}

std::vector<Doubt> doubts_of(const Choice& choice, const Alternative& alternative) {
  const Profile& profile = choice.catalog.profiles.at(alternative.point.asked.profile);
  std::vector<Doubt> doubts;
  if (auto doubt = doubt_of_network(alternative, profile)) doubts.push_back(std::move(*doubt));
  if (auto doubt = doubt_of_assumptions(alternative, profile)) doubts.push_back(std::move(*doubt));
  if (contains(alternative.assumed, "price.retrieved"))
    doubts.push_back({"nobody states when its price was read: a third higher or lower",
                      "a price of today in a profile of your own"});
  if (const double factor = uncertain_rate(choice, profile); factor > 1)
    doubts.push_back({fmt::format("the samples/s of one GPU are {}known within a factor of {:g}",
                                  has_modelled_rate(alternative.point.asked) ? "modelled, and " : "", factor),
                      "hbench calibrate on one GPU"});
  const Case& asked = alternative.point.asked;
  if (alternative.point.rate_factor > 1)
    doubts.push_back(
        {fmt::format("the samples/s of one GPU at a batch of {}: from those at {}, within a factor of {:.2g}",
                     asked.micro_batch(), one_gpu(planned(asked), choice.catalog).known_at,
                     alternative.point.rate_factor),
         fmt::format("hbench calibrate --batch {} on one GPU", asked.micro_batch())});
  if (std::string doubt = warn_of_batch(asked); !doubt.empty())
    doubts.push_back({std::move(doubt), "a training to its end, or a smaller --global-batch"});
  if (alternative.pace)
    std::ranges::move(doubts_of_failures(*choice.goals.failures, alternative, profile), std::back_inserter(doubts));
  if (const auto& widest = alternative.point.widest)
    doubts.push_back({fmt::format("most of the band is {}", in_words(*widest)), std::string(measurement_of(*widest)),
                      alternative.point.narrowed});
  return doubts;
}

}  // namespace hbench
