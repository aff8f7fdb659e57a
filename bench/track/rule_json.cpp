#include "bench/track/rule_json.hpp"

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
  const TrackRule usual;
  try {
    if (parsed.is_object())
      return {.least_effect = parsed.value("least_effect", usual.least_effect),
              .level = parsed.value("level", usual.level),
              .spread = parsed.value("spread", usual.spread),
              .most_runs = parsed.value("most_runs", usual.most_runs),
              .fewest_runs = parsed.value("fewest_runs", usual.fewest_runs),
              .launches = parsed.value("launches", usual.launches),
              .confirming = parsed.value("confirming", usual.confirming)};
  } catch (const Json::exception&) {
  }
  throw Error(ExitCode::wrong_data, "a stored rule is no JSON of a rule", "hbench db check");
}

}  // namespace hbench
