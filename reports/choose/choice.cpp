#include "reports/choose/choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>
#include <set>
#include <span>

#include "analysis/catalogue/figures.hpp"
#include "analysis/prediction/by_library.hpp"
#include "analysis/prediction/case_memory.hpp"
#include "analysis/published/published.hpp"
#include "analysis/records/words.hpp"
#include "reports/choose/choice_charts.hpp"
#include "reports/choose/choice_words.hpp"
#include "reports/rows/fields.hpp"

namespace hbench {
namespace {

using namespace choice_words;

void price_fields(Row& row, const Price& price, std::chrono::sys_days today) {
  row.field("per_node_hour", price.per_node_hour.amount);
  row.field("currency", price.per_node_hour.currency);
  row.field("region", price.region);
  row.field("retrieved", price.retrieved, "when it was read");
  const auto age = age_of(price, today);
  row.field("age_days", age ? std::optional(age->count()) : std::nullopt, "at most; null: nobody states the day");
  row.field("model", to_string(price.model), "how it is bought");
  row.field("source", price.source);
}

void pace_fields(Row& row, const Pace& pace) {
  row.field("hours_between", pace.between(), "on average; of a replica where replicas train on their own");
  row.field("checkpoint_every_hours", if_positive(pace.interval), "of training");
  row.field("checkpoint_hours", pace.by.checkpoint, "that keep the training waiting");
  row.field("restart_hours", pace.by.restart, "until it trains again");
  row.object("share", pace.share, band_fields<Band>, "of the time, is training that counts");
}

void alternative_fields(Row& row, const Alternative& each, const Choice& choice) {
  const Case& asked = each.point.asked;
  const Profile& profile = choice.catalog.profiles.at(asked.profile);
  const bool counted = each.hours.has_value();
  const std::string absent = no_cost(profile);
  const auto priced = [&](const auto& text) { return [&](const auto& cost) { return text(cost) + bought(profile); }; };
  row.field("cluster", asked.profile, "its profile").in("cluster");
  row.field("gpus", asked.gpus).in("GPUs");
  row.field("batch_per_gpu", asked.batch_per_gpu, "samples of a step, the same on all clusters");
  row.field("nodes", each.nodes, "whole ones, which are paid");
  row.field("strategy", asked.strategy.label()).in("strategy", 2);
  row.field("evidence", "simulated");
  row.object("efficiency", each.efficiency, band_fields<Band>)
      .in("efficiency", percent_band, choice.goals.samples > 0 ? 1 : 0);
  row.object("samples_per_second", each.throughput, band_fields<Band>)
      .in("samples/s", figure(each.throughput.stated), 3);
  row.number("of one GPU",
             figure(each.throughput.stated / each.efficiency.stated / asked.gpus) +
                 (has_modelled_rate(asked) ? " (modelled)" : ""),
             4);
  const bool known = choice.catalog.traces.contains(asked.workload);
  const StepMemory memory = known ? memory_of(planned(asked), choice.catalog) : StepMemory();
  row.field("memory_bytes", if_positive(memory.activations.value > 0 ? memory.total().value : 0),
            "weights, gradients, optimizer and activations on each GPU")
      .in(
          "memory", [](double bytes) { return fmt::format("{:.3g} GB", bytes / 1e9); }, 5);
  row.field("rate_modelled", has_modelled_rate(asked), "nobody measured the samples/s of one GPU");
  const auto pace = row.object("interruptions", each.pace, pace_fields, "by failures, or by the seller of spot nodes");
  if (each.pace) pace.in("training", share_band, 1);
  const auto hours = row.object("hours", each.hours, band_fields<Band>, "for all samples");
  if (counted) hours.in("time", hours_band);
  const auto cost = row.object("cost", each.cost, band_fields<Band>, "for all samples, where a price is known");
  if (counted) cost.in(choice.goals.currency, priced(cost_band), 0, absent);
  const auto per_hour = row.field("cost_per_hour", each.cost_per_hour);
  if (!counted) per_hour.in(choice.goals.currency + "/h", priced(cost_text), 0, absent);
  row.object("price", profile.price, [&](Row& of, const Price& price) { price_fields(of, price, choice.today); });
  row.field("meets", to_string(each.meets), "the goals: pass, likely or failed").in("meets");
  row.field("assumed", each.assumed, "figures that it rests on and nobody states; with any of them likely at best");
  row.field("as_good", each.rivals, "other strategies that no prediction tells apart from this one, quickest first");
  row.object("runner_up", each.runner_up, [](Row& of, const Alternative::RunnerUp& next) {
    of.field("strategy", next.label, "the quickest other one");
    of.field("ratio", next.behind.ratio, "of this one's speed over it");
    of.field("ratio_low", next.behind.low);
    of.field("ratio_high", next.behind.high);
  });
}

Table alternative_table(const Choice& choice, const std::vector<Alternative>& some, Table table) {
  const auto fields = [&](Row& row, const Alternative& each) { alternative_fields(row, each, choice); };
  return table_of(some, fields, std::move(table));
}

std::vector<Alternative> ranked_first(const Choice& choice) {
  return best_by_cluster(by_purchase(choice.alternatives).front().alternatives);
}

/// The runner-up: `oci-h100`, with its number of GPUs where that is not the best one's.
std::string runner_up_in_words(const std::vector<Alternative>& best) {
  if (best.size() < 2) return "-";
  const Case &first = best[0].point.asked, &second = best[1].point.asked;
  return first.gpus == second.gpus ? second.profile : fmt::format("{} ({})", second.profile, gpus_text(second.gpus));
}

/// The best choice for a workload, and the next best cluster.
void best_fields(Row& row, const Choice& choice) {
  const std::vector<Alternative> best = ranked_first(choice);
  row.words("workload", workload_in_words(choice, best.front()));
  alternative_fields(row, best.front(), choice);
  row.words("runner-up", runner_up_in_words(best), 1);
}

Table front_table(const Choice& choice, const std::vector<Alternative>& front) {
  Table table = alternative_table(choice, front, {.caption = "Nothing is both quicker and cheaper than these"});
  for (const char* known : {"efficiency", "samples/s", "of one GPU", "meets"}) erase_column(table, known);
  return table;
}

/// What twice as many GPUs buy.
Table doubling_table(const Choice& choice, const std::vector<Alternative>& best) {
  const std::string one = choice.goals.currency == "USD" ? "dollar" : choice.goals.currency;
  Table table{.caption = "What the next doubling of GPUs buys",
              .columns = {"cluster", numbers("GPUs"), numbers("samples/s", 1), numbers("more"),
                          numbers("samples for a " + one), numbers("for the next " + one)},
              .first_rows = 6};
  for (const Alternative& alternative : best) {
    const Alternative* more = doubled(alternative, choice.alternatives);
    if (more == nullptr) continue;
    const double gain = more->throughput.stated - alternative.throughput.stated;
    std::string now = "-", next = "-";
    if (alternative.cost_per_hour && more->cost_per_hour) {
      const double price = *more->cost_per_hour - *alternative.cost_per_hour;
      now = figure(samples_for_one(alternative.throughput.stated, *alternative.cost_per_hour));
      next = more->nodes > alternative.nodes ? figure(std::max(0.0, samples_for_one(gain, price))) : "the same nodes";
    }
    table.rows.push_back(
        {alternative.point.asked.profile, fmt::format("{} to {}", alternative.point.asked.gpus, more->point.asked.gpus),
         fmt::format("{} to {}", figure(alternative.throughput.stated), figure(more->throughput.stated)),
         fmt::format("{:+.0f} %", 100 * gain / alternative.throughput.stated), now, next});
  }
  return table;
}

Table doubts_table(const Choice& choice, const std::vector<Alternative>& best) {
  Table table{.caption = "What is not known for sure, and which measurement would decide it",
              .columns = {"cluster", "not known", "measurement"},
              .first_rows = 8};
  for (const Alternative& alternative : best)
    for (Doubt& doubt : doubts_of(choice, alternative))
      table.rows.push_back({alternative.point.asked.profile, std::move(doubt.what), std::move(doubt.measurement)});
  table.folded = table.rows.size() > table.first_rows;
  return table;
}

/// On how many clusters the speed of a GPU is little more than a guess.
std::string doubtful_rates(const Choice& choice, const std::vector<Alternative>& best) {
  if (choice.single_gpu_rate > 0)
    return fmt::format("all clusters have the same {} samples/s of one GPU, as given: compare only those with that GPU",
                       figure(choice.single_gpu_rate));
  const auto uncertain = std::ranges::count_if(best, [&](const Alternative& alternative) {
    return uncertain_rate(choice, choice.catalog.profiles.at(alternative.point.asked.profile)) > 1;
  });
  if (uncertain == 0) return {};
  const auto modelled = std::ranges::count_if(
      best, [](const Alternative& alternative) { return has_modelled_rate(alternative.point.asked); });
  const std::string why = modelled == 0 ? ""
                                        : fmt::format(" ({} modelled, because nobody measured this workload there)",
                                                      modelled == uncertain ? "all" : std::to_string(modelled));
  return fmt::format(
      "on {} the samples/s of one GPU are not known to a tenth{}; the bands of times and costs are as wide as that "
      "asks for",
      uncertain == std::ssize(best) && uncertain > 1 ? fmt::format("all {} clusters", uncertain)
                                                     : fmt::format("{} of the {} clusters", uncertain, best.size()),
      why);
}

std::string strong_scaling(const std::vector<Alternative>& best) {
  const int global = best.empty() ? 0 : best.front().point.asked.global_batch;
  if (global == 0) return {};
  return fmt::format("strong scaling: {} samples a step at every GPU count, so that many GPUs take few each", global);
}

/// Clusters that a sentence names.
constexpr std::size_t kClusters = 4;

/// Prices that were stated long ago, or nobody knows when.
std::string old_prices(const Choice& choice, const std::vector<Alternative>& best) {
  std::vector<std::string> old, undated;
  for (const Alternative& alternative : best) {
    const Profile& profile = choice.catalog.profiles.at(alternative.point.asked.profile);
    if (!alternative.cost_per_hour || !profile.price) continue;
    const auto age = age_of(*profile.price, choice.today);
    if (!age)
      undated.push_back(profile.name);
    else if (*age > kOldPrice)
      old.push_back(fmt::format("{} ({})", profile.name, profile.price->retrieved));
  }
  std::string text;
  if (!old.empty()) text = fmt::format("prices older than {} days: {}", kOldPrice.count(), some_of(old, kClusters));
  if (!undated.empty())
    text += fmt::format("{}prices of which nobody states the day: {}", text.empty() ? "" : "; ",
                        some_of(undated, kClusters));
  return text.empty() ? text : text + "; look again, and state the price in a profile of your own";
}

/// The first cluster that another algorithm would make clearly faster, and the names of the others.
std::string slow_rings(const std::vector<Alternative>& best) {
  std::string first;
  std::vector<std::string> others;
  for (const Alternative& alternative : best) {
    const std::string fault = fault_of_flat(alternative.point);
    if (fault.empty()) continue;
    if (first.empty())
      first = fmt::format("{}: {}", alternative.point.asked.profile, fault);
    else
      others.push_back(alternative.point.asked.profile);
  }
  return others.empty() ? first : fmt::format("{}; alike on {}", first, some_of(others, kClusters));
}

std::vector<std::string> warnings(const Choice& choice, const std::vector<Alternative>& best) {
  // Of the first one, which the verdict names.
  std::vector<std::string> texts{strong_scaling(best), doubtful_rates(choice, best), old_prices(choice, best),
                                 slow_rings(best),
                                 best.empty() ? std::string() : warn_of_batch(best.front().point.asked)};
  std::erase_if(texts, [](const std::string& text) { return text.empty(); });
  return texts;
}

/// What is paid, how, where and when, and who says so.
Table price_table(const Choice& choice, const std::vector<Alternative>& best) {
  Table table{.caption = "What a node costs for an hour; whole nodes are paid",
              .columns = {"cluster", numbers("price"), "bought", "region", "stated", texts("source", 1)},
              .folded = true,
              .first_rows = 8};
  for (const Alternative& alternative : best) {
    const Profile& profile = choice.catalog.profiles.at(alternative.point.asked.profile);
    if (!profile.price) continue;
    const Price& price = *profile.price;
    table.rows.push_back({profile.name, format(price.per_node_hour), std::string(to_string(price.model)), price.region,
                          price.retrieved, price.source});
  }
  return table;
}

void doubt_fields(Row& row, const Doubt& doubt) {
  row.field("what", doubt.what);
  row.field("measurement", doubt.measurement, "that would decide it");
  row.object("narrowed", doubt.narrowed, narrowed_fields,
             "the efficiency without it, where it makes most of a wide band");
}

void goal_fields(Row& row, const Goals& goals) {
  row.field("efficiency", if_positive(goals.efficiency), "at least");
  row.field("samples", if_positive(goals.samples), "to train on");
  row.field("hours", if_positive(goals.hours), "at most");
  row.field("budget", if_positive(goals.budget), "at most");
}

void flip_fields(Row& row, const PriceFlip& flip) {
  row.field("first", flip.first);
  row.field("second", flip.second);
  row.field("first_per_node_hour", flip.first_may_rise_to(), "at which the first costs as much in all");
  row.field("second_per_node_hour", flip.second_must_fall_to(), "at which the second costs as little in all");
  row.object("ratio", flip.ratio, band_fields<Band>,
             "of a node's price of the first to that of the second, with the bands of both times");
}

void choice_fields(Row& row, const Choice& choice) {
  const auto alternative = [&](Row& of, const Alternative& each) {
    alternative_fields(of, each, choice);
    const std::vector<Doubt> doubts = doubts_of(choice, each);
    of.rows("not_known", doubts, doubt_fields);
    of.may_lack(doubts.empty());
  };
  row.field("workload", choice.workload, "its title");
  row.object("goals", choice.goals, goal_fields, "null: no condition");
  row.field("currency", choice.goals.currency, "of the budget and of every cost");
  const std::vector<Purchase> purchases = by_purchase(choice.alternatives);
  const std::vector<Alternative> best = ranked_first(choice);
  row.rows("clusters", best, alternative, "the best of each, the best first; of those that are bought in one way");
  row.rows("pareto_front", pareto_front(purchases.front().alternatives), alternative,
           "nothing is both quicker and cheaper");
  row.object("price_flip", price_flip(best), flip_fields, "where the first two change places; null: not by a price");
  row.rows(
      "other_purchases", std::span(purchases).subspan(1),
      [&](Row& of, const Purchase& each) {
        of.field("model", to_string(each.model), "how they are bought");
        of.rows("clusters", best_by_cluster(each.alternatives), alternative, "the best of each, the best first");
      },
      "rankings of their own");
  row.rows("left_out", choice.refused, refusal_fields);
}

}  // namespace

Document choice_document(const Choice& choice) {
  const std::vector<Purchase> purchases = by_purchase(choice.alternatives);
  const std::vector<Alternative>& ranked = purchases.front().alternatives;
  const std::vector<Alternative> best = best_by_cluster(ranked);
  // What holds for every ranking.
  std::vector<Alternative> all = best;
  Document document{.title = fmt::format("Where to train {}", choice.workload)};
  document.blocks.emplace_back(Verdict{verdict(choice, best)});
  for (Chart& chart : choice_charts(choice, best)) document.blocks.emplace_back(std::move(chart));
  std::set<std::string> presets;
  for (const Alternative& each : best) presets.insert(each.point.asked.strategy.preset);
  document.blocks.emplace_back(Paragraph{fmt::format(
      "All of it is simulated.{} Ranges are 90 % bands of the efficiency, as wide as what is not known makes them "
      "(hbench validate), so that close cases stay likely until a run there decides them. Bands of times and costs are "
      "wider, by how far the samples/s of one GPU are known. Pass: all of the band meets the conditions, and no figure "
      "behind it is assumed; likely: the figure does; failed: it does not.",
      presets_in_words(presets))});
  document.blocks.emplace_back(alternative_table(
      choice, best, {.caption = "The best of each cluster, the best cluster first", .first_rows = 12}));
  if (best.front().pace) document.blocks.emplace_back(Paragraph{pace_in_words(best.front())});
  if (const auto flip = price_flip(best))
    document.blocks.emplace_back(Paragraph{in_words(*flip, choice.goals.currency)});
  if (const std::vector<Alternative> front = pareto_front(ranked); !front.empty())
    document.blocks.emplace_back(front_table(choice, front));
  for (const Purchase& each : std::span(purchases).subspan(1)) {
    const std::vector<Alternative> others = best_by_cluster(each.alternatives);
    document.blocks.emplace_back(alternative_table(
        choice, others,
        {.caption = fmt::format("Bought as {}, which no other price is a match for: the best of each cluster",
                                to_string(each.model)),
         .first_rows = 6}));
    all.insert(all.end(), others.begin(), others.end());
  }
  document.add_table(doubling_table(choice, best));
  document.add_table(doubts_table(choice, all));
  if (std::vector<std::string> texts = warnings(choice, all); !texts.empty())
    document.blocks.emplace_back(Warnings{std::move(texts)});
  document.add_table(price_table(choice, all));
  if (!choice.refused.empty())
    document.blocks.emplace_back(Paragraph{fmt::format("Left out: {}.", reasons(choice.refused))});
  return document;
}

Document choice_document(const std::vector<Choice>& choices, bool with_details) {
  if (choices.size() == 1) return choice_document(choices.front());
  const auto titles = choices | std::views::transform(&Choice::workload);
  Document document{.title = fmt::format("Where to train {}", fmt::join(titles, ", "))};
  for (const Choice& choice : choices)
    document.blocks.emplace_back(Verdict{short_verdict(choice, ranked_first(choice).front())});
  document.blocks.emplace_back(
      table_of(choices, best_fields, {.caption = "The best choice for each workload, and the next best cluster"}));
  if (!with_details)
    document.blocks.emplace_back(
        Paragraph{"All of it is simulated. With --out FILE.html also all clusters and charts."});
  for (const Choice& choice : std::span(choices).first(with_details ? choices.size() : 0)) {
    Document details = choice_document(choice);
    document.blocks.emplace_back(Heading{1, std::move(details.title)});
    std::ranges::move(details.blocks, std::back_inserter(document.blocks));
  }
  return document;
}

std::string choice_json(const Choice& choice, Form form) {
  return object_text(form, "hbench choose --json", choice, choice_fields);
}

std::string choice_json(const std::vector<Choice>& choices, Form form) {
  if (choices.size() == 1 && form == Form::values) return choice_json(choices.front(), form);
  return object_text(form, "hbench choose --json of several workloads", choices,
                     [](Row& row, const std::vector<Choice>& all) { row.rows("workloads", all, choice_fields); });
}

}  // namespace hbench
