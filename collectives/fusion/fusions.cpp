#include <array>
#include <numeric>

#include "collectives/base/parameters.hpp"
#include "collectives/base/table.hpp"
#include "collectives/fusion/fusion.hpp"

namespace hbench {

extern const Fusion kNone;
extern const Fusion kThreshold;
extern const Fusion kHorovod;
extern const Fusion kHorovod2018;
extern const Fusion kDdp;
extern const Fusion kByteps;
extern const Fusion kMgWfbp;
extern const Fusion kRecorded;

std::span<const Fusion* const> fusions() {
  static constexpr std::array kTable{&kNone, &kThreshold, &kHorovod, &kHorovod2018,
                                     &kDdp,  &kByteps,    &kMgWfbp,  &kRecorded};
  return kTable;
}

Bucket Bucket::piece(int tensor, std::int64_t begin, std::int64_t end) {
  Bucket piece{tensor};
  piece.begin = begin;
  piece.end = end;
  return piece;
}

std::int64_t Bucket::bytes(std::span<const std::int64_t> tensor_bytes) const {
  if (!whole()) return end - begin;
  return std::transform_reduce(tensors.begin(), tensors.end(), std::int64_t{0}, std::plus<>(),
                               [&](int tensor) { return tensor_bytes[static_cast<std::size_t>(tensor)]; });
}

std::string FusionChoice::text() const {
  std::string text(fusion->name);
  if (!parameters.empty()) text += ":" + parameters;
  return text;
}

std::unique_ptr<FusionPolicy> FusionChoice::make(std::span<const std::int64_t> tensor_bytes) const {
  return fusion->make(parameters, tensor_bytes);
}

FusionChoice parse_fusion(std::string_view text) {
  const auto [name, given] = split_name(text);
  const Fusion& fusion = find_entry(fusions(), name, "fusion policy");
  return {&fusion, fusion.canonical != nullptr ? fusion.canonical(given) : canonical_parameters(fusion, given)};
}

}  // namespace hbench
