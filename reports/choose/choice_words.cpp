#include "reports/choose/choice_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "analysis/prediction/by_library.hpp"
#include "analysis/records/words.hpp"
#include "collectives/base/text.hpp"

namespace hbench::choice_words {
namespace {

/// `94 % (90 to 97)`: in one unit, which is that many times smaller.
std::string in_band(const Band& band, double units, int digits, std::string_view unit) {
  return fmt::format("{:.{}f}{} ({:.{}f} to {:.{}f})", band.stated * units, digits, unit, band.low * units, digits,
                     band.high * units, digits);
}

/// The unit in which a time is written.
struct TimeUnit {
  double per_hour;
  int digits;
  std::string_view name;
};

TimeUnit time_unit(double hours) {
  if (hours < 1.0 / 60) return {3600, 0, " s"};
  if (hours < 1) return {60, 0, " min"};
  return hours < 48 ? TimeUnit{1, 1, " h"} : TimeUnit{1 / 24.0, 1, " d"};
}

std::string hours_text(double hours) {
  const TimeUnit unit = time_unit(hours);
  return fmt::format("{:.3g}{}", hours * unit.per_hour, unit.name);
}

/// `412 (394 to 430) USD spot`, `55.04 USD/h`; empty where no price is known.
std::string price_in_words(const Alternative& each, const Choice& choice) {
  if (!each.cost_per_hour) return "";
  const std::string amount = each.cost ? cost_band(*each.cost) : cost_text(*each.cost_per_hour);
  return fmt::format("{} {}{}{}", amount, choice.goals.currency, each.cost ? "" : "/h",
                     bought(choice.catalog.profiles.at(each.point.asked.profile)));
}

/// `94 % (90 to 97) of ideal speed, 4.2 h (4.0 h to 4.4 h), 412 (394 to 430) USD spot`
std::string in_words(const Alternative& alternative, const Choice& choice) {
  const Band& whole = alternative.efficiency;
  const std::optional<Narrowed>& narrowed = alternative.point.narrowed;
  std::string text = fmt::format("{} of ideal speed{}", percent_band(narrowed ? narrowed->band : whole),
                                 narrowed ? narrowed->in_words(fmt::format("{:.0f} %", 100 * whole.low)) : "");
  if (alternative.hours) text += fmt::format(", {}", hours_band(*alternative.hours));
  if (alternative.cost) text += ", " + price_in_words(alternative, choice);
  if (alternative.pace) text += fmt::format(", {} of the time training", share_band(*alternative.pace));
  return text;
}

std::string goals_in_words(const Goals& goals) {
  std::string text;
  const auto add = [&](const std::string& goal) { text += (text.empty() ? "" : " and ") + goal; };
  if (goals.efficiency > 0) add(fmt::format("an efficiency of {}", typed_percent(goals.efficiency)));
  if (goals.hours > 0) add(fmt::format("{} at most", hours_text(goals.hours)));
  if (goals.budget > 0) add(fmt::format("{} {} at most", cost_text(goals.budget), goals.currency));
  if (goals.samples > 0) text += fmt::format(" for {} samples", figure(goals.samples));
  return text;
}

/// ` with ring (level with ps)`, ` with ring, zero:1 (ahead of ring, fsdp: 1.3 (1.1 to 1.5) times as fast)`
std::string strategy_in_words(const Alternative& alternative) {
  const std::vector<std::string>& rivals = alternative.rivals;
  const std::string text = fmt::format(" with {}", alternative.point.asked.strategy.label());
  if (const auto& next = alternative.runner_up; rivals.empty())
    return next ? fmt::format("{} ({}ahead of {}: {} times as fast)", text,
                              next->behind.verdict() == LeadVerdict::likely ? "likely " : "", next->label,
                              next->behind.in_words())
                : text;
  return fmt::format("{} (level with {})", text, some_of(rivals, 3, "; "));
}

/// Says which network, or what else, would give `nearest` the efficiency that it misses.
std::string other_network(const Choice& choice, const Case& asked) {
  const double target = choice.goals.efficiency, any = choice.on_any_network;
  const auto typed = std::ranges::find_if(
      choice.profiles, [&](const std::string& each) { return std::filesystem::path(each).stem() == asked.profile; });
  const std::string profile = typed == choice.profiles.end() ? asked.profile : *typed;
  const std::string command =
      fmt::format("hbench bandwidth --workload {} --profile {} --gpus {} --target {:.4g}%{}",
                  shell_word(choice.timeline), shell_word(profile), asked.gpus, 100 * target, choice.flags);
  if (any == 0 || any >= target) return fmt::format("another network ({} says which)", command);
  return fmt::format(
      "more than a network: it would keep {:.0f} % on one of any rate. Larger batches help, and {} says what holds it "
      "back",
      100 * any, command);
}

/// Says by what `nearest`, which misses goals, would meet them.
std::string what_it_takes(const Choice& choice, const Alternative& nearest) {
  const Goals& goals = choice.goals;
  const Case& asked = nearest.point.asked;
  std::string text;
  const auto add = [&](const std::string& what) { text += (text.empty() ? " It would take " : ", and ") + what; };
  if (nearest.efficiency.stated < goals.efficiency)
    add(!fault_of_flat(nearest.point).empty() ? "another algorithm (--algorithm vendor)"
        : choice.catalog.profiles.at(asked.profile).domains_of(asked.gpus) > 1
            ? other_network(choice, asked)
            : "other links between the GPUs of a node, or larger batches");
  if (nearest.hours && goals.hours > 0 && nearest.hours->stated > goals.hours)
    add(fmt::format("{:.2g} times the samples/s: as many more GPUs, where their efficiency holds",
                    nearest.hours->stated / goals.hours));
  if (nearest.cost && goals.budget > 0 && nearest.cost->stated > goals.budget)
    add(fmt::format("a node for {} {} an hour, or {} samples",
                    cost_text(*nearest.cost_per_hour / nearest.nodes * goals.budget / nearest.cost->stated),
                    goals.currency, figure(goals.samples * goals.budget / nearest.cost->stated)));
  return text.empty() ? text : text + ".";
}

/// Returns `It misses by 20 points` of an efficiency; `It misses by 12 %` of another goal, or `It would have to be 2.0
/// times as good`.
std::string missed_in_words(const Alternative& nearest, const Goals& goals) {
  constexpr double kManyTimes = 1.5;
  const double factor = nearest.missed_by, kept = nearest.efficiency.stated;
  if (kept > 0 && goals.efficiency / kept >= factor)
    return fmt::format("It misses by {:.2g} points", 100 * (goals.efficiency - kept));
  return factor < kManyTimes ? fmt::format("It misses by {:.2g} %", 100 * (factor - 1))
                             : fmt::format("It would have to be {:.1f} times as good", factor);
}

/// Returns whether only times and costs were asked for: then the answer is that of the nearest.
bool asks_for_times(const Goals& goals) { return goals.usual_efficiency && goals.samples > 0; }

/// `488 M samples take 10.9 d (6.4 to 25.8), and no price is known, on 440 GPUs of ...`
std::string times_verdict(const Choice& choice, const Alternative& first, const std::string& where,
                          std::size_t clusters) {
  const std::string price = first.cost ? price_in_words(first, choice) : "no known price";
  return fmt::format("{}: {} samples take {} and {}, on {}: {} of ideal speed. {} the usual {}.{}",
                     workload_in_words(choice, first), figure(choice.goals.samples), hours_band(*first.hours), price,
                     where, percent_band(first.efficiency),
                     clusters == 1 ? "The one cluster here does not keep" : fmt::format("None of {} keeps", clusters),
                     typed_percent(choice.goals.efficiency), what_it_takes(choice, first));
}

}  // namespace

std::string figure(double value) {
  if (value >= 1e6) return fmt::format("{:.3g} M", value / 1e6);
  return value >= 99.5 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

std::string percent_band(const Band& band) { return in_band(band, 100, 0, " %"); }

std::string share_band(const Pace& pace) { return in_band(pace.share, 100, 1, " %"); }

std::string hours_band(const Band& band) {
  const TimeUnit unit = time_unit(band.stated);
  return in_band(band, unit.per_hour, unit.digits, unit.name);
}

std::string cost_text(double cost) { return cost < 10 ? fmt::format("{:.2f}", cost) : figure(cost); }

std::string cost_band(const Band& band) { return in_band(band, 1, band.stated < 10 ? 2 : 0, ""); }

std::string bought(const Profile& profile) {
  const bool usual = !profile.price || profile.price->model == PurchaseModel::on_demand;
  return usual ? "" : fmt::format(" {}", to_string(profile.price->model));
}

std::string gpus_text(int gpus) { return gpus == 1 ? "1 GPU" : fmt::format("{} GPUs", gpus); }

std::string pace_in_words(const Alternative& first) {
  const Pace& pace = *first.pace;
  const Interruptions& by = pace.by;
  const std::string after =
      by.checkpoint > 0 ? fmt::format("a checkpoint of {} after each {} of training is best", hours_text(by.checkpoint),
                                      hours_text(pace.interval))
                        : fmt::format("a replica loses {} at most, and the others go on", hours_text(pace.interval));
  return fmt::format("{} of {}: an interruption each {} on average, {} until it trains again; {}.",
                     gpus_text(first.point.asked.gpus), first.point.asked.profile, hours_text(pace.between()),
                     hours_text(by.restart), after);
}

std::string workload_in_words(const Choice& choice, const Alternative& first) {
  return fmt::format("{}, {}", choice.workload, batch_in_words(first.point.asked));
}

std::string verdict(const Choice& choice, const std::vector<Alternative>& best) {
  const Alternative& first = best.front();
  const Case& asked = first.point.asked;
  std::string where = fmt::format("{} of {} ({})", gpus_text(asked.gpus), asked.profile,
                                  choice.catalog.profiles.at(asked.profile).title);
  if (asked.gpus > 1) where += strategy_in_words(first);
  const auto good = std::ranges::count_if(best, meets_goals);
  if (good == 0 && asks_for_times(choice.goals)) return times_verdict(choice, first, where, best.size());
  if (good == 0)
    return fmt::format(
        "{}: {} {}. The nearest is {}: {}. {}.{}", workload_in_words(choice, first),
        best.size() == 1 ? "the one cluster here does not meet" : fmt::format("none of {} clusters meets", best.size()),
        goals_in_words(choice.goals), where, in_words(first, choice), missed_in_words(first, choice.goals),
        what_it_takes(choice, first));
  const std::string why = first.assumed.empty() ? "" : fmt::format("; assumed: {}", fmt::join(first.assumed, ", "));
  return fmt::format("{}: {}: {} ({}{}). {} of {} clusters {} {}.", workload_in_words(choice, first), where,
                     in_words(first, choice), to_string(first.meets), why, good, best.size(),
                     good == 1 ? "meets" : "meet", goals_in_words(choice.goals));
}

std::string in_words(const PriceFlip& flip, const std::string& currency) {
  const auto price = [&](double amount) { return format(Money{amount, currency}); };
  const double now = flip.first_per_node_hour / flip.second_per_node_hour;
  return fmt::format(
      "{} is cheaper than {} until a node of it costs {} an hour (now {}), or one of {} {} (now {}): the order changes "
      "at {:.2f} ({:.2f} to {:.2f}) times the price of the other's node, and now it is {:.2f}{}.",
      flip.first, flip.second, price(flip.first_may_rise_to()), price(flip.first_per_node_hour), flip.second,
      price(flip.second_must_fall_to()), price(flip.second_per_node_hour), flip.ratio.stated, flip.ratio.low,
      flip.ratio.high, now, now < flip.ratio.low ? "" : ", within what no prediction tells apart");
}

std::string no_cost(const Profile& profile) {
  return profile.price ? fmt::format("in {}", profile.price->per_node_hour.currency) : "no price";
}

std::string short_verdict(const Choice& choice, const Alternative& first) {
  const Case& asked = first.point.asked;
  const bool by_hour = !first.cost && first.cost_per_hour;
  return fmt::format("{}: {}{} of {}: {}{} ({}).", workload_in_words(choice, first),
                     meets_goals(first) || asks_for_times(choice.goals)
                         ? ""
                         : "nothing meets " + goals_in_words(choice.goals) + "; the nearest is ",
                     gpus_text(asked.gpus), asked.profile, in_words(first, choice),
                     by_hour ? ", " + price_in_words(first, choice) : "", to_string(first.meets));
}

}  // namespace hbench::choice_words
