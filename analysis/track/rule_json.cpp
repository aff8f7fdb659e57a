#include "analysis/track/rule_json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "collectives/base/error.hpp"

namespace hbench {

using Json = nlohmann::ordered_json;

std::string rule_json(const TrackRule& rule) {
  return Json{{"least_effect", rule.least_effect},
              {"level", rule.level},
              {"spread", rule.spread},
              {"most_runs", rule.most_runs},
              {"fewest_runs", rule.fewest_runs},
              {"launches", rule.launches},
              {"confirming", rule.confirming}}
      .dump();
}

TrackRule parse_rule(std::string_view json) {
  const Json parsed = Json::parse(json, nullptr, false);
  const auto refuse = [](const std::string& what) {
    throw Error(ExitCode::wrong_data, what, "the database was edited or damaged; go back to a copy of it");
  };
  if (!parsed.is_object()) refuse("a stored rule is no JSON of a rule");
  const auto number = [&](const char* key, double usual, double least, double most) {
    const auto found = parsed.find(key);
    if (found == parsed.end()) return usual;
    const double value = found->is_number() ? found->get<double>() : std::nan("");
    if (!(value >= least && value <= most)) refuse(fmt::format("a stored rule has {} as its {}", found->dump(), key));
    return value;
  };
  const auto count = [&](const char* key, int usual, int least) {
    return static_cast<int>(number(key, usual, least, 1'000'000));
  };
  const TrackRule usual;
  return {.least_effect = number("least_effect", usual.least_effect, 0, 1),
          .level = number("level", usual.level, 0, 1),
          .spread = number("spread", usual.spread, 0, 1'000'000),
          .most_runs = count("most_runs", usual.most_runs, 1),
          .fewest_runs = count("fewest_runs", usual.fewest_runs, 1),
          .launches = count("launches", usual.launches, 1),
          .confirming = count("confirming", usual.confirming, 0)};
}

}  // namespace hbench
