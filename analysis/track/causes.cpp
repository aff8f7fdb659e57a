#include "analysis/track/causes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "analysis/statistics/rank_test.hpp"
#include "analysis/statistics/statistics.hpp"
#include "analysis/trace/ledger.hpp"
#include "collectives/base/text.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

constexpr double kLevel = 0.01;
constexpr double kDeviations = 3;
constexpr double kLeastShare = 0.01;  ///< of the step
constexpr std::size_t kFewestLaunches = 3;
/// Of a rank's growth: what the others' middle growth may be where that rank is the slow one.
constexpr double kOwnFault = 0.5;
/// A pass with such a share of the growth of both is the one that is named.
constexpr double kMostOfIt = 0.8;
/// The median absolute deviation of normal values, times this, is their standard deviation.
constexpr double kMadScale = 1.4826;

using Parts = std::map<std::string, double>;

/// What each launch says of one part.
using PerLaunch = std::vector<double>;

double part_of(const Parts& parts, const std::string& name) {
  if (name == "forward") return part_of(parts, "compute") - part_of(parts, "backward");
  const auto found = parts.find(name);
  return found == parts.end() ? 0 : found->second;
}

/// One side's traced steps: of each launch, each rank's median of each part.
class Side {
 public:
  explicit Side(const std::vector<std::vector<Sample>>& runs) {
    for (const std::vector<Sample>& samples : runs) {
      std::map<int, std::map<Rank, std::map<std::string, std::vector<double>>>> launches;
      for (const StoredLedger& each : stored_ledgers(samples))
        for (const std::string& name : kNames)
          launches[each.launch][each.rank][name].push_back(part_of(each.parts, name));
      for (const auto& [launch, ranks] : launches) {
        auto& medians = launches_.emplace_back();
        for (const auto& [rank, parts] : ranks)
          for (const auto& [name, values] : parts) medians[rank][name] = median(values);
      }
    }
  }

  std::size_t launches() const { return launches_.size(); }

  PerLaunch of_rank(Rank rank, const std::string& part) const {
    PerLaunch values;
    for (const auto& ranks : launches_)
      if (const auto found = ranks.find(rank); found != ranks.end()) values.push_back(part_of(found->second, part));
    return values;
  }

  PerLaunch mean_over_ranks(const std::string& part) const {
    PerLaunch values;
    for (const auto& ranks : launches_) {
      double sum = 0;
      for (const auto& [rank, parts] : ranks) sum += part_of(parts, part);
      values.push_back(sum / static_cast<double>(ranks.size()));
    }
    return values;
  }

  double step() const {
    double sum = 0;
    for (const LedgerPart& each : kLedgerParts) sum += median(mean_over_ranks(std::string(each.name)));
    return sum;
  }

  std::set<Rank> ranks() const {
    std::set<Rank> all;
    for (const auto& ranks : launches_)
      for (const auto& [rank, parts] : ranks) all.insert(rank);
    return all;
  }

 private:
  inline static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names{"backward"};
    for (const LedgerPart& each : kLedgerParts) names.emplace_back(each.name);
    return names;
  }();

  std::vector<std::map<Rank, Parts>> launches_;
};

double deviation(const PerLaunch& values) {
  const double middle = median(values);
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::abs(value - middle));
  return kMadScale * median(distances);
}

double growth_of(const PerLaunch& before, const PerLaunch& after) { return median(after) - median(before); }

bool has_grown(const PerLaunch& before, const PerLaunch& after, double step) {
  if (before.size() < kFewestLaunches || after.size() < kFewestLaunches) return false;
  const double growth = growth_of(before, after);
  return growth >= kLeastShare * step && growth > kDeviations * std::max(deviation(before), deviation(after)) &&
         rank_test(before, after) <= kLevel;
}

/// Where most of the growth of the passes is, in words.
std::string which_pass(const Side& baseline, const Side& head, double growth) {
  for (const char* pass : {"backward", "forward"})
    if (growth_of(baseline.mean_over_ranks(pass), head.mean_over_ranks(pass)) >= kMostOfIt * growth)
      return fmt::format("compute, in the {} pass,", pass);
  return "compute";
}

std::vector<GrownPart> grown_parts(const Side& baseline, const Side& head) {
  std::vector<GrownPart> grown;
  const double step = baseline.step();
  for (const LedgerPart& each : kLedgerParts) {
    const std::string name(each.name);
    const PerLaunch before = baseline.mean_over_ranks(name), after = head.mean_over_ranks(name);
    if (!has_grown(before, after, step)) continue;
    const std::string words =
        name == "compute" ? which_pass(baseline, head, growth_of(before, after)) : std::string(each.words);
    grown.push_back({name, words, Seconds(median(before)), Seconds(median(after))});
  }
  std::ranges::stable_sort(grown, std::ranges::greater(), &GrownPart::growth);
  return grown;
}

/// What a rank does itself: the name of a sample's part, and what it is called.
constexpr std::array kOwnWork{std::pair{"backward", "backward"}, std::pair{"forward", "forward"},
                              std::pair{"optimizer", "optimizer"}, std::pair{"unexplained", "between steps"}};

std::optional<SlowRank> slow_rank(const Side& baseline, const Side& head) {
  const std::set<Rank> ranks = head.ranks();
  if (ranks.size() < 2 || baseline.ranks() != ranks) return std::nullopt;
  std::optional<SlowRank> slowest;
  for (const auto& [part, words] : kOwnWork) {
    std::map<Rank, double> growths;
    for (const Rank rank : ranks) growths[rank] = growth_of(baseline.of_rank(rank, part), head.of_rank(rank, part));
    for (const auto& [rank, growth] : growths) {
      std::vector<double> others;
      for (const auto& [other, its] : growths)
        if (other != rank) others.push_back(its);
      const double middle = median(others);
      if (middle > kOwnFault * growth ||
          !has_grown(baseline.of_rank(rank, part), head.of_rank(rank, part), baseline.step()))
        continue;
      if (!slowest || growth > slowest->growth.value) slowest = SlowRank{rank, words, Seconds(growth), Seconds(middle)};
    }
  }
  return slowest;
}

std::string sentence_of(const SlowRank& slow) {
  const std::string what = slow.part == "between steps"
                               ? "its time between steps"
                               : fmt::format("its {}", slow.part == "optimizer" ? slow.part : slow.part + " pass");
  return fmt::format("rank {} is slow: {} takes {} longer than in the baseline{}, and the others wait for it",
                     slow.rank, what, format(slow.growth),
                     std::abs(slow.others.value) < 0.05 * slow.growth.value
                         ? ""
                         : fmt::format(" (that of the others {} {})", format(Seconds(std::abs(slow.others.value))),
                                       slow.others < Seconds(0) ? "less" : "longer"));
}

std::string sentence_of(const GrownPart& part, double step) {
  return fmt::format("{} grew by {}, from {} to {}: {:+.1f} % of the step", part.words, format(part.growth()),
                     format(part.before), format(part.after), 100 * part.growth().value / step);
}

std::string sentence_of(const ChangedFact& fact) {
  const auto quoted = [](const std::string& value) {
    return value.empty() ? "not stated" : fmt::format("'{}'", value);
  };
  return fmt::format("the fact {} differs: {} before, {} now", fact.fact, quoted(fact.before), quoted(fact.after));
}

/// Why the parts of the step cannot be compared; empty where they can.
std::string obstacle(const Side& baseline, const Side& head) {
  for (const auto& [side, name] : {std::pair(&baseline, "baseline"), std::pair(&head, "head")})
    if (side->launches() < kFewestLaunches)
      return side->launches() == 0
                 ? fmt::format("the {} has no traced steps, so it is not known which part of the step grew", name)
                 : fmt::format("the {} has traced steps of {} launch{}, too few to say which part of the step grew",
                               name, side->launches(), side->launches() == 1 ? "" : "es");
  return "";
}

}  // namespace

Causes find_causes(const CausesSide& baseline, const CausesSide& head) {
  const Side before(baseline.runs), after(head.runs);
  Causes result{.grown = {}, .facts = changed_facts(baseline.environment, head.environment)};
  if (std::string why = obstacle(before, after); !why.empty()) {
    if (head.has_steps) result.sentences.push_back(std::move(why));
  } else {
    result.grown = grown_parts(before, after);
    result.slow_rank = slow_rank(before, after);
    if (result.slow_rank) result.sentences.push_back(sentence_of(*result.slow_rank));
    for (const GrownPart& part : result.grown) result.sentences.push_back(sentence_of(part, before.step()));
    if (result.sentences.empty())
      result.sentences.emplace_back("no part of the step stands out: none grew by more than its launches scatter");
  }
  for (const ChangedFact& fact : result.facts) result.sentences.push_back(sentence_of(fact));
  for (std::string& sentence : result.sentences) sentence = capitalized(sentence) + '.';
  return result;
}

}  // namespace hbench
