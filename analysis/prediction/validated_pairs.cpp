#include "analysis/prediction/validated_pairs.hpp"

#include <cmath>

namespace hbench {
namespace {

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

std::vector<ValidatedPair> pairs_of(const std::vector<Validation>& figures) {
  std::vector<ValidatedPair> pairs;
  for (std::size_t i = 0; i < figures.size(); ++i)
    for (std::size_t k = i + 1; k < figures.size(); ++k)
      if (is_pair(figures[i], figures[k])) pairs.push_back(pair_of(figures[i], figures[k]));
  return pairs;
}

}  // namespace hbench
