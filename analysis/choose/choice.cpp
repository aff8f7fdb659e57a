#include "analysis/choose/choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <tuple>

namespace hbench {
namespace {

constexpr double kSecondsPerHour = 3600;
/// Strategies whose speeds differ by less are as quick: repeated runs of one of them differ by more.
constexpr double kSameSpeed = 0.02;
/// Prices of one GPU moved by a third within five months of 2026; of one without a date nobody knows how old it is.
constexpr double kUndatedPrice = 4.0 / 3;

/// \param whole whether the worse end of the band meets the goal too
/// \param factor by which the stated figure misses it; at most 1 where it does not
void require(Alternative& alternative, bool whole, double factor) {
  const Certainty certainty = whole ? Certainty::pass : factor <= 1 ? Certainty::likely : Certainty::failed;
  alternative.meets = std::max(alternative.meets, certainty);
  alternative.missed_by = std::max(alternative.missed_by, factor);
}

/// Fewer samples/s take longer: the ends change places.
Band time_for(double amount, const Band& rate) {
  return {amount / rate.high / kSecondsPerHour, amount / rate.stated / kSecondsPerHour,
          amount / rate.low / kSecondsPerHour};
}

Band times(const Band& band, double factor) { return {band.low * factor, band.stated * factor, band.high * factor}; }

/// The product of two figures with independent errors.
Band product(const Band& a, const Band& b) {
  const auto apart = [](double one, double other) { return std::exp(std::hypot(std::log(one), std::log(other))); };
  const double stated = a.stated * b.stated;
  return {stated / apart(a.stated / a.low, b.stated / b.low), stated,
          stated * apart(a.high / a.stated, b.high / b.stated)};
}

/// `band` with an error of its own that may be so large either way.
Band widened(const Band& band, double factor) { return product(band, {1 / factor, 1, factor}); }

void weigh(Alternative& alternative, const Goals& goals) {
  if (goals.efficiency > 0)
    require(alternative, alternative.efficiency.low >= goals.efficiency,
            goals.efficiency / alternative.efficiency.stated);
  if (goals.hours > 0 && alternative.hours)
    require(alternative, alternative.hours->high <= goals.hours, alternative.hours->stated / goals.hours);
  if (goals.budget > 0 && alternative.cost)
    require(alternative, alternative.cost->high <= goals.budget, alternative.cost->stated / goals.budget);
}

/// Notes what nobody states of what the alternative rests on.
void note_assumptions(Alternative& alternative, const Profile& cluster, const Goals& goals) {
  for (const Figure& figure : cluster.assumed_for(alternative.point.asked.gpus))
    alternative.assumed.push_back(figure.key);
  if (!alternative.cost || !cluster.price || first_day(cluster.price->retrieved)) return;
  alternative.cost = widened(*alternative.cost, kUndatedPrice);
  if (goals.budget > 0) alternative.assumed.emplace_back("price.retrieved");
}

/// Takes the grade down to likely where the alternative rests on an assumption, whatever its band says.
void cap(Alternative& alternative, double rate_factor) {
  if (rate_factor > kUsualRateFactor || !alternative.assumed.empty())
    alternative.meets = std::max(alternative.meets, Certainty::likely);
}

/// What is paid for where no price is known.
double gpu_hours(const Alternative& alternative) { return alternative.paid_gpus * alternative.hours->stated; }

/// The order of alternatives, the best first.
bool better(const Alternative& a, const Alternative& b) {
  if (meets_goals(a) != meets_goals(b)) return meets_goals(a);
  if (!meets_goals(a) && a.missed_by != b.missed_by) return a.missed_by < b.missed_by;
  if (a.cost.has_value() != b.cost.has_value()) return a.cost.has_value();
  if (a.cost && a.cost->stated != b.cost->stated) return a.cost->stated < b.cost->stated;
  if (!a.cost && a.hours && gpu_hours(a) != gpu_hours(b)) return gpu_hours(a) < gpu_hours(b);
  return a.throughput.stated > b.throughput.stated;
}

using Rivals = std::vector<const Alternative*>;

/// The one to take of strategies for as many GPUs of one cluster.
Alternative best_of(const Rivals& strategies) {
  const auto speed = [](const Alternative* each) { return each->throughput.stated; };
  const Alternative& quickest = **std::ranges::max_element(strategies, {}, speed);
  const Alternative& first = **std::ranges::find_if(strategies, [&](const Alternative* each) {
    return speed(each) >= (1 - kSameSpeed) * speed(&quickest) && meets_goals(*each) >= meets_goals(quickest);
  });
  Alternative best = first;
  Rivals others = strategies;
  std::erase(others, &first);
  std::ranges::stable_sort(others, std::greater(), speed);
  for (const Alternative* each : others) {
    const Lead lead = lead_of(first.point, each->point);
    const std::string label = each->point.asked.strategy.label();
    if (each == others.front()) best.runner_up = {label, lead};
    if (lead.verdict() == LeadVerdict::level) best.rivals.push_back(label);
  }
  return best;
}

}  // namespace

std::string_view to_string(Certainty certainty) {
  constexpr std::array<std::string_view, 3> kNames{"pass", "likely", "failed"};
  return kNames.at(static_cast<std::size_t>(certainty));
}

std::vector<Alternative> make_alternatives(const std::vector<Point>& points, const std::map<std::string, Offer>& offers,
                                           const Goals& goals) {
  std::vector<Alternative> alternatives;
  for (const Point& point : points) {
    const auto offer = offers.find(point.asked.profile);
    if (offer == offers.end() || !point.efficiency || point.failed) continue;
    const double stated = *point.efficiency;
    Alternative alternative{
        .point = point,
        .nodes = (point.asked.gpus + offer->second.gpus_per_node - 1) / offer->second.gpus_per_node,
        .efficiency = {point.efficiency_low.value_or(stated), stated, point.efficiency_high.value_or(stated)}};
    alternative.paid_gpus = alternative.nodes * offer->second.gpus_per_node;
    const double rate_factor = std::max(offer->second.rate_factor, point.rate_factor);
    alternative.throughput = widened(times(alternative.efficiency, point.throughput / stated), rate_factor);
    if (offer->second.per_node_hour) alternative.cost_per_hour = alternative.nodes * *offer->second.per_node_hour;
    alternative.purchase = offer->second.purchase;
    alternative.gpu = offer->second.gpu;
    if (offer->second.interruptions) alternative.pace = pace_of(offer->second.interruptions(point));
    if (goals.samples > 0) {
      const Band& speed = alternative.throughput;
      alternative.hours = time_for(goals.samples, alternative.pace ? product(speed, alternative.pace->share) : speed);
      if (alternative.cost_per_hour) alternative.cost = times(*alternative.hours, *alternative.cost_per_hour);
    }
    if (offer->second.cluster != nullptr) note_assumptions(alternative, *offer->second.cluster, goals);
    weigh(alternative, goals);
    cap(alternative, rate_factor);
    alternatives.push_back(std::move(alternative));
  }
  return alternatives;
}

std::vector<Alternative> best_strategies(const std::vector<Alternative>& alternatives) {
  std::map<std::pair<std::string, int>, Rivals> by_count;
  for (const Alternative& each : alternatives)
    by_count[{each.point.asked.profile, each.point.asked.gpus}].push_back(&each);
  std::vector<Alternative> best;
  for (const auto& [count, strategies] : by_count) best.push_back(best_of(strategies));
  return best;
}

std::vector<Purchase> by_purchase(const std::vector<Alternative>& alternatives) {
  std::map<PurchaseModel, std::vector<Alternative>> models;
  for (const Alternative& each : alternatives) models[each.purchase].push_back(each);
  if (models.empty()) models[PurchaseModel::on_demand] = {};
  std::vector<Purchase> purchases;
  for (auto& [model, bought] : models) purchases.push_back({model, std::move(bought)});
  return purchases;
}

std::optional<PriceFlip> price_flip(const std::vector<Alternative>& best) {
  if (best.size() < 2) return std::nullopt;
  const Alternative &first = best[0], &second = best[1];
  if (!first.cost || !second.cost || !meets_goals(second)) return std::nullopt;
  // Both costs are a price of a node, times node-hours.
  const auto node_hours = [](const Alternative& each) { return times(*each.hours, each.nodes); };
  const Band mine = node_hours(first), other = node_hours(second);
  Band band = product(other, {1 / mine.high, 1 / mine.stated, 1 / mine.low});
  if (!first.gpu.empty() && first.gpu == second.gpu) {
    const Lead lead = lead_of(first.point, second.point);
    band = product({band.stated, band.stated, band.stated}, {lead.low / lead.ratio, 1, lead.high / lead.ratio});
  }
  return PriceFlip{.first = first.point.asked.profile,
                   .second = second.point.asked.profile,
                   .first_per_node_hour = *first.cost_per_hour / first.nodes,
                   .second_per_node_hour = *second.cost_per_hour / second.nodes,
                   .ratio = band};
}

std::vector<Alternative> best_by_cluster(const std::vector<Alternative>& alternatives) {
  std::map<std::string, const Alternative*> best;
  for (const Alternative& alternative : alternatives) {
    const Alternative*& known = best[alternative.point.asked.profile];
    if (known == nullptr || better(alternative, *known)) known = &alternative;
  }
  std::vector<Alternative> ordered;
  for (const auto& [cluster, alternative] : best) ordered.push_back(*alternative);
  std::ranges::stable_sort(ordered, better);
  return ordered;
}

std::vector<Alternative> pareto_front(const std::vector<Alternative>& alternatives) {
  std::vector<Alternative> candidates, front;
  for (const Alternative& alternative : alternatives)
    if (alternative.cost && meets_goals(alternative)) candidates.push_back(alternative);
  std::ranges::stable_sort(candidates, {}, [](const Alternative& alternative) {
    return std::tuple(alternative.hours->stated, alternative.cost->stated);
  });
  for (Alternative& alternative : candidates)
    if (front.empty() || alternative.cost->stated < front.back().cost->stated) front.push_back(std::move(alternative));
  return front;
}

double samples_for_one(double samples_per_second, double cost_per_hour) {
  return cost_per_hour > 0 ? samples_per_second * kSecondsPerHour / cost_per_hour : 0;
}

const Alternative* doubled(const Alternative& alternative, const std::vector<Alternative>& alternatives) {
  const Alternative* quickest = nullptr;
  for (const Alternative& other : alternatives)
    if (other.point.asked.profile == alternative.point.asked.profile &&
        other.point.asked.gpus == 2 * alternative.point.asked.gpus &&
        (quickest == nullptr || other.throughput.stated > quickest->throughput.stated))
      quickest = &other;
  return quickest;
}

}  // namespace hbench
