#include "analysis/prediction/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include "analysis/prediction/rate_model.hpp"
#include "analysis/prediction/simulate.hpp"
#include "analysis/published/published.hpp"
#include "analysis/records/fingerprint.hpp"
#include "collectives/base/file.hpp"

namespace hbench {
namespace {

/// 0 where the result has no such sample.
double figure_of(const CaseResult& result, std::string_view metric) { return value_of(result, metric).value_or(0); }

/// Calls `work` for `row`; an error that it throws names the place of the row in its table.
template <class Work>
void at_row(const CaseResult& row, const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    if (row.origin.empty()) throw;
    throw Error(error.code(), fmt::format("{}: {}", row.origin, error.what()), error.hint());
  }
}

/// A GPU that is this much faster than its rate in single precision computes in half precision.
constexpr double kHalfIsFaster = 1.8;

/// A preset whose step costs what is taken where no published step says otherwise (`kStepOfFramework`).
constexpr const char* kFrameworkWithoutCost = "oneflow";

/// Whether the words of a citation, or the rate of one GPU in it, are of mixed precision.
bool is_mixed(const CaseResult& published, const Profile& cluster) {
  const std::string& text = published.asked.source;
  for (const std::string_view word : {"mixed precision", "mixed-precision", "fp16", "FP16", "bf16", "AMP"})
    if (text.find(word) != std::string::npos) return true;
  const auto known = cluster.rates.find(published.asked.workload);
  return known != cluster.rates.end() && known->second.factor <= kUsualRateFactor &&
         figure_of(published, "baseline_throughput") > kHalfIsFaster * known->second.samples_per_second;
}

/// What a published case asks, to be simulated.
Case simulated_case(const CaseResult& published, bool mixed) {
  Case asked = published.asked;
  asked.evidence = Evidence::simulated;
  asked.implementation = kSimulatorRevision;
  asked.single_gpu_rate = figure_of(published, "baseline_throughput");
  if (mixed && asked.training.precision.empty()) asked.training.precision = "fp16";
  return asked;
}

/// What the words of a citation say after its address.
std::string_view note_of(const Case& published) {
  const std::string_view text = published.source;
  return text.substr(std::min(text.size(), text.find(' ')));
}

/// Whether two rows are of one model on one cluster by one source.
bool same_model(const Case& one, const Case& other) {
  return one.profile == other.profile && one.workload == other.workload &&
         publisher_of(one.source) == publisher_of(other.source);
}

/// What a row starts from that states no rate of one GPU: the row of one full node with the same note, at any batch and
/// itself perhaps, where the source has several nodes as well. Null where there is none.
const CaseResult* start_of(const CaseResult& row, const std::vector<CaseResult>& published, int full) {
  if (figure_of(row, "baseline_throughput") > 0 || row.asked.gpus < full || full == 1) return nullptr;
  const CaseResult* node = nullptr;
  bool several = false;
  for (const CaseResult& each : published) {
    if (!same_model(each.asked, row.asked) || note_of(each.asked) != note_of(row.asked)) continue;
    several = several || each.asked.gpus > full;
    if (node == nullptr && each.asked.gpus == full && figure_of(each, "throughput") > 0) node = &each;
  }
  return several ? node : nullptr;
}

/// The name of a cluster whose GPUs are as fast as they were in one row of a full node.
std::string cluster_as_in(const CaseResult& node) { return node.asked.profile + " as in " + node.asked.source; }

/// The same catalogue with those clusters.
Catalog with_starts(Catalog catalog, const std::vector<CaseResult>& published) {
  for (const CaseResult& row : published) {
    const Profile& cluster = catalog.profiles.at(row.asked.profile);
    const CaseResult* node = start_of(row, published, cluster.gpus_per_node);
    if (node == nullptr) continue;
    Profile started = cluster;
    const double throughput = figure_of(*node, "throughput");
    started.rates[row.asked.workload] = {.samples_per_second = throughput / cluster.gpus_per_node,
                                         .batch = node->asked.batch_per_gpu,
                                         .source = node->asked.source,
                                         .node = throughput};
    catalog.profiles.emplace(cluster_as_in(*node), std::move(started));
  }
  return catalog;
}

/// \throws Error (usage) for what cannot be simulated.
void require_simulable(const CaseResult& published, const Catalog& catalog, std::int64_t memory) {
  const Case& asked = published.asked;
  if (!asked.strategy.communicates())
    throw Error(ExitCode::usage, fmt::format("{} on {}: a GPU alone exchanges nothing", asked.workload, asked.profile),
                "leave out the row; its rate is the baseline_throughput of others");
  const Profile& cluster = catalog.profiles.at(asked.profile);
  std::string why = refuse_simulation(planned(asked), catalog, memory);
  if (why.empty() && figure_of(published, "baseline_throughput") == 0 && !cluster.rates.contains(asked.workload))
    why = "no rate of one GPU: the row states no baseline_throughput, and the profile has none";
  if (why.empty()) return;
  throw Error(ExitCode::usage,
              fmt::format("{} on {} GPUs of {}, {}: {}", asked.workload, asked.gpus, asked.profile,
                          asked.strategy.label(), why),
              "correct the row, or leave it out");
}

/// Seconds of a step; `rate` of one GPU, where only an efficiency is stated.
double published_step(const CaseResult& published, double rate) {
  const double batch = published.asked.batch_per_gpu;
  if (const double throughput = figure_of(published, "throughput"); throughput > 0)
    return batch * published.asked.gpus / throughput;
  return batch / rate / figure_of(published, "efficiency");
}

StepBesideFigure prediction_of(const SimulatedStep& simulated, double published, const Case& asked) {
  const double step = simulated.times.step.value;  // of the schedule, around which the band lies
  return {.published = published,
          .predicted = simulated.step().value,
          .low = simulated.low.value,
          .high = simulated.high.value,
          .residual = {.source = publisher_of(asked.source),
                       .cluster = asked.profile,
                       .framework = asked.strategy.preset,
                       .unknowns = simulated.unknowns,
                       .communication = simulated.times.communication / simulated.times.step,
                       .off = std::log(std::max(published, asked.batch_per_gpu / simulated.rate) / step)}};
}

/// The step as if nothing were known of its framework. What that costs, the step keeps: it is a part of the band.
SimulatedStep unnamed(SimulatedStep step) {
  step.facts.framework_known = false;
  step.unknowns = unknowns_of(step.facts);
  const BandFactors band = band_of(step.unknowns);
  step.low = step.times.step * band.low;
  step.high = step.times.step * band.high;
  return step;
}

/// Predicts the figures of one table.
class Validator {
 public:
  Validator(const std::vector<CaseResult>& published, const Catalog& catalog, const SimulationMeans& means,
            RowStart start)
      : published_(published),
        start_(start),
        catalog_(start == RowStart::node ? with_starts(catalog, published) : catalog),
        runner_(catalog_, means.stop, false, start == RowStart::job) {}

  Validation operator()(const CaseResult& published) {
    const Profile& cluster = catalog_.profiles.at(published.asked.profile);
    const std::vector<Figure> assumed = cluster.assumed();
    const bool several = cluster.domains_of(published.asked.gpus) > 1;
    const PlannedCase asked = asked_of(published);
    const SimulatedStep step = runner_.step(asked);
    const double seen = published_step(published, step.rate);
    Validation validation{prediction_of(step, seen, published.asked)};
    validation.asked = published.asked;
    validation.chosen = start(published) == &published ? kStart : chosen_with(published.asked);
    if (validation.chosen == "preset") {
      Case other = asked;
      other.strategy.preset = kFrameworkWithoutCost;
      validation.left_out = prediction_of(runner_.step(planned(other)), seen, published.asked);
    }
    validation.mixed_precision = is_mixed(published, cluster);
    validation.computed_timeline = catalog_.traces.at(published.asked.workload).computed();
    validation.assumed_links = std::ranges::any_of(
        assumed, [several](const Figure& figure) { return figure.key.starts_with(several ? "network." : "local."); });
    validation.rate = step.rate;
    validation.better = std::min(step.step(), step.fast).value;
    validation.worse = std::max(step.step(), step.slow).value;
    if (const double node = node_rate(published); node > 0)
      validation.from_node = prediction_of(runner_.step(asked, node), seen, published.asked);
    if (!published.asked.strategy.preset.empty())
      validation.unnamed = prediction_of(unnamed(step), seen, published.asked);
    return validation;
  }

  double log_error(const CaseResult& published) {
    const StatedStep stated = runner_.stated(asked_of(published), node_rate(published));
    return std::log(stated.step.value / published_step(published, stated.rate));
  }

 private:
  const CaseResult* start(const CaseResult& published) const {
    if (start_ != RowStart::node) return nullptr;
    return start_of(published, published_, catalog_.profiles.at(published.asked.profile).gpus_per_node);
  }

  PlannedCase asked_of(const CaseResult& published) const {
    Case asked = simulated_case(published, is_mixed(published, catalog_.profiles.at(published.asked.profile)));
    if (const CaseResult* node = start(published)) {
      asked.profile = cluster_as_in(*node);
      asked.global_batch = published.asked.batch_per_gpu * published.asked.gpus;
    }
    return planned(asked);
  }

  /// What the same job makes on one full node by the same source; 0: it is one, or the source does not say.
  double node_rate(const CaseResult& published) const {
    const Case& asked = published.asked;
    const int full = catalog_.profiles.at(asked.profile).gpus_per_node;
    if (asked.gpus <= full || full == 1) return 0;
    for (const CaseResult& each : published_) {
      const Case& node = each.asked;
      const bool same = node.gpus == full && same_model(node, asked) && node.batch_per_gpu == asked.batch_per_gpu &&
                        node.strategy == asked.strategy &&
                        figure_of(each, "baseline_throughput") == figure_of(published, "baseline_throughput");
      if (same) return figure_of(each, "throughput");
    }
    return 0;
  }

  const std::vector<CaseResult>& published_;
  const RowStart start_;
  const Catalog catalog_;
  SimulatedRunner runner_;
};

/// What `work` makes of each row, in their order.
template <class Result, class Work>
std::vector<Result> of_each(const std::vector<CaseResult>& published, const Catalog& catalog,
                            const SimulationMeans& means, Work&& work) {
  for (const CaseResult& each : published) at_row(each, [&] { require_simulable(each, catalog, means.memory); });
  // The runner is quickest where a profile and a number of GPUs follow themselves.
  std::vector<std::size_t> order(published.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    return std::pair(std::string_view(published[i].asked.profile), published[i].asked.gpus);
  });
  std::vector<Result> all(published.size());
  for (const std::size_t i : order) all[i] = work(published[i]);
  return all;
}

/// Rates of one GPU that are further apart are of two programs or two precisions.
constexpr double kSameRate = 0.01;

bool is_pair(const Validation& a, const Validation& b) {
  // The ratio says nothing of a figure from which one of its profile was computed; other choices are on both sides.
  if (a.chosen == "profile" || b.chosen == "profile" || a.residual.source != b.residual.source) return false;
  const Case &one = a.asked, &other = b.asked;
  return one.workload == other.workload && one.profile == other.profile && one.gpus == other.gpus &&
         one.batch_per_gpu == other.batch_per_gpu && a.mixed_precision == b.mixed_precision &&
         std::fabs(std::log(a.rate / b.rate)) < kSameRate && one.strategy.label() != other.strategy.label();
}

ValidatedPair pair_of(const Validation& first, const Validation& second) {
  const StepEnds a = first.ends(), b = second.ends();
  ValidatedPair pair{.first = &first,
                     .second = &second,
                     .lead = lead_of(a, b),
                     .published = second.published / first.published,
                     .servers = a.servers != b.servers,
                     .compressor = first.asked.strategy.compresses() != second.asked.strategy.compresses()};
  pair.residual = first.residual;
  pair.residual.unknowns = unknowns_of(a, b);
  pair.residual.off = std::log(pair.published / pair.lead.ratio);
  return pair;
}

}  // namespace

StepEnds Validation::ends() const {
  return {.stated = predicted,
          .better = better,
          .worse = worse,
          .exposed = share_exposed(predicted, asked.batch_per_gpu / rate),
          .servers = asked.strategy.uses_servers(),
          .coding = size_of(residual.unknowns, UnknownKind::compressor)};
}

std::vector<CaseResult> read_published(const std::string& file) {
  std::istringstream in(read_file(file));
  return published_results(in, file);
}

Catalog catalog_of(const std::vector<CaseResult>& published, const Data& data, Catalog known) {
  const RateModel rates(data.profiles.gpus());
  for (const CaseResult& each : published)
    at_row(each, [&] {
      if (!known.profiles.contains(each.asked.profile))
        known.profiles.emplace(each.asked.profile, data.profiles.load(each.asked.profile));
      if (!known.traces.contains(each.asked.workload))
        known.traces.emplace(each.asked.workload, data.traces.load(each.asked.workload));
      take_rate(known.profiles.at(each.asked.profile), known.traces.at(each.asked.workload), rates);
    });
  return known;
}

std::vector<Validation> validate(const std::vector<CaseResult>& published, const Data& data,
                                 const SimulationMeans& means) {
  return validate(published, catalog_of(published, data), means);
}

std::vector<Validation> validate(const std::vector<CaseResult>& published, const Catalog& catalog,
                                 const SimulationMeans& means, RowStart start) {
  Validator validator(published, catalog, means, start);
  return of_each<Validation>(published, catalog, means, validator);
}

std::vector<double> prediction_errors(const std::vector<CaseResult>& published, const Catalog& catalog,
                                      const SimulationMeans& means) {
  Validator validator(published, catalog, means, RowStart::profile);
  return of_each<double>(published, catalog, means, [&](const CaseResult& row) { return validator.log_error(row); });
}

std::vector<ValidatedPair> pairs_of(const std::vector<Validation>& figures) {
  std::vector<ValidatedPair> pairs;
  for (std::size_t i = 0; i < figures.size(); ++i)
    for (std::size_t k = i + 1; k < figures.size(); ++k)
      if (is_pair(figures[i], figures[k])) pairs.push_back(pair_of(figures[i], figures[k]));
  return pairs;
}

}  // namespace hbench
