#include "analysis/points/unknowns.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace hbench {
namespace {

struct Entry {
  std::string_view name, words, measurement;
  std::string_view condition = {};  ///< under which it costs nothing, where that is for the user to know
};

/// In the order of the kinds.
constexpr std::array<Entry, kUnknownKinds.size()> kEntries{{
    {"network", "what the network carries", "nccl-tests on two nodes, for hbench calibrate --from"},
    {"servers", "what parameter servers handle", "steps with servers on two nodes, for hbench calibrate --from"},
    {"links", "what the links inside a node carry while GPUs compute",
     "the samples/s of one full node, as --single-node-rate"},
    {"input", "whether input and hosts keep up with the GPUs of a node",
     "the samples/s of one full node, as --single-node-rate", "input keeps up"},
    {"scale", "what many nodes lose beside communication", "a step on as many nodes, for hbench calibrate --from"},
    {"framework", "what the framework costs on the host",
     "--preset, which names it, or the samples/s of one full node, as --single-node-rate", "the framework keeps up"},
    {"timeline", "when gradients become ready: the timeline is computed",
     "hbench import-job of a recorded step, or the recorder"},
    {"precision", "what mixed precision changes", "the samples/s of one full node in this precision"},
    {"compressor", "what the compressor's implementation costs", "hbench collective --compressor on one GPU",
     "the compressor costs nothing"},
    {"call", "what a call of a collective costs on the host",
     "nccl-tests of small buffers, for hbench calibrate --from"},
    {"hops", "what a message takes from GPU to GPU", "nccl-tests of small buffers, for hbench calibrate --from"},
    {"library", "which algorithm and protocol run", "nccl-tests at this size, for hbench calibrate --from"},
    {"source", "how far equal runs differ", "a second run"},
}};

const Entry& entry(UnknownKind kind) { return kEntries.at(static_cast<std::size_t>(kind)); }

// Half-widths with 90 %, on logarithms.
/// Equal runs: one source prints one configuration with up to 36 % difference, most with 2 to 5 %.
constexpr double kSource = 0.08;
/// For each doubling of the GPUs of a node.
constexpr double kSwitchedLinks = 0.02, kBusLinks = 0.115;
/// Input and hosts: for each e-fold of samples/s of a node above `kEasyInput`.
constexpr double kInput = 0.15, kEasyInput = 2000;
/// For each doubling of nodes.
constexpr double kScaleKnown = 0.05, kScaleAssumed = 0.107;
/// Seconds of each step and of each tensor that a framework without a preset may take on the host, and one with.
constexpr double kStepOfAny = 0.03, kStepOfKnown = 0.004, kTensorOfAny = 50e-6;
/// The share of hidden communication that such a framework may leave unhidden.
constexpr double kUnhiddenByAny = 0.5;
/// The share of communication that gradients which are ready sooner or later hide or leave.
constexpr double kComputedTimeline = 0.35;
constexpr double kPrecision = 0.25;
/// Seconds per byte and per tensor of chains of operators: published compressors add 0.1 to 0.6 s to ResNet-50's step.
constexpr double kCodingPerByte = 1.5e-9, kCodingPerTensor = 2.5e-3;
/// Which share of the way from the schedule to the slower end published steps have gone: the mean error of 262 of them
/// falls from 7.3 to 6.3 % with it, that of 150 which had no part in the choice (DLPerf's and CSC's) from 14.4 to 12.5.
constexpr double kLostShare = 0.15;
/// What the rate of a full node leaves of what it has in it.
constexpr double kLeftByNode = 0.3;

/// The logarithm of a step that takes `more` seconds more.
double longer(const StepFacts& facts, double more) { return std::log1p(std::max(0.0, more) / facts.step); }

double shorter(const StepFacts& facts, double less) { return -std::log1p(-std::clamp(less / facts.step, 0.0, 0.9)); }

}  // namespace

std::string_view name_of(UnknownKind kind) { return entry(kind).name; }
std::string_view in_words(UnknownKind kind) { return entry(kind).words; }
std::string_view measurement_of(UnknownKind kind) { return entry(kind).measurement; }

std::vector<Unknown> unknowns_of(const StepFacts& facts) {
  const double left = facts.node_measured ? kLeftByNode : 1;
  const double doublings = std::log2(std::max(1, facts.gpus_of_node)), nodes = std::log2(std::max(1, facts.nodes));
  std::vector<Unknown> all;
  const auto add = [&](UnknownKind kind, double slower, double faster = 0) {
    if (!(slower > 0) && !(faster > 0)) return;
    const auto known = std::ranges::find(all, kind, &Unknown::kind);
    Unknown& each = known != all.end() ? *known : all.emplace_back(Unknown{.kind = kind});
    each.slower = std::hypot(each.slower, std::max(0.0, slower));
    each.faster = std::hypot(each.faster, std::max(0.0, faster));
  };
  add(facts.servers       ? UnknownKind::servers
      : facts.domains > 1 ? UnknownKind::network
                          : UnknownKind::links,
      std::log(facts.worse / facts.step), std::log(facts.step / facts.better));
  add(UnknownKind::links, left * (facts.switched_links ? kSwitchedLinks : kBusLinks) * doublings);
  if (facts.gpus_of_node > 1) add(UnknownKind::input, left * kInput * std::log1p(facts.node_rate / kEasyInput));
  add(UnknownKind::scale, (facts.assumed_network ? kScaleAssumed : kScaleKnown) * nodes);
  add(UnknownKind::framework, left * (facts.framework_known ? longer(facts, kStepOfKnown)
                                                            : longer(facts, kStepOfAny + kTensorOfAny * facts.tensors +
                                                                                kUnhiddenByAny * facts.hidden)));
  if (facts.computed_timeline)
    add(UnknownKind::timeline, longer(facts, kComputedTimeline * facts.hidden),
        shorter(facts, kComputedTimeline * facts.exposed));
  if (facts.recorded_error > 0) add(UnknownKind::timeline, facts.recorded_error, facts.recorded_error);
  if (facts.mixed_precision) add(UnknownKind::precision, left * kPrecision, shorter(facts, facts.exposed / 2));
  if (facts.codes && !facts.coding_measured)
    add(UnknownKind::compressor, longer(facts, kCodingPerByte * facts.bytes + kCodingPerTensor * facts.tensors));
  add(UnknownKind::source, kSource, kSource);
  return all;
}

std::vector<Unknown> unknowns_of(const CollectiveFacts& facts) {
  const auto between = [&](UnknownKind kind, const CollectiveFacts::Ends& ends) {
    return Unknown{.kind = kind,
                   .slower = std::max(0.0, std::log(ends.worse / facts.time)),
                   .faster = std::max(0.0, std::log(facts.time / ends.better))};
  };
  const Unknown hops = between(UnknownKind::hops, facts.hops), calls = between(UnknownKind::call, facts.calls);
  const double library = std::min(kCollectiveError, kRateBoundError + hops.slower + calls.slower);
  return {between(facts.nodes > 1 ? UnknownKind::network : UnknownKind::links, facts.rates), hops, calls,
          Unknown{.kind = UnknownKind::library, .slower = library, .faster = library}};
}

double left_by_step(double half_width) { return std::hypot(half_width / 2, kSource); }

BandFactors band_of(const std::vector<Unknown>& unknowns, double scale) {
  double slower = 0, faster = 0;
  for (const Unknown& each : unknowns) {
    slower += each.slower * each.slower;
    faster += each.faster * each.faster;
  }
  return {.low = std::exp(-scale * std::sqrt(faster)), .high = std::exp(scale * std::sqrt(slower))};
}

std::string_view Narrowed::condition() const { return entry(kind).condition; }

std::string Narrowed::in_words(std::string_view end) const {
  return fmt::format(" if {}, else down to {}", condition(), end);
}

Band ScheduledStep::band(const std::vector<Unknown>& unknowns) const {
  const BandFactors factors = band_of(unknowns);
  // Whatever else may be wrong, communication does not make a GPU faster.
  return {.low = std::min(std::max(step * factors.low, alone), step),
          .stated = loses ? step * expected_loss(unknowns) : step,
          .high = step * factors.high};
}

std::optional<Narrowed> ScheduledStep::narrowed(std::vector<Unknown> unknowns) const {
  const auto width = [](const Band& band) { return std::log(band.high / band.low); };
  const double all = width(band(unknowns));
  Narrowed found{.kind = largest(unknowns).kind};
  std::erase_if(unknowns, [&](const Unknown& each) { return each.kind == found.kind; });
  found.band = band(unknowns);
  const bool narrows = all > std::log(kWideBand) && width(found.band) < all / 2;
  return narrows && !found.condition().empty() ? std::optional(found) : std::nullopt;
}

double expected_loss(const std::vector<Unknown>& unknowns) {
  const BandFactors band = band_of(unknowns);
  return std::exp(kLostShare * std::max(0.0, std::log(band.high * band.low)));
}

double size_of(const std::vector<Unknown>& unknowns, UnknownKind kind) {
  const auto known = std::ranges::find(unknowns, kind, &Unknown::kind);
  return known == unknowns.end() ? 0 : known->size();
}

const Unknown& largest(const std::vector<Unknown>& unknowns) {
  return *std::ranges::max_element(unknowns, {}, &Unknown::size);
}

std::string widest_in_words(const std::vector<UnknownKind>& widest) {
  std::vector<std::pair<std::ptrdiff_t, UnknownKind>> counts;
  for (const UnknownKind kind : kUnknownKinds)
    if (const auto count = std::ranges::count(widest, kind); count > 0) counts.emplace_back(-count, kind);
  std::ranges::sort(counts);
  std::string text;
  constexpr std::size_t kMostKinds = 2;
  for (std::size_t i = 0; i < std::min(kMostKinds, counts.size()); ++i)
    text += fmt::format("{} {} (known by: {})", i == 0 ? "Most of the width of bands is" : ", and of others",
                        in_words(counts[i].second), measurement_of(counts[i].second));
  return text.empty() ? text : text + ".";
}

}  // namespace hbench
