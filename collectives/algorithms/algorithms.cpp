#include "collectives/algorithms/algorithm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "collectives/base/error.hpp"
#include "collectives/base/parameters.hpp"
#include "collectives/base/table.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

constexpr std::array<std::string_view, 4> kCollectiveKinds{"all-reduce", "reduce-scatter", "all-gather", "broadcast"};

}  // namespace

// All-reduces
extern const Algorithm kRing;
extern const Algorithm kSegmentedRing;
extern const Algorithm kRecursiveDoubling;
extern const Algorithm kHalvingDoubling;
extern const Algorithm kBinomialTree;
extern const Algorithm kDoubleBinaryTree;
extern const Algorithm kHierarchical;
extern const Algorithm kTorus;
extern const Algorithm kDirect;
extern const Algorithm kParameterServer;
extern const Algorithm kVendor;
// What they are made of
extern const Algorithm kRingReduceScatter;
extern const Algorithm kSegmentedRingReduceScatter;
extern const Algorithm kRecursiveHalving;
extern const Algorithm kDirectReduceScatter;
extern const Algorithm kVendorReduceScatter;
extern const Algorithm kRingAllGather;
extern const Algorithm kSegmentedRingAllGather;
extern const Algorithm kRecursiveDoublingAllGather;
extern const Algorithm kDirectAllGather;
extern const Algorithm kVendorAllGather;
extern const Algorithm kBinomialBroadcast;
extern const Algorithm kDoubleTreeBroadcast;
extern const Algorithm kChain;
extern const Algorithm kVendorBroadcast;

std::span<const Algorithm* const> algorithms() {
  static constexpr std::array kTable{
      &kRing,
      &kSegmentedRing,
      &kRecursiveDoubling,
      &kHalvingDoubling,
      &kBinomialTree,
      &kDoubleBinaryTree,
      &kHierarchical,
      &kTorus,
      &kDirect,
      &kParameterServer,
      &kVendor,
      &kRingReduceScatter,
      &kSegmentedRingReduceScatter,
      &kRecursiveHalving,
      &kDirectReduceScatter,
      &kVendorReduceScatter,
      &kRingAllGather,
      &kSegmentedRingAllGather,
      &kRecursiveDoublingAllGather,
      &kDirectAllGather,
      &kVendorAllGather,
      &kBinomialBroadcast,
      &kDoubleTreeBroadcast,
      &kChain,
      &kVendorBroadcast,
  };
  return kTable;
}

std::vector<const Algorithm*> algorithms_for(CollectiveKind collective) {
  std::vector<const Algorithm*> all;
  std::ranges::copy_if(algorithms(), std::back_inserter(all),
                       [&](const Algorithm* entry) { return entry->collective == collective; });
  return all;
}

std::optional<AlgorithmChoice> same_named(const AlgorithmChoice& algorithm, CollectiveKind collective) {
  for (const Algorithm* entry : algorithms_for(collective)) {
    if (entry->name != algorithm.algorithm->name) continue;
    const bool same = entry->fields == algorithm.algorithm->fields;
    return AlgorithmChoice{entry, same ? algorithm.parameters : std::string(entry->defaults)};
  }
  return std::nullopt;
}

std::optional<AlgorithmChoice> part_of(const AlgorithmChoice& all_reduce, CollectiveKind collective) {
  const Algorithm& whole = *all_reduce.algorithm;
  if (whole.collective == collective) return all_reduce;
  if (const auto same = same_named(all_reduce, collective)) return same;
  for (const Algorithm* const part : {whole.reduce_scatter, whole.all_gather})
    if (part != nullptr && part->collective == collective) return AlgorithmChoice{part, std::string(part->defaults)};
  return std::nullopt;
}

Cost Algorithm::cost(const ScheduleRequest& request, std::int64_t elements) const {
  const Shape declared = shape(request);
  const std::vector<std::int64_t> offsets = even_offsets(declared.chunks, elements);
  Cost busiest{.rounds = declared.rounds};
  for (Rank rank = 0; rank < request.world.ranks(); ++rank) {
    const Traffic own = traffic(request, Cut(offsets), rank);
    busiest.sent = std::max(busiest.sent, own.sent);
    busiest.received = std::max(busiest.received, own.received);
  }
  return busiest;
}

RunSchedule Algorithm::runs(const ScheduleRequest& request) const {
  return build_runs != nullptr ? build_runs(request) : to_runs(build(request));
}

std::string AlgorithmChoice::text() const {
  return parameters.empty() ? std::string(algorithm->name) : fmt::format("{}:{}", algorithm->name, parameters);
}

int AlgorithmChoice::segments(const World& world, std::int64_t bytes) const {
  const bool cuts = algorithm->pipelined != nullptr ? algorithm->pipelined(parameters) : algorithm->segments != nullptr;
  return cuts ? algorithm->segments(world, bytes) : 1;
}

Schedule AlgorithmChoice::build(const World& world, int segments, std::span<const Shard> shards) const {
  return algorithm->build({.world = world, .segments = segments, .parameters = parameters, .shards = shards});
}

RunSchedule AlgorithmChoice::runs(const World& world, int segments, std::span<const Shard> shards) const {
  return algorithm->runs({.world = world, .segments = segments, .parameters = parameters, .shards = shards});
}

AlgorithmChoice parse_algorithm(std::string_view text, CollectiveKind collective) {
  const auto [name, given] = split_name(text);
  const std::vector<const Algorithm*> candidates = algorithms_for(collective);
  const Algorithm& algorithm = find_entry(std::span<const Algorithm* const>(candidates), name, "algorithm");
  AlgorithmChoice choice{&algorithm,
                         complete_parameters("algorithm", name, algorithm.fields, algorithm.defaults, given)};
  if (algorithm.check_parameters != nullptr) algorithm.check_parameters(choice.parameters);
  return choice;
}

std::string_view to_string(CollectiveKind collective) { return kCollectiveKinds[static_cast<std::size_t>(collective)]; }

CollectiveKind parse_collective_kind(std::string_view text) {
  std::string name(text);
  std::ranges::replace(name, '_', '-');  // `all_reduce`, as PyTorch and NCCL's tools write it
  const auto found = std::ranges::find(kCollectiveKinds, name);
  if (found == kCollectiveKinds.end()) throw unknown_name("collective", text, kCollectiveKinds);
  return static_cast<CollectiveKind>(found - kCollectiveKinds.begin());
}

const AlgorithmChoice& AlgorithmRule::at(std::int64_t bytes) const {
  return std::ranges::find_if(ranges_, [&](const Range& range) { return bytes < range.below; })->choice;
}

bool AlgorithmRule::uses_groups() const {
  return std::ranges::any_of(ranges_, [](const Range& range) { return range.choice.algorithm->uses_groups; });
}

std::string AlgorithmRule::refuses(const World& world) const {
  for (const Range& range : ranges_)
    if (std::string why = range.choice.algorithm->refuses(world); !why.empty()) return why;
  return {};
}

std::string AlgorithmRule::text() const {
  std::string text;
  for (const Range& range : ranges_) {
    if (!text.empty()) text += '/';
    text += range.choice.text();
    if (range.below != INT64_MAX) text += fmt::format("@{}", exact_text(Bytes(static_cast<double>(range.below))));
  }
  return text;
}

AlgorithmRule parse_algorithm_rule(std::string_view text) {
  AlgorithmRule rule;
  const std::vector<std::string_view> parts = split(text, '/');
  for (const std::string_view part : parts) {
    const std::size_t at = part.find('@');
    const bool last = rule.ranges_.size() + 1 == parts.size();
    if (last != (at == std::string_view::npos))
      throw Error(ExitCode::usage, fmt::format("'{}' does not say which algorithm serves which size", text),
                  "write such as recursive-doubling@16KiB/ring: all but the last with the size below which they serve");
    AlgorithmRule::Range range{.choice = parse_algorithm(part.substr(0, at))};
    if (!last) range.below = static_cast<std::int64_t>(parse_bytes(part.substr(at + 1)).value);
    if (!rule.ranges_.empty() && range.below <= rule.ranges_.back().below)
      throw Error(ExitCode::usage, fmt::format("the sizes of '{}' do not ascend", text), "sort them");
    const Algorithm& algorithm = *range.choice.algorithm;
    if (parts.size() > 1 && (algorithm.uses_servers || algorithm.concurrent || algorithm.is_vendor()))
      throw Error(ExitCode::usage,
                  fmt::format("'{}' cannot be one of several algorithms for different sizes", algorithm.name),
                  "give it alone");
    rule.ranges_.push_back(std::move(range));
  }
  return rule;
}

}  // namespace hbench
