#include "analysis/choose/choose.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analysis/prediction/one_gpu.hpp"
#include "analysis/published/published.hpp"

namespace hbench {
namespace {

/// What nobody states of the cluster, as far as it counts for the alternative.
std::optional<Doubt> doubt_of_assumptions(const Alternative& alternative, const Profile& profile) {
  std::string keys;
  double most = 1;
  bool network = false;
  for (const Figure& figure : profile.assumed_for(alternative.point.asked.gpus)) {
    keys += (keys.empty() ? "" : ", ") + figure.key;
    most = std::max(most, figure.assumed);
    network |= figure.key.starts_with("network.");
  }
  if (keys.empty()) return std::nullopt;
  return Doubt{fmt::format("nobody states {}: assumed, and up to {:g} times higher or lower", keys, most),
               network ? "nccl-tests on two nodes, for hbench calibrate --from" : "hbench calibrate on one node"};
}

std::optional<Doubt> doubt_of_network(const Alternative& alternative, const Profile& profile) {
  if (profile.domains_of(alternative.point.asked.gpus) == 1) return std::nullopt;
  if (alternative.point.asked.strategy.uses_servers() && profile.server_factor > 1)
    return Doubt{
        fmt::format("what its parameter servers handle is known within a factor of {:g}", profile.server_factor),
        "steps with servers on two nodes, for hbench calibrate --from"};
  if (profile.stream_factor > 1)
    return Doubt{fmt::format("what its TCP streams carry is known within a factor of {:g}", profile.stream_factor),
                 "hbench collective, or nccl-tests, on two nodes"};
  return std::nullopt;
}

}  // namespace

double uncertain_rate(const Choice& choice, const Profile& profile) {
  const auto rate = profile.rates.find(choice.timeline);
  const bool known = choice.single_gpu_rate > 0 || rate == profile.rates.end();
  return known || rate->second.factor <= kUsualRateFactor ? 1 : rate->second.factor;
}

std::vector<Doubt> doubts_of(const Choice& choice, const Alternative& alternative) {
  const Profile& profile = choice.catalog.profiles.at(alternative.point.asked.profile);
  std::vector<Doubt> doubts;
  if (auto doubt = doubt_of_network(alternative, profile)) doubts.push_back(std::move(*doubt));
  if (auto doubt = doubt_of_assumptions(alternative, profile)) doubts.push_back(std::move(*doubt));
  if (std::ranges::find(alternative.assumed, "price.retrieved") != alternative.assumed.end())
    doubts.push_back({"nobody states when its price was read: a third higher or lower",
                      "a price of today in a profile of your own"});
  if (const double factor = uncertain_rate(choice, profile); factor > 1)
    doubts.push_back({fmt::format("the samples/s of one GPU are {}known within a factor of {:g}",
                                  has_modelled_rate(alternative.point.asked) ? "modelled, and " : "", factor),
                      "hbench calibrate on one GPU"});
  const Case& asked = alternative.point.asked;
  if (alternative.point.rate_factor > 1)
    doubts.push_back(
        {fmt::format("the samples/s of one GPU at a batch of {}: from those at {}, within a factor of {:.2g}",
                     asked.micro_batch(), one_gpu(planned(asked), choice.catalog).known_at,
                     alternative.point.rate_factor),
         fmt::format("hbench calibrate --batch {} on one GPU", asked.micro_batch())});
  if (std::string doubt = warn_of_batch(asked); !doubt.empty())
    doubts.push_back({std::move(doubt), "a training to its end, or a smaller --global-batch"});
  if (const auto& widest = alternative.point.widest)
    doubts.push_back({fmt::format("most of the band is {}", in_words(*widest)), std::string(measurement_of(*widest)),
                      alternative.point.narrowed});
  return doubts;
}

}  // namespace hbench
