#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <sstream>

#include "analysis/points/lead.hpp"
#include "collectives/base/text.hpp"
#include "reports/scaling/scaling.hpp"
#include "workloads/presets/preset.hpp"

namespace hbench {
namespace {

/// Longer verdicts are not read.
constexpr std::ptrdiff_t kMostWords = 32;

std::ptrdiff_t words_of(const std::string& text) {
  std::istringstream words(text);
  return std::distance(std::istream_iterator<std::string>(words), {}) + std::ranges::count(text, '\xa0');
}

/// `78 % (74 to 81)`: with its interval, or the band of a prediction, under its condition where it has one.
std::string efficiency_in_words(const Point& point) {
  if (point.narrowed) {
    const Band& band = point.narrowed->band;
    return fmt::format("{} ({:.0f} to {:.0f})", whole_percent(band.stated), band.low * 100, band.high * 100);
  }
  std::string text = whole_percent(*point.efficiency);
  if (point.efficiency_low && point.efficiency_high)
    text += point.asked.is_timed() && tells_nothing(point)
                ? " (launches differ too much to be sure)"
                : fmt::format(" ({:.0f} to {:.0f})", *point.efficiency_low * 100, *point.efficiency_high * 100);
  return text;
}

/// ` if input keeps up, else down to 38 %`; mostly empty.
std::string condition_in_words(const Point& point) {
  return point.narrowed ? point.narrowed->in_words(whole_percent(*point.efficiency_low)) : "";
}

/// As the first word of a sentence; what people type, `int8` or the preset `ddp`, stays what it is.
std::string first_word(const std::string& text) {
  const bool digits = std::ranges::any_of(text, [](unsigned char each) { return std::isdigit(each) != 0; });
  const std::string_view word = std::string_view(text).substr(0, text.find_first_of(" :"));
  const bool preset = std::ranges::any_of(presets(), [&](const Preset* each) { return each->name == word; });
  return digits || preset ? text : capitalized(text);
}

/// How much a sentence has room for.
enum class Room : std::uint8_t { titles, both_networks, one_network };

/// `ring keeps 34 % of ideal speed on hkbu-10gbe (10 GbE) and 95 % on azure-nd96asr-v4`; the hardest network first.
std::string what_is_kept(const Headline& headline, const ScalingWords& words, Room room) {
  const auto place = [&](const Point& point) {
    return room == Room::titles ? words.network_with_rate(point.asked) : words.network_id(point.asked);
  };
  const auto name = [](const Point& point) { return ScalingWords::in_verdict(point.asked.strategy); };
  const Point &hardest = headline.hardest().better(), &best = headline.best();
  std::string text = fmt::format("{} {} {} of ideal speed on {}{}", name(hardest),
                                 ScalingWords::is_plural(name(hardest)) ? "keep" : "keeps",
                                 efficiency_in_words(hardest), place(hardest), condition_in_words(hardest));
  if (place(hardest) == place(best) || room == Room::one_network) return text;
  const bool same = name(hardest) == name(best);
  return text +
         (!same              ? fmt::format(", {} ", name(best))
          : hardest.narrowed ? ", and "
                             : " and ") +
         fmt::format("{} on {}{}", efficiency_in_words(best), place(best), condition_in_words(best));
}

bool is_doubtful(const Point& point) {
  return !point.warnings.empty() || point.throttled.worst() == Throttling::throttled;
}

/// What the sweep found, of the workload that networks change most.
std::string kept_sentence(const Headline& headline, const ScalingWords& words) {
  const Case& asked = headline.best().asked;
  const bool doubtful = is_doubtful(headline.best()) || is_doubtful(headline.hardest().better());
  const auto sentence = [&](Room room) {
    const std::string kept = what_is_kept(headline, words, room);
    return fmt::format("{}, {}, {}: {}{}.{}", ScalingWords::gpus(asked), words.workload(asked),
                       batch_in_words(headline.hardest().better().asked), kept,
                       fmt::format(fmt::runtime(kept.ends_with(')') ? ", {}" : " ({})"), to_string(asked.evidence)),
                       doubtful ? " Doubtful: see the warnings." : "");
  };
  for (const Room room : {Room::titles, Room::both_networks})
    if (std::string text = sentence(room); words_of(text) <= kMostWords) return text;
  return sentence(Room::one_network);
}

/// `1.4 to 2.3 times as fast`.
std::string range_of(const std::vector<Lead>& leads) {
  const auto [least, most] = std::ranges::minmax(leads, {}, &Lead::ratio);
  return times_as_fast(least.ratio, most.ratio);
}

/// The networks where both ways were tried, by who is ahead of whom.
struct Standing {
  std::vector<Lead> ahead, likely;  ///< of the first over the second
  std::ptrdiff_t level = 0, likely_behind = 0, behind = 0, not_judged = 0;

  std::size_t all() const {
    return ahead.size() + likely.size() + static_cast<std::size_t>(level + likely_behind + behind + not_judged);
  }
};

/// \param turned of the second way over the first
Standing standing_of(const Contest& contest, bool turned) {
  Standing standing;
  for (const Match& match : contest.matches) {
    if (!match.both()) continue;
    const Lead lead = turned ? match.lead().inverse() : match.lead();
    const bool ahead = lead.verdict() == LeadVerdict::ahead;
    if (!lead.is_judged())
      ++standing.not_judged;
    else if (lead.verdict() == LeadVerdict::level)
      ++standing.level;
    else if (lead.ratio > 1)
      (ahead ? standing.ahead : standing.likely).push_back(lead);
    else
      ++(ahead ? standing.behind : standing.likely_behind);
  }
  return standing;
}

/// Which of two ways is ahead, of the networks where both were tried. Empty where there is none.
std::string contest_sentence(const Contest& contest) {
  const auto weight = [](const Standing& standing) { return std::pair(standing.ahead.size(), standing.likely.size()); };
  const Standing first = standing_of(contest, false), second = standing_of(contest, true);
  if (first.all() == 0) return "";
  const bool turned = weight(second) > weight(first);
  const Standing& standing = turned ? second : first;
  const std::string way = first_word(turned ? contest.second : contest.first);
  const std::string& other = turned ? contest.first : contest.second;
  if (standing.all() == 1) {
    const Lead lead = std::ranges::find_if(contest.matches, &Match::both)->lead();
    return ScalingWords::who_is_ahead(turned ? lead.inverse() : lead, way, other) + ".";
  }
  if (standing.not_judged == static_cast<std::ptrdiff_t>(standing.all()))
    return fmt::format("{} and {} have one launch each on {} networks: no verdict.", way, other, standing.not_judged);
  if (standing.level == static_cast<std::ptrdiff_t>(standing.all()))
    return fmt::format("{} and {} are level on {} networks.", way, other,
                       standing.level == 2 ? "both" : fmt::format("all {}", standing.level));
  const bool likely = standing.ahead.empty();
  const std::vector<Lead>& leads = likely ? standing.likely : standing.ahead;
  std::string text = fmt::format("{} {}ahead of {} on {} of {} networks ({})", way, likely ? "likely " : "", other,
                                 leads.size(), standing.all(), range_of(leads));
  const auto add = [&](std::string_view what, std::ptrdiff_t count) {
    if (count > 0) text += fmt::format(", {} on {}", what, count);
  };
  if (!likely) add("likely", std::ssize(standing.likely));
  add("level", standing.level);
  add(standing.behind == 0         ? "likely behind"
      : standing.likely_behind > 0 ? "behind or likely so"
                                   : "behind",
      standing.likely_behind + standing.behind);
  add("without a verdict", standing.not_judged);
  return text + ".";
}

/// Points without an efficiency still have a speed. Of those that scale one is shown before a process by itself.
std::string fastest_sentence(const Scaling& scaling) {
  const auto speed = [](const Point& point) {
    const double samples = point.failed ? 0 : point.throughput;
    return std::pair(samples > 0 && point.asked.strategy.communicates(), samples);
  };
  const auto& points = scaling.input.points;
  const auto fastest = std::ranges::max_element(points, {}, speed);
  if (!scaling.input.alone.empty() && (fastest == points.end() || !(speed(*fastest).second > 0)))
    return "No training was timed; below are the collectives and benchmarks that were.";
  if (fastest == points.end()) return "There are no results yet.";
  if (!(speed(*fastest).second > 0)) return "No point of this sweep has a figure.";
  const Case& asked = fastest->asked;
  return fmt::format("{}, {}, {}: {} samples/s with {} on {} ({}), without a baseline for an efficiency.",
                     ScalingWords::gpus(asked), scaling.words.workload(asked), batch_in_words(asked),
                     rate_cell(fastest->throughput),
                     asked.strategy.communicates() ? ScalingWords::in_verdict(asked.strategy) : "no communication",
                     scaling.words.network_id(asked), to_string(asked.evidence));
}

std::string answer(const Scaling& scaling) {
  const std::size_t all = scaling.input.points.size();
  if (all > 0 && failures_of(scaling) == all)
    return all == 1 ? "The only case failed: there is nothing to show."
                    : fmt::format("All {} cases failed: there is nothing to show.", all);
  if (!scaling.headline) return fastest_sentence(scaling);
  if (scaling.headline->gpus() == 1)
    return fmt::format(
        "With {} nothing is exchanged, so there is nothing to scale yet; ask for more, such as --gpus 1..8.",
        ScalingWords::gpus(scaling.headline->best().asked));
  return kept_sentence(*scaling.headline, scaling.words);
}

}  // namespace

Blocks scaling_verdict(const Scaling& scaling) {
  Blocks blocks{Verdict{answer(scaling)}};
  if (scaling.headline && scaling.headline->gpus() > 1)
    if (std::string sentence = contest_sentence(scaling.headline->contest); !sentence.empty())
      blocks.push_back(Verdict{std::move(sentence)});
  if (scaling.headline)
    for (const Point* other : of_other_batches(scaling.input.points, subject_of(scaling.headline->best().asked)))
      blocks.push_back(
          Paragraph{fmt::format("{} is not compared: it has {}, and the others {} (--batch gives all the same).",
                                scaling.words.network_id(other->asked), batch_in_words(other->asked),
                                batch_in_words(scaling.headline->best().asked))});
  if (const std::string how = how_it_is_known(scaling); !how.empty()) blocks.push_back(Paragraph{how});
  std::vector<UnknownKind> widest;
  for (const Point& point : scaling.input.points)
    if (point.widest) widest.push_back(*point.widest);
  if (!widest.empty()) blocks.push_back(Paragraph{widest_in_words(widest)});
  return blocks;
}

}  // namespace hbench
