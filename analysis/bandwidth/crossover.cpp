#include "analysis/bandwidth/crossover.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/points/unknowns.hpp"
#include "analysis/prediction/request.hpp"
#include "analysis/prediction/usual_batch.hpp"
#include "analysis/prediction/varied_network.hpp"
#include "collectives/base/parameters.hpp"
#include "collectives/base/text.hpp"
#include "collectives/base/units_text.hpp"
#include "collectives/network/choose.hpp"

namespace hbench {
namespace {

/// Letters name candidates.
constexpr std::size_t kMostCandidates = 26;
/// Schedules of more workers take minutes to simulate at every size.
constexpr int kMostRanks = 512;

std::size_t index_of(std::vector<std::string>& names, const std::string& name) {
  const auto at = static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
  if (at == names.size()) names.push_back(name);
  return at;
}

template <class T>
std::vector<T> distinct(const std::vector<PlannedCase>& cases, auto field) {
  std::vector<T> all;
  for (const Case& asked : cases)
    if (std::ranges::find(all, field(asked)) == all.end()) all.push_back(field(asked));
  return all;
}

void check_candidates(std::size_t count) {
  if (count < 2)
    throw Error(ExitCode::usage, "there is only one strategy to compare", "name two or more with --algorithm");
  if (count > kMostCandidates)
    throw Error(ExitCode::usage, fmt::format("{} strategies are more than a map has letters", count),
                fmt::format("name {} at most", kMostCandidates));
}

CellFigure figure_of(const SimulatedStep& step) {
  const Seconds alone = step.times.alone;
  CellFigure figure{alone / step.step(), alone / step.high, alone / step.low};
  if (!step.unknowns.empty()) figure.widest = largest(step.unknowns).kind;
  return figure;
}

/// Simulates one workload's map.
class MapBuilder {
 public:
  MapBuilder(const std::vector<PlannedCase>& cases, const std::vector<std::string>& candidates, VariedNetwork& network)
      : cases_(cases), candidates_(candidates), network_(network) {}

  void add_row(CrossoverMap& map, const std::string& workload, int gpus, const std::vector<BytesPerSecond>& rates) {
    auto& fastest = map.fastest.emplace_back();
    auto& figures = map.figures.emplace_back();
    for (const BytesPerSecond rate : rates) {
      std::vector<const SimulatedStep*> steps(candidates_.size());
      auto& cell = figures.emplace_back(candidates_.size());
      for (const PlannedCase& each : cases_) {
        if (each.asked.workload != workload || each.asked.gpus != gpus) continue;
        const auto found = std::ranges::find(candidates_, each.asked.strategy.label());
        const auto at = static_cast<std::size_t>(found - candidates_.begin());
        steps[at] = &network_.step(each, rate);
        cell[at] = figure_of(*steps[at]);
      }
      fastest.push_back(fastest_of(steps));
    }
  }

 private:
  const std::vector<PlannedCase>& cases_;
  const std::vector<std::string>& candidates_;
  VariedNetwork& network_;
};

/// The best and, where that is level with it, the next.
Fastest fastest_of(const SizeChoice& choice, std::vector<std::string>& candidates) {
  Fastest fastest{{index_of(candidates, choice.best.algorithm)}};
  if (choice.runner_up.algorithm.empty()) return fastest;
  fastest.verdict = lead_within({1 + choice.margin()}, kCollectiveError).verdict();
  if (fastest.verdict == LeadVerdict::level)
    fastest.candidates.push_back(index_of(candidates, choice.runner_up.algorithm));
  return fastest;
}

double gigabits_from(std::string_view text, const std::string& all) {
  const auto fail = [&](std::string_view why) {
    throw Error(ExitCode::usage, fmt::format("--bandwidth {}: {}", all, why),
                "write Gbit/s: a range that doubles (1..400) or a list (1,2.5,10,25)");
  };
  constexpr double kLeast = 0.001, kMost = 1e6;
  const auto value = parse_number<double>(text);
  if (!value || !std::isfinite(*value)) fail(fmt::format("'{}' is not a number", text));
  if (*value < kLeast || *value > kMost) fail(fmt::format("{} Gbit/s is no bandwidth of a node", text));
  return *value;
}

}  // namespace

std::vector<BytesPerSecond> parse_bandwidths(const std::string& text) {
  std::vector<double> values;
  for (const std::string& item : split_list(text, "--bandwidth")) {
    const std::size_t dots = item.find("..");
    if (dots == std::string::npos) {
      values.push_back(gigabits_from(item, text));
      continue;
    }
    const double first = gigabits_from(item.substr(0, dots), text), last = gigabits_from(item.substr(dots + 2), text);
    if (last < first)
      throw Error(ExitCode::usage, fmt::format("--bandwidth {}: the range runs backwards", text),
                  fmt::format("you may mean {}..{}", last, first));
    for (double value = first; value < last; value *= 2) values.push_back(value);
    values.push_back(last);
  }
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());
  std::vector<BytesPerSecond> rates;
  for (const double value : values) rates.emplace_back(value * 1e9 / 8);
  return rates;
}

std::vector<std::int64_t> parse_message_sizes(const std::string& text) {
  std::vector<std::int64_t> sizes;
  for (const std::string& item : split_list(text, "--bytes")) {
    const std::size_t dots = item.find("..");
    if (dots == std::string::npos) {
      sizes.push_back(parse_size(item, "--bytes"));
      continue;
    }
    const std::int64_t first = parse_size(item.substr(0, dots), "--bytes");
    const std::int64_t last = parse_size(item.substr(dots + 2), "--bytes");
    if (last < first)
      throw Error(ExitCode::usage, fmt::format("--bytes {}: the range runs backwards", text),
                  fmt::format("you may mean {}..{}", item.substr(dots + 2), item.substr(0, dots)));
    for (std::int64_t bytes = first; bytes < last; bytes *= 4) sizes.push_back(bytes);
    sizes.push_back(last);
  }
  std::ranges::sort(sizes);
  sizes.erase(std::ranges::unique(sizes).begin(), sizes.end());
  if (sizes.front() < static_cast<std::int64_t>(sizeof(float)) || sizes.back() > std::int64_t{1} << 34)
    throw Error(ExitCode::usage, fmt::format("--bytes {} is out of range", text), "write 4 B to 16 GiB: 1K..256M");
  return sizes;
}

Fastest fastest_of(const std::vector<const SimulatedStep*>& steps) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < steps.size(); ++i)
    if (steps[i] != nullptr) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return steps[i]->step(); });
  Fastest fastest;
  for (const std::size_t i : order) {
    const bool is_best = i == order.front();
    const LeadVerdict verdict =
        is_best ? LeadVerdict::ahead : lead_of(steps[order.front()]->ends(), steps[i]->ends()).verdict();
    fastest.verdict = std::min(fastest.verdict, verdict);
    if (is_best || verdict == LeadVerdict::level) fastest.candidates.push_back(i);
  }
  return fastest;
}

Crossover training_crossover(const PredictionRequest& request, const std::vector<BytesPerSecond>& rates,
                             const Data& data, const SimulationMeans& means) {
  Plan plan = plan_across_nodes(request, data, means.memory);
  const Profile& base = plan.catalog.profiles.begin()->second;
  Crossover crossover;
  crossover.candidates = distinct<std::string>(plan.cases, [](const Case& asked) { return asked.strategy.label(); });
  check_candidates(crossover.candidates.size());
  const auto columns = static_cast<double>(rates.size());
  means.more(columns * simulation_time(plan.cases, plan.catalog));
  VariedNetwork network(plan.catalog, means.stop);
  MapBuilder builder(plan.cases, crossover.candidates, network);
  std::vector<int> counts = distinct<int>(plan.cases, [](const Case& asked) { return asked.gpus; });
  std::ranges::sort(counts);
  for (const auto& workload : distinct<std::string>(plan.cases, [](const Case& asked) { return asked.workload; })) {
    CrossoverMap map{.title = title_with_batches(plan.catalog.traces.at(workload), plan.cases),
                     .row_title = "GPUs",
                     .column_title = "Gbit/s per node"};
    for (const BytesPerSecond rate : rates) {
      map.columns.push_back(gigabits(rate));
      map.places.push_back(in_gigabits(rate));
    }
    for (const int gpus : counts) {
      means.begun(fmt::format("{}, {} GPUs like those of {}", workload, gpus, base.name));
      map.rows.push_back(std::to_string(gpus));
      builder.add_row(map, workload, gpus, rates);
      for (const PlannedCase& each : plan.cases)
        if (each.asked.workload == workload && each.asked.gpus == gpus)
          means.done(columns * simulation_time(each, plan.catalog));
    }
    crossover.maps.push_back(std::move(map));
  }
  crossover.method = fmt::format(
      "Simulated training steps between nodes like those of {} ({}): all but the rate of their network is kept, and "
      "nothing holds single streams back. A letter alone is ahead of all others, by all of the band of their ratio; "
      "with ? it is likely, by half of that. Several letters are level, the quickest first: published pairs of "
      "strategies that are predicted so near come out either way.",
      base.name, base.title);
  if (const std::string batches = batches_in_words(request); !batches.empty())
    crossover.method += fmt::format(" Batches: {}.", batches);
  crossover.refused = std::move(plan.refused);
  return crossover;
}

Crossover all_reduce_crossover(const Profile& profile, const std::vector<int>& gpus,
                               const std::vector<BytesPerSecond>& rates, const std::vector<std::int64_t>& sizes,
                               const StopRequested& stop) {
  if (gpus.back() > kMostRanks)
    throw Error(ExitCode::usage, fmt::format("{} ranks are more than a map of all-reduces takes", gpus.back()),
                fmt::format("ask for {} at most", kMostRanks));
  if (gpus.front() < 2) throw Error(ExitCode::usage, "one rank has nothing to reduce", "ask for --gpus 2 or more");
  if (!rates.empty() && gpus.size() != 1)
    throw Error(ExitCode::usage, "a map of rates and sizes is for one number of ranks", "give --gpus one count");
  Crossover crossover;
  CrossoverMap map{.title = rates.empty() ? fmt::format("All-reduce on {}", profile.name)
                                          : fmt::format("All-reduce of {} ranks", gpus.front()),
                   .row_title = rates.empty() ? "ranks" : "Gbit/s per node",
                   .column_title = "message size"};
  for (const std::int64_t bytes : sizes) map.columns.push_back(exact_text(Bytes(static_cast<double>(bytes))));
  const auto add_row = [&](std::string name, const Profile& cluster, int ranks) {
    auto& row = map.fastest.emplace_back();
    for (const SizeChoice& choice : choose_algorithm(cluster, ranks, sizes).sizes)
      row.push_back(fastest_of(choice, crossover.candidates));
    map.rows.push_back(std::move(name));
    stop_if(stop);
  };
  if (rates.empty())
    for (const int ranks : gpus) add_row(std::to_string(ranks), profile, ranks);
  for (const BytesPerSecond rate : rates) add_row(gigabits(rate), with_network_rate(profile, rate), gpus.front());
  crossover.maps.push_back(std::move(map));
  crossover.method = fmt::format(
      "One all-reduce, simulated on the idle network of {} ({}), float32: every algorithm with a schedule for such a "
      "world. A letter alone is ahead, by more than the error that predictions of single all-reduces are held to "
      "({:.0f} %); with ? it is likely, by more than half of that. Two letters are level: the quickest and the next.",
      profile.name, profile.title, 100 * std::expm1(kCollectiveError));
  return crossover;
}

}  // namespace hbench
