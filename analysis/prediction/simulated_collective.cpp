#include "analysis/prediction/simulated_collective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "analysis/points/collectives.hpp"
#include "analysis/points/unknowns.hpp"
#include "analysis/prediction/case_strategy.hpp"
#include "analysis/prediction/simulate.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/units_text.hpp"
#include "collectives/exchange/exchange.hpp"
#include "collectives/network/collective_model.hpp"

namespace hbench {
namespace {

const Profile& profile_of(const Case& asked, std::span<const Profile> clusters) {
  return *std::ranges::find(clusters, asked.profile, &Profile::name);
}

/// Simulates the cases of one cluster and world after another, for which it keeps schedules.
class Simulation {
 public:
  Simulation(std::span<const Profile> clusters, StopRequested stop) : clusters_(clusters), stop_(std::move(stop)) {}

  CaseResult run(const Case& asked) {
    const Profile& stated = profile_of(asked, clusters_);
    const CollectiveModel::Answer answer = ask(stated, "", asked);
    CaseResult result;
    result.asked = asked;
    const auto add = [&](std::string_view metric, double value, const char* unit = "s") {
      result.samples.push_back({.metric = std::string(metric), .value = value, .unit = unit});
    };
    const std::vector<Unknown> unknowns = answer.basis == TimeBasis::curve
                                              ? std::vector{Unknown{UnknownKind::source, kCurveError, kCurveError}}
                                              : unknowns_of(facts_of(stated, asked, answer.time.value));
    const BandFactors band = band_of(unknowns);
    add(metric::kInPlace, answer.time.value);
    add(metric::kInPlaceLow, answer.time.value * band.low);
    add(metric::kInPlaceHigh, answer.time.value * band.high);
    for (const Unknown& each : unknowns) add(fmt::format("{}{}", kUnknownPrefix, name_of(each.kind)), each.size(), "1");
    add(fmt::format("{}{}", metric::kBasis, to_string(answer.basis)), 1, "");
    return result;
  }

 private:
  /// A model keeps a reference to its profile.
  struct Kept {
    Profile profile;
    std::optional<CollectiveModel> model;
  };

  CollectiveFacts facts_of(const Profile& stated, const Case& asked, double time) {
    const auto at = [&](const Profile& profile, const std::string& which) {
      return ask(profile, which, asked).time.value;
    };
    const auto calling = [&](double more, const std::string& which) {
      // Where nothing is called, nothing is not known of it.
      if (stated.call_latency.value == 0) return time;
      Profile other = stated;
      other.call_latency = Seconds(std::max(0.0, stated.call_latency.value + more));
      return at(other, which);
    };
    const NetworkEnds ends = network_ends(stated, rate_prior(stated, asked.gpus));
    return {.time = time,
            .rates = {.better = at(stated.at(End::better).slowed(ends.faster), "better rates"),
                      .worse = at(stated.at(End::worse).slowed(ends.slower), "worse rates")},
            .hops = {.better = at(stated.delayed(1 / kHopPrior.shorter), "short hops"),
                     .worse = at(stated.delayed(kHopPrior.longer), "long hops")},
            .calls = {.better = calling(-kCallPrior.faster, "cheap calls"),
                      .worse = calling(kCallPrior.slower, "dear calls")},
            .nodes = stated.nodes_of(asked.gpus)};
  }

  CollectiveModel::Answer ask(const Profile& profile, const std::string& which, const Case& asked) {
    const World world = world_of_collective(asked);
    const std::tuple key{profile.name, world.workers, world.servers, world.colocated, world.group};
    if (key != last_) kept_.clear();
    last_ = key;
    Kept& kept = kept_[which];
    if (!kept.model) {
      kept.profile = profile;
      kept.model.emplace(kept.profile, world, stop_);
    }
    const DataTypeEntry& type = entry_of(parse_data_type(asked.collective.data_type));
    const CompressorChoice compressor = parse_compressor(asked.strategy.compressor);
    Encoding encoding = compressor.encoding();
    encoding.element_size = type.size;
    const std::int64_t bytes = asked.collective.bytes;
    return kept.model->answer(algorithm_of(asked, bytes), encoding, bytes / static_cast<std::int64_t>(type.size),
                              asked.collective.segments);
  }

  std::span<const Profile> clusters_;
  StopRequested stop_;
  std::tuple<std::string, int, int, bool, int> last_;
  std::map<std::string, Kept> kept_;
};

bool is_of(const MeasuredCurve& curve, const Case& asked) {
  return curve.collective == parse_collective_kind(asked.collective.name) && curve.ranks == asked.gpus &&
         curve.nodes == asked.nodes && curve.algorithm == asked.strategy.algorithm && !asked.strategy.compresses();
}

std::string percent(double logarithm) { return fmt::format("{:.0f} %", 100 * std::expm1(std::abs(logarithm))); }

}  // namespace

std::string refuse_to_simulate(const Case& asked, std::int64_t memory) {
  const AlgorithmChoice choice = algorithm_of(asked, asked.collective.bytes);
  const World world = world_of_collective(asked);
  const CompressorChoice compressor = parse_compressor(asked.strategy.compressor);
  if (compressor.compressor->exchange != Exchange::per_hop)
    return fmt::format("{} is simulated in training steps only (hbench sweep)", compressor.text());
  // Of GPUs' libraries all have a type for half precision.
  if (choice.algorithm->is_vendor() && compressor.verbatim()) return choice.algorithm->refuses(world);
  if (std::string why = refuse_exchange(choice, compressor, parse_data_type(asked.collective.data_type),
                                        parse_reduce_op(asked.collective.operation), world);
      !why.empty())
    return why;
  const int segments =
      asked.collective.segments > 0 ? asked.collective.segments : choice.segments(world, asked.collective.bytes);
  const Shape shape = choice.algorithm->shape({.world = world, .segments = segments, .parameters = choice.parameters});
  const std::int64_t needed = bytes_of_plan(*choice.algorithm, shape) + bytes_of_times(world, shape);
  if (memory <= 0 || needed <= memory) return {};
  return fmt::format("it needs {} to be simulated, and this machine has {}", format(Bytes(static_cast<double>(needed))),
                     format(Bytes(static_cast<double>(memory))));
}

std::vector<CaseResult> simulate_collectives(std::span<const Case> cases, std::span<const Profile> clusters,
                                             const StopRequested& stop,
                                             const std::function<void(const CaseResult&)>& done) {
  Simulation simulation(clusters, stop);
  std::vector<CaseResult> results;
  for (const Case& asked : cases) {
    try {
      results.push_back(simulation.run(asked));
    } catch (const Error& error) {
      if (error.code() == ExitCode::interrupted) break;
      throw;
    }
    done(results.back());
  }
  return results;
}

std::vector<std::string> curve_notes(std::span<const Case> cases, std::span<const Profile> clusters) {
  std::set<const MeasuredCurve*> asked_for;
  std::vector<std::string> notes;
  for (const Case& asked : cases) {
    const Profile& profile = profile_of(asked, clusters);
    for (const MeasuredCurve& curve : profile.curves) {
      if (!is_of(curve, asked) || !asked_for.insert(&curve).second) continue;
      const CurveErrors errors = model_errors(profile, curve);
      notes.push_back(fmt::format(
          "{} of {} ranks on {} was measured from {} to {} ({}). The model alone is {} off on average, at most {} too "
          "{}.",
          asked.collective.name, curve.ranks, profile.name,
          exact_text(Bytes(static_cast<double>(curve.points.front().bytes))),
          exact_text(Bytes(static_cast<double>(curve.points.back().bytes))), curve.source, percent(errors.mean_size()),
          percent(errors.worst()), errors.worst() > 0 ? "slow" : "fast"));
    }
  }
  return notes;
}

}  // namespace hbench
