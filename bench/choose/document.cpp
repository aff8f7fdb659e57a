#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "analysis/model_error.hpp"
#include "bench/choose/choose.hpp"

namespace hbench {
namespace {

using Json = nlohmann::ordered_json;

/// As it was asked for.
std::string percent(double share) { return fmt::format("{:.4g} %", 100 * share); }

/// Whole numbers from 100 up to a million.
std::string figure(double value) {
  if (value >= 1e6) return fmt::format("{:.3g} M", value / 1e6);
  return value >= 99.5 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

/// `94 % (90 to 97)`: in one unit, which is that many times smaller.
std::string in_band(const Band& band, double units, int digits, std::string_view unit) {
  return fmt::format("{:.{}f}{} ({:.{}f} to {:.{}f})", band.stated * units, digits, unit, band.low * units, digits,
                     band.high * units, digits);
}

std::string percent_band(const Band& band) { return in_band(band, 100, 0, " %"); }

/// What a time of so many hours is written in.
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

std::string hours_band(const Band& band) {
  const TimeUnit unit = time_unit(band.stated);
  return in_band(band, unit.per_hour, unit.digits, unit.name);
}

std::string hours_text(double hours) {
  const TimeUnit unit = time_unit(hours);
  return fmt::format("{:.3g}{}", hours * unit.per_hour, unit.name);
}

std::string dollars_text(double dollars) { return dollars < 10 ? fmt::format("{:.2f}", dollars) : figure(dollars); }

std::string dollars_band(const Band& band) { return in_band(band, 1, band.stated < 10 ? 2 : 0, ""); }

std::string_view to_string(Certainty certainty) {
  switch (certainty) {
    case Certainty::surely:
      return "surely";
    case Certainty::likely:
      return "likely";
    case Certainty::unlikely:
      return "hardly";
    case Certainty::no:
      break;
  }
  return "no";
}

std::string gpus_text(int gpus) { return gpus == 1 ? "1 GPU" : fmt::format("{} GPUs", gpus); }

/// `94 % (90 to 97) of ideal speed, 4.2 h (4.0 h to 4.4 h), 412 (394 to 430) USD`
std::string in_words(const Alternative& alternative) {
  std::string text = fmt::format("{} of ideal speed", percent_band(alternative.efficiency));
  if (alternative.hours) text += fmt::format(", {}", hours_band(*alternative.hours));
  if (alternative.dollars) text += fmt::format(", {} USD", dollars_band(*alternative.dollars));
  return text;
}

std::string goals_in_words(const Goals& goals) {
  std::string text;
  const auto add = [&](const std::string& goal) { text += (text.empty() ? "" : " and ") + goal; };
  if (goals.efficiency > 0) add(fmt::format("an efficiency of {}", percent(goals.efficiency)));
  if (goals.hours > 0) add(fmt::format("{} at most", hours_text(goals.hours)));
  if (goals.dollars > 0) add(fmt::format("{} USD at most", dollars_text(goals.dollars)));
  if (goals.samples > 0) text += fmt::format(" for {} samples", figure(goals.samples));
  return text;
}

std::string verdict(const Choice& choice, const std::vector<Alternative>& best) {
  const Alternative& first = best.front();
  const Case& asked = first.point.asked;
  std::string where = fmt::format("{} of {}", gpus_text(asked.gpus), choice.catalog.profiles.at(asked.profile).title);
  if (asked.gpus > 1) where += fmt::format(" with {}", asked.strategy.label());
  const auto good = std::ranges::count_if(best, meets_goals);
  if (good == 0)
    return fmt::format("{}: none of {} clusters meets {}. The nearest is {}: {}. It misses by {:.2g} %.",
                       choice.workload, best.size(), goals_in_words(choice.goals), where, in_words(first),
                       100 * (first.missed_by - 1));
  return fmt::format("{}: {}: {} ({}). {} of {} clusters surely or likely {} {}.", choice.workload, where,
                     in_words(first), to_string(first.meets), good, best.size(), good == 1 ? "meets" : "meet",
                     goals_in_words(choice.goals));
}

Table cluster_table(const Choice& choice, const std::vector<Alternative>& best) {
  Table table{.caption = "The best of each cluster, the best cluster first",
              .columns = {"cluster", "GPUs", "strategy", "efficiency", "samples/s", "of one GPU"},
              .numeric = {false, true, false, true, true, true},
              .priority = {0, 0, 2, choice.goals.samples > 0 ? 1 : 0, 3, 4}};
  const auto column = [&](const char* name, bool numeric, int priority) {
    table.columns.emplace_back(name);
    table.numeric.push_back(numeric);
    table.priority.push_back(priority);
  };
  if (choice.goals.samples > 0) {
    column("time", true, 0);
    column("USD", true, 0);
  } else {
    column("USD/h", true, 0);
  }
  column("meets", false, 0);
  for (const Alternative& alternative : best) {
    const Case& asked = alternative.point.asked;
    std::vector<std::string> row{asked.profile,
                                 std::to_string(asked.gpus),
                                 asked.strategy.label(),
                                 percent_band(alternative.efficiency),
                                 figure(alternative.throughput.stated),
                                 figure(alternative.throughput.stated / alternative.efficiency.stated / asked.gpus)};
    if (alternative.hours) {
      row.push_back(hours_band(*alternative.hours));
      row.push_back(alternative.dollars ? dollars_band(*alternative.dollars) : "no price");
    } else {
      row.push_back(alternative.usd_per_hour ? dollars_text(*alternative.usd_per_hour) : "no price");
    }
    row.emplace_back(to_string(alternative.meets));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table front_table(const std::vector<Alternative>& front) {
  Table table{.caption = "Nothing is both quicker and cheaper than these",
              .columns = {"cluster", "GPUs", "strategy", "time", "USD"},
              .numeric = {false, true, false, true, true},
              .priority = {0, 0, 1, 0, 0}};
  for (const Alternative& alternative : front)
    table.rows.push_back({alternative.point.asked.profile, std::to_string(alternative.point.asked.gpus),
                          alternative.point.asked.strategy.label(), hours_band(*alternative.hours),
                          dollars_band(*alternative.dollars)});
  return table;
}

/// What twice as many GPUs buy.
Table doubling_table(const Choice& choice, const std::vector<Alternative>& best) {
  Table table{.caption = "What the next doubling of GPUs buys",
              .columns = {"cluster", "GPUs", "samples/s", "more", "samples for a dollar", "for the next dollar"},
              .numeric = {false, true, true, true, true, true},
              .priority = {0, 0, 1, 0, 0, 0}};
  for (const Alternative& alternative : best) {
    const Alternative* more = doubled(alternative, choice.alternatives);
    if (more == nullptr) continue;
    const double gain = more->throughput.stated - alternative.throughput.stated;
    std::string now = "-", next = "-";
    if (alternative.usd_per_hour && more->usd_per_hour) {
      const double price = *more->usd_per_hour - *alternative.usd_per_hour;
      now = figure(samples_per_dollar(alternative.throughput.stated, *alternative.usd_per_hour));
      next =
          more->nodes > alternative.nodes ? figure(std::max(0.0, samples_per_dollar(gain, price))) : "the same nodes";
    }
    table.rows.push_back(
        {alternative.point.asked.profile, fmt::format("{} to {}", alternative.point.asked.gpus, more->point.asked.gpus),
         fmt::format("{} to {}", figure(alternative.throughput.stated), figure(more->throughput.stated)),
         fmt::format("{:+.0f} %", 100 * gain / alternative.throughput.stated), now, next});
  }
  return table;
}

/// What the bands do not include: how fast one GPU is.
std::string doubtful_rates(const Choice& choice, const std::vector<Alternative>& best) {
  if (choice.single_gpu_rate > 0)
    return fmt::format("all clusters have the same {} samples/s of one GPU, as given: compare only those with that GPU",
                       figure(choice.single_gpu_rate));
  std::string estimated;
  for (const Alternative& alternative : best) {
    const Profile& profile = choice.catalog.profiles.at(alternative.point.asked.profile);
    const auto rate = profile.rates.find(choice.timeline);
    if (rate == profile.rates.end() || rate->second.source.starts_with("estimated"))
      estimated += fmt::format("{}{}", estimated.empty() ? "" : ", ", profile.name);
  }
  if (estimated.empty()) return {};
  return fmt::format("the samples/s of one GPU were not measured with this workload on: {}", estimated);
}

/// On which figures it depends whether a cluster meets the conditions, and which measurement would decide it.
std::vector<std::string> what_would_decide(const Choice& choice, const std::vector<Alternative>& best) {
  std::vector<std::string> texts;
  for (const Alternative& alternative : best) {
    if (alternative.meets != Certainty::likely && alternative.meets != Certainty::unlikely) continue;
    const Profile& profile = choice.catalog.profiles.at(alternative.point.asked.profile);
    if (alternative.nodes == 1) continue;
    std::string what;
    if (alternative.point.asked.strategy.uses_servers() && profile.server_factor > 1)
      what = fmt::format(
          "what its parameter servers handle is known within a factor of {:g} only (steps with servers "
          "on two nodes, for hbench calibrate --from)",
          profile.server_factor);
    else if (profile.stream_factor > 1)
      what = fmt::format(
          "what its TCP streams carry is known within a factor of {:g} only (hbench collective on two "
          "nodes)",
          profile.stream_factor);
    if (!what.empty())
      texts.push_back(fmt::format("{} {} meets the conditions: {} would decide it", profile.name,
                                  to_string(alternative.meets), what));
  }
  if (std::string rates = doubtful_rates(choice, best); !rates.empty()) texts.push_back(std::move(rates));
  return texts;
}

/// Where prices are from.
std::string price_sources(const Choice& choice, const std::vector<Alternative>& best) {
  std::string text;
  for (const Alternative& alternative : best)
    for (const Figure& figure : choice.catalog.profiles.at(alternative.point.asked.profile).figures)
      if (figure.key == "price.usd_per_node_hour")
        text += fmt::format("{}{} {} USD for a node and hour ({})", text.empty() ? "Prices: " : "; ",
                            alternative.point.asked.profile, figure.text, figure.source);
  return text.empty() ? "No price is known." : text + ". Whole nodes are paid.";
}

Json band_json(const Band& band) { return {{"low", band.low}, {"stated", band.stated}, {"high", band.high}}; }

Json alternative_json(const Alternative& alternative) {
  const Case& asked = alternative.point.asked;
  Json json{{"cluster", asked.profile},
            {"gpus", asked.gpus},
            {"nodes", alternative.nodes},
            {"strategy", asked.strategy.label()},
            {"evidence", "simulated"},
            {"efficiency", band_json(alternative.efficiency)},
            {"samples_per_second", band_json(alternative.throughput)}};
  json["hours"] = alternative.hours ? band_json(*alternative.hours) : Json();
  json["usd"] = alternative.dollars ? band_json(*alternative.dollars) : Json();
  json["usd_per_hour"] = alternative.usd_per_hour ? Json(*alternative.usd_per_hour) : Json();
  json["meets"] = to_string(alternative.meets);
  return json;
}

}  // namespace

Document choice_document(const Choice& choice) {
  const std::vector<Alternative> best = best_by_cluster(choice.alternatives);
  Document document{.title = fmt::format("Where to train {}", choice.workload)};
  document.blocks.emplace_back(Verdict{verdict(choice, best)});
  document.blocks.emplace_back(Paragraph{fmt::format(
      "All of it is simulated. Ranges are 90 % bands of the efficiency, as wide as published steps ask for (hbench "
      "validate): {:.0f} % at least, so that close cases stay likely until a run there decides them. Times and "
      "prices take the samples/s of one GPU for granted. Surely: all of the band meets the conditions; likely: the "
      "figure does; hardly: only the better end does.",
      100 * kModelError.compute)});
  document.blocks.emplace_back(cluster_table(choice, best));
  if (const std::vector<Alternative> front = pareto_front(choice.alternatives); !front.empty())
    document.blocks.emplace_back(front_table(front));
  if (Table doubling = doubling_table(choice, best); !doubling.rows.empty())
    document.blocks.emplace_back(std::move(doubling));
  if (std::vector<std::string> unsure = what_would_decide(choice, best); !unsure.empty())
    document.blocks.emplace_back(Warnings{std::move(unsure)});
  document.blocks.emplace_back(Paragraph{price_sources(choice, best)});
  if (!choice.refused.empty())
    document.blocks.emplace_back(Paragraph{fmt::format("Left out: {}.", reasons(choice.refused))});
  return document;
}

std::string choice_json(const Choice& choice) {
  Json clusters = Json::array(), front = Json::array(), left_out = Json::array();
  for (const Alternative& alternative : best_by_cluster(choice.alternatives))
    clusters.push_back(alternative_json(alternative));
  for (const Alternative& alternative : pareto_front(choice.alternatives))
    front.push_back(alternative_json(alternative));
  for (const Refusal& refusal : choice.refused) left_out.push_back({{"what", refusal.what}, {"why", refusal.why}});
  const Goals& asked = choice.goals;
  const Json goals{{"efficiency", asked.efficiency > 0 ? Json(asked.efficiency) : Json()},
                   {"samples", asked.samples > 0 ? Json(asked.samples) : Json()},
                   {"hours", asked.hours > 0 ? Json(asked.hours) : Json()},
                   {"usd", asked.dollars > 0 ? Json(asked.dollars) : Json()}};
  return Json{{"workload", choice.workload},
              {"goals", goals},
              {"clusters", clusters},
              {"pareto_front", front},
              {"left_out", left_out}}
             .dump(1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

}  // namespace hbench
