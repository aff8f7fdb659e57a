#include "analysis/track/rule_json.hpp"

#include <nlohmann/json.hpp>

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

}  // namespace hbench
