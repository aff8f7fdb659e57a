#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <sstream>

#include "analysis/points/lead.hpp"
#include "reports/scaling/scaling.hpp"

namespace hbench {
namespace {

/// Longer verdicts are not read.
constexpr std::ptrdiff_t kMostWords = 25;

std::ptrdiff_t words_of(const std::string& text) {
  std::istringstream words(text);
  return std::distance(std::istream_iterator<std::string>(words), {}) + std::ranges::count(text, '\xa0');
}

/// `78 %`, and where it was timed with its interval, `78 % (74 to 81)`.
std::string efficiency_in_words(const Point& point) {
  std::string text = whole_percent(*point.efficiency);
  if (is_timed(point) && point.efficiency_low && point.efficiency_high)
    text += fmt::format(" ({:.0f} to {:.0f})", *point.efficiency_low * 100, *point.efficiency_high * 100);
  return text;
}

/// As the first word of a sentence; `int8` stays what it is.
std::string capitalized(std::string text) {
  if (std::ranges::any_of(text, [](unsigned char each) { return std::isdigit(each) != 0; })) return text;
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

bool is_plural(const std::string& way) { return way.ends_with("servers"); }

/// How much a sentence has room for.
enum class Room : std::uint8_t { titles, both_networks, one_network };

/// `ring keeps 34 % of ideal speed on hkbu-10gbe (10 GbE) and 95 % on azure-nd96asr-v4`; the hardest network first.
std::string what_is_kept(const Headline& headline, const ScalingWords& words, Room room) {
  const auto place = [&](const Point& point) {
    return room == Room::titles ? words.network_with_rate(point.asked) : words.network_id(point.asked);
  };
  const auto name = [](const Point& point) { return ScalingWords::in_verdict(point.asked.strategy); };
  const Point &hardest = headline.hardest().better(), &best = headline.best();
  std::string text =
      fmt::format("{} {} {} of ideal speed on {}", name(hardest), is_plural(name(hardest)) ? "keep" : "keeps",
                  efficiency_in_words(hardest), place(hardest));
  if (headline.contest.matches.size() == 1 || room == Room::one_network) return text;
  return text + (name(hardest) == name(best) ? " and " : fmt::format(", {} ", name(best))) +
         fmt::format("{} on {}", efficiency_in_words(best), place(best));
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
    return fmt::format("{}, {}: {}{}.{}", ScalingWords::gpus(asked), words.workload(asked), kept,
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

/// Which of two ways is ahead, of the networks where both were tried. Empty where there is none.
std::string contest_sentence(const Contest& contest) {
  std::vector<Lead> leads;
  for (const Match& match : contest.matches)
    if (match.both()) leads.push_back(match.lead());
  if (leads.empty()) return "";
  const auto count = [&](Ahead who) { return std::ranges::count(leads, who, &Lead::who); };
  const bool turned = count(Ahead::second) > count(Ahead::first);
  if (turned) std::ranges::transform(leads, leads.begin(), &Lead::inverse);
  const std::string way = capitalized(turned ? contest.second : contest.first);
  const std::string& other = turned ? contest.first : contest.second;
  const std::ptrdiff_t level = count(Ahead::level), behind = count(Ahead::second);
  if (leads.size() == 1 && level == 0)
    return fmt::format("{} {} {} times as fast as {}.", way, is_plural(way) ? "are" : "is", leads[0].in_words(), other);
  if (leads.size() == 1) return fmt::format("{} and {} are level: {} times as fast.", way, other, leads[0].in_words());
  if (level == std::ssize(leads))
    return fmt::format("{} and {} are level on {} networks.", way, other,
                       level == 2 ? "both" : fmt::format("all {}", level));
  const std::size_t all = leads.size();
  std::erase_if(leads, [](const Lead& lead) { return lead.who() != Ahead::first; });
  return fmt::format("{} ahead of {} on {} of {} networks ({}){}{}.", way, other, leads.size(), all, range_of(leads),
                     level > 0 ? fmt::format(", level on {}", level) : "",
                     behind > 0 ? fmt::format(", behind on {}", behind) : "");
}

/// Points without an efficiency still have a speed. Of those that scale one is shown before a process by itself.
std::string fastest_sentence(const Scaling& scaling) {
  const auto speed = [](const Point& point) {
    const double samples = point.failed ? 0 : point.throughput;
    return std::pair(samples > 0 && point.asked.strategy.communicates(), samples);
  };
  const auto& points = scaling.input.points;
  const auto fastest = std::ranges::max_element(points, {}, speed);
  if (fastest == points.end()) return "There are no results yet.";
  if (!(speed(*fastest).second > 0)) return "No point of this sweep has a figure.";
  const Case& asked = fastest->asked;
  return fmt::format("{}, {}: {} samples/s with {} on {} ({}), without a baseline for an efficiency.",
                     ScalingWords::gpus(asked), scaling.words.workload(asked), rate_cell(fastest->throughput),
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
  if (const std::string how = how_it_is_known(scaling); !how.empty()) blocks.push_back(Paragraph{how});
  std::vector<UnknownKind> widest;
  for (const Point& point : scaling.input.points)
    if (point.widest) widest.push_back(*point.widest);
  if (!widest.empty()) blocks.push_back(Paragraph{widest_in_words(widest)});
  return blocks;
}

}  // namespace hbench
