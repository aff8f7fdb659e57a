#include "collectives/network/collective_model.hpp"

#include <algorithm>
#include <cmath>

namespace hbench {
std::string_view to_string(TimeBasis basis) {
  switch (basis) {
    case TimeBasis::model:
      return "model";
    case TimeBasis::scaled:
      return "model, scaled";
    case TimeBasis::curve:
      return "curve";
  }
  return "";
}

namespace {

/// Groups that lie within nodes meet nothing of other nodes: one node stands for all.
World simulated_world(const Profile& profile, const World& world, const RankGroups& groups) {
  const int per_node = profile.gpus_per_domain();
  return groups.within(per_node) && world.workers > per_node ? World{.workers = per_node} : world;
}

}  // namespace

CollectiveModel::CollectiveModel(const Profile& profile, const World& world, StopRequested stop,
                                 const RankGroups& groups)
    : profile_(&profile),
      world_(simulated_world(profile, world, groups)),
      groups_(groups.size_among(world_.workers) == world_.workers ? RankGroups{} : groups),
      stop_(std::move(stop)),
      network_(profile, world_, groups.within(profile.gpus_per_domain()) ? groups.unit() : 0),
      plans_(network_.layout(), world_, groups_) {}

const MeasuredCurve* CollectiveModel::curve_of(const AlgorithmChoice& algorithm) const {
  const int nodes = profile_->nodes_of(world_.workers);
  const auto known = std::ranges::find_if(profile_->curves, [&](const MeasuredCurve& curve) {
    return groups_.all() && curve.collective == algorithm.algorithm->collective && curve.ranks == world_.workers &&
           curve.nodes == nodes && world_.servers == 0 && curve.algorithm == algorithm.text();
  });
  return known == profile_->curves.end() ? nullptr : &*known;
}

World CollectiveModel::of_group() const {
  return groups_.all() ? world_ : World{.workers = groups_.size_among(world_.workers)};
}

Seconds CollectiveModel::model(const AlgorithmChoice& algorithm, const Encoding& encoding, std::int64_t elements,
                               int segments) {
  const std::int64_t bytes = elements * static_cast<std::int64_t>(encoding.element_size);
  const World group = of_group();
  if (algorithm.algorithm->is_vendor()) {
    // What is sent in fewer bytes was cast as a whole, once before the call and once after it.
    const auto sent = Bytes(static_cast<double>(encoding.wire_bytes(elements)));
    return library_time(*profile_, algorithm.algorithm->collective, group.workers, sent).time +
           Seconds(encoding.coding(static_cast<double>(bytes), 1, 1, seconds_per_byte(profile_->memory_rate)));
  }
  if (segments == 0) segments = algorithm.segments(group, bytes);
  const Seconds moving = simulate(network_, plans_.of(algorithm, segments), encoding, elements, stop_);
  // A schedule runs as a kernel where the library's do.
  const bool is_called = group.ranks() > 1 && profile_->call_latency.value > 0;
  return is_called ? profile_->call_latency + kKernelBase + moving : moving;
}

std::optional<Moved> CollectiveModel::sent_per_rank(const AlgorithmChoice& algorithm, const Encoding& encoding,
                                                    std::int64_t elements) {
  if (algorithm.algorithm->is_vendor()) return {};
  const int segments = algorithm.segments(of_group(), elements * static_cast<std::int64_t>(encoding.element_size));
  const auto [share, is_new] = shares_.try_emplace({algorithm.algorithm, algorithm.parameters, segments});
  // Chunks of a large buffer are alike: what is counted once is true of every size.
  constexpr std::int64_t kLarge = std::int64_t{1} << 40;
  if (is_new)
    share->second = plans_.of(algorithm, segments).moved(network_.layout(), kLarge) *
                    (1 / (static_cast<double>(kLarge) * world_.workers));
  return share->second * static_cast<double>(encoding.wire_bytes(elements));
}

CollectiveModel::Answer CollectiveModel::answer(const AlgorithmChoice& algorithm, const Encoding& encoding,
                                                std::int64_t elements, int segments) {
  const MeasuredCurve* curve = encoding.codec == nullptr ? curve_of(algorithm) : nullptr;
  if (curve == nullptr) return {model(algorithm, encoding, elements, segments)};
  const auto element = static_cast<std::int64_t>(encoding.element_size);
  const std::int64_t bytes = elements * element;
  if (curve->holds(bytes)) return {curve->at(bytes), TimeBasis::curve};
  const std::int64_t end = curve->nearest_end(bytes);
  const auto [smaller, larger] = std::minmax(bytes, end);
  const Seconds time = model(algorithm, encoding, elements, segments);
  if (static_cast<double>(larger) > kFarFromCurve * static_cast<double>(std::max<std::int64_t>(smaller, 1)))
    return {time};
  const auto [scale, is_new] = scales_.try_emplace({curve, end, segments, encoding.element_size});
  if (is_new)
    scale->second = curve->at(end) / model(algorithm, encoding, std::max<std::int64_t>(end / element, 1), segments);
  return {time * scale->second, TimeBasis::scaled};
}

double CurveErrors::mean_size() const {
  double sum = 0;
  for (const double error : logarithms) sum += std::abs(error);
  return logarithms.empty() ? 0 : sum / static_cast<double>(logarithms.size());
}

double CurveErrors::worst() const {
  double worst = 0;
  for (const double error : logarithms)
    if (std::abs(error) > std::abs(worst)) worst = error;
  return worst;
}

CurveErrors model_errors(const Profile& profile, const MeasuredCurve& curve, std::int64_t least, std::int64_t most) {
  const AlgorithmChoice algorithm = parse_algorithm(curve.algorithm, curve.collective);
  CollectiveModel model(profile, {.workers = curve.ranks, .group = std::min(profile.gpus_per_domain(), curve.ranks)});
  CurveErrors errors;
  for (const auto& [bytes, time] : curve.points)
    if (bytes >= least && bytes <= most)
      errors.logarithms.push_back(std::log(model.model(algorithm, {.element_size = 1}, bytes) / time));
  return errors;
}

CurveErrors interpolation_errors(const MeasuredCurve& curve, std::int64_t least, std::int64_t most) {
  const MeasuredCurve thin = curve.thinned();
  CurveErrors errors;
  for (std::size_t i = 1; i + 1 < curve.points.size(); i += 2)
    if (const auto& [bytes, time] = curve.points[i]; bytes >= least && bytes <= most)
      errors.logarithms.push_back(std::log(thin.at(bytes) / time));
  return errors;
}

}  // namespace hbench
