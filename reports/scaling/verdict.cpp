#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "reports/scaling/scaling.hpp"

namespace hbench {
namespace {

/// `78 %`, and with an interval or a band `78 % (74 to 81)`.
std::string efficiency_in_words(const Point& point) {
  std::string text = whole_percent(*point.efficiency);
  if (point.efficiency_low && point.efficiency_high)
    text += fmt::format(" ({:.0f} to {:.0f})", *point.efficiency_low * 100, *point.efficiency_high * 100);
  return text;
}

bool reads_the_same(const Point& a, const Point& b) {
  return whole_percent(*a.efficiency) == whole_percent(*b.efficiency);
}

/// `Simulated`: it opens the sentence, so that nobody takes a figure for more than it is.
std::string evidence_first(Evidence evidence) {
  std::string text(to_string(evidence));
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

/// `34 % with ring, 34 % with 32 servers (sliced, dedicated)`: the better side first.
std::string either_side(const BestOfSides& sides) {
  const auto one = [](const Point& point) {
    return fmt::format("{} with {}", efficiency_in_words(point), ScalingWords::in_brief(point.asked.strategy));
  };
  return sides.both() ? fmt::format("{}, {}", one(sides.better()), one(*sides.other())) : one(sides.better());
}

std::string on_the_hardest_network(const Headline& headline, const ScalingWords& words) {
  const BestOfSides& hardest = headline.hardest();
  const std::string network = words.network_in_a_sentence(hardest.better().asked.profile);
  if (headline.easiest().both() || hardest.both()) return fmt::format("; on {}, {}", network, either_side(hardest));
  const bool same = hardest.better().asked.strategy.label() == headline.best().asked.strategy.label();
  const std::string figure = same ? efficiency_in_words(hardest.better()) : either_side(hardest);
  return fmt::format(", but {} on {}", figure, network);
}

/// Which side is ahead, of the networks where both were tried. Empty where there is none.
std::string who_is_ahead(const Headline& headline, const ScalingWords& words) {
  std::size_t both = 0, all_reduce = 0, servers = 0;
  for (const BestOfSides& sides : headline.networks) {
    if (!sides.both()) continue;
    ++both;
    all_reduce += clearly_ahead(*sides.all_reduce, *sides.servers) ? 1 : 0;
    servers += clearly_ahead(*sides.servers, *sides.all_reduce) ? 1 : 0;
  }
  if (both == 0) return "";
  if (all_reduce + servers == 0) return both == 1 ? " Neither is clearly ahead." : " Nowhere is either clearly ahead.";
  if (both == 1) return servers == 1 ? " Servers are ahead." : " All-reduce is ahead.";
  const auto count = [](std::size_t networks) { return networks == 0 ? "none" : std::to_string(networks); };
  std::string text =
      fmt::format(" All-reduce is ahead on {} of {} networks, servers on {}", count(all_reduce), both, count(servers));
  if (const BestOfSides* lead = headline.servers_lead())
    text += fmt::format(" (most on {}: {} against {})", words.network_in_brief(lead->servers->asked.profile),
                        whole_percent(*lead->servers->efficiency), whole_percent(*lead->all_reduce->efficiency));
  if (const std::size_t open = both - all_reduce - servers; open > 0)
    text += fmt::format(", neither clearly on {}", open);
  return text + '.';
}

std::string headline_sentence(const Headline& headline, const ScalingWords& words) {
  const Point& best = headline.best();
  const Case& asked = best.asked;
  std::string text =
      fmt::format("{}: at {} {} keeps {} of ideal speed with {} on {}", evidence_first(headline.evidence()),
                  ScalingWords::gpus(asked), words.workload(asked), efficiency_in_words(best),
                  ScalingWords::in_a_sentence(asked.strategy), words.network_in_a_sentence(asked.profile));
  if (const Point* other = headline.easiest().other())
    text +=
        fmt::format(", {} with {}", efficiency_in_words(*other), ScalingWords::in_a_sentence(other->asked.strategy));
  const bool two_networks = headline.networks.size() > 1 && !reads_the_same(best, headline.hardest().better());
  if (two_networks) text += on_the_hardest_network(headline, words);
  if (const Point* worst = headline.worst)
    text += fmt::format("; with {}, {}{}", ScalingWords::in_a_sentence(worst->asked.strategy),
                        efficiency_in_words(*worst), two_networks ? " there" : "");
  return text + '.' + who_is_ahead(headline, words);
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
  return fmt::format("No efficiency is known: {}; the fastest is {} {} on {}, {}: {} samples/s ({}).",
                     fastest->no_baseline.empty() ? "no point has a baseline" : fastest->no_baseline,
                     scaling.words.workload(asked),
                     asked.strategy.communicates() ? "with " + ScalingWords::in_a_sentence(asked.strategy)
                                                   : std::string("without communication"),
                     scaling.words.network_in_a_sentence(asked.profile), ScalingWords::gpus(asked),
                     rate_cell(fastest->throughput), to_string(asked.evidence));
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
  return headline_sentence(*scaling.headline, scaling.words);
}

}  // namespace

Blocks scaling_verdict(const Scaling& scaling) {
  Blocks blocks{
      Verdict{answer(scaling) + failures_sentence(scaling) + throttled_sentence(scaling) + warnings_sentence(scaling)}};
  if (const std::string how = how_it_is_known(scaling); !how.empty()) blocks.push_back(Paragraph{how});
  return blocks;
}

}  // namespace hbench
