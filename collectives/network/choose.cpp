#include "collectives/network/choose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <ranges>

#include "collectives/base/error.hpp"
#include "collectives/base/units_text.hpp"
#include "collectives/network/collective_model.hpp"

namespace hbench {
namespace {

/// The times at one size, the best first.
using Ranking = std::vector<AlgorithmTime>;

bool as_good(Seconds time, Seconds best) { return time.value <= (1 + kAsGood) * best.value; }

SizeChoice choose_at(Ranking ranking, const std::string& before) {
  std::ranges::stable_sort(ranking, {}, &AlgorithmTime::time);
  SizeChoice choice{.bytes = ranking[0].bytes, .best = ranking[0], .chosen = ranking[0].algorithm};
  if (ranking.size() > 1) choice.runner_up = ranking[1];
  const auto kept = std::ranges::find(ranking, before, &AlgorithmTime::algorithm);
  if (kept != ranking.end() && as_good(kept->time, choice.best.time)) choice.chosen = before;
  return choice;
}

/// `changes` are the sizes from which on the next chosen algorithm serves.
AlgorithmRule rule_of(const std::vector<SizeChoice>& sizes, const std::vector<std::int64_t>& changes) {
  std::string text = sizes.front().chosen;
  std::size_t change = 0;
  for (std::size_t i = 1; i < sizes.size(); ++i)
    if (sizes[i].chosen != sizes[i - 1].chosen)
      text += fmt::format("@{}/{}", exact_text(Bytes(static_cast<double>(changes[change++]))), sizes[i].chosen);
  return parse_algorithm_rule(text);
}

/// Simulated times on one cluster and world.
class Model {
 public:
  Model(const Profile& profile, int workers)
      : world_{.workers = workers, .group = std::min(profile.gpus_per_domain(), workers)},
        collectives_(profile, world_) {
    for (const Algorithm* algorithm : algorithms_for(CollectiveKind::all_reduce))
      if (!algorithm->is_vendor() && !algorithm->concurrent && algorithm->refuses(world_).empty()) add(*algorithm);
  }

  Ranking at(std::int64_t bytes) {
    Ranking ranking;
    for (const AlgorithmChoice& candidate : candidates_) ranking.push_back(time_of(candidate, bytes));
    return ranking;
  }

  AlgorithmTime time_of(const AlgorithmChoice& candidate, std::int64_t bytes) {
    constexpr auto kElementSize = static_cast<std::int64_t>(sizeof(float));
    return {candidate.text(), bytes, collectives_.answer(candidate, {}, bytes / kElementSize).time};
  }

  std::int64_t transfers(std::int64_t bytes) const {
    std::int64_t most = 0;
    for (const AlgorithmChoice& candidate : candidates_)
      most = std::max(most, candidate.algorithm
                                ->shape({.world = world_,
                                         .segments = candidate.segments(world_, bytes),
                                         .parameters = candidate.parameters})
                                .transfers);
    return most;
  }

 private:
  /// A hierarchy is worth a thought where there is more than one node with more than one rank.
  void add(const Algorithm& algorithm) {
    if (!algorithm.uses_groups) return candidates_.push_back(parse_algorithm(algorithm.name));
    if (world_.group == 1 || world_.group == world_.workers) return;
    for (const Algorithm* outer : algorithms_for(CollectiveKind::all_reduce))
      if (!outer->is_vendor() && !outer->uses_servers && !outer->uses_groups)
        candidates_.push_back(parse_algorithm(fmt::format("{}:direct:{}", algorithm.name, outer->name)));
  }

  World world_;
  CollectiveModel collectives_;
  std::vector<AlgorithmChoice> candidates_;
};

/// The smallest power of two between the two sizes from which `to.chosen` is the better one; `to.bytes` where there is
/// none.
std::int64_t crossover(Model& model, const SizeChoice& from, const SizeChoice& to) {
  const AlgorithmChoice small = parse_algorithm(from.chosen);
  const AlgorithmChoice large = parse_algorithm(to.chosen);
  std::int64_t found = to.bytes;
  int low = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(from.bytes)));
  int high = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(to.bytes - 1))) - 1;
  while (low <= high) {
    const int middle = (low + high) / 2;
    const std::int64_t bytes = std::int64_t{1} << middle;
    if (as_good(model.time_of(small, bytes).time, model.time_of(large, bytes).time)) {
      low = middle + 1;
    } else {
      high = middle - 1;
      found = bytes;
    }
  }
  return found;
}

/// `change` says from which size on the second of two choices serves.
template <class Change>
AlgorithmAdvice advise(std::vector<Ranking> rankings, Change change) {
  if (rankings.empty())
    throw Error(ExitCode::usage, "there are no times to choose an algorithm by", "give at least one size");
  AlgorithmAdvice advice;
  std::vector<std::int64_t> changes;
  for (Ranking& ranking : rankings) {
    const SizeChoice* before = advice.sizes.empty() ? nullptr : &advice.sizes.back();
    SizeChoice choice = choose_at(std::move(ranking), before == nullptr ? "" : before->chosen);
    if (before != nullptr && choice.chosen != before->chosen) changes.push_back(change(*before, choice));
    advice.sizes.push_back(std::move(choice));
  }
  advice.rule = rule_of(advice.sizes, changes);
  return advice;
}

}  // namespace

std::vector<std::int64_t> usual_sizes() {
  std::vector<std::int64_t> sizes;
  for (std::int64_t bytes = 1024; bytes <= std::int64_t{256} << 20; bytes *= 4) sizes.push_back(bytes);
  return sizes;
}

AlgorithmAdvice choose_algorithm(std::span<const AlgorithmTime> times) {
  std::map<std::int64_t, Ranking> by_size;
  for (const AlgorithmTime& time : times) by_size[time.bytes].push_back(time);
  const auto rankings = std::views::values(by_size);
  return advise({rankings.begin(), rankings.end()},
                [](const SizeChoice&, const SizeChoice& choice) { return choice.bytes; });
}

AlgorithmAdvice choose_algorithm(const Profile& profile, int workers, std::span<const std::int64_t> sizes) {
  Model model(profile, workers);
  std::vector<Ranking> rankings;
  for (const std::int64_t bytes : sizes) rankings.push_back(model.at(bytes));
  return advise(std::move(rankings),
                [&](const SizeChoice& before, const SizeChoice& choice) { return crossover(model, before, choice); });
}

std::int64_t transfers_to_choose(const Profile& profile, int workers, std::span<const std::int64_t> sizes) {
  const Model model(profile, workers);
  std::int64_t most = 0;
  for (const std::int64_t bytes : sizes) most = std::max(most, model.transfers(bytes));
  return most;
}

}  // namespace hbench
