#include <array>

#include "collectives/base/error.hpp"
#include "collectives/base/table.hpp"
#include "collectives/fusion/fusion.hpp"
#include "collectives/fusion/parameters.hpp"

namespace hbench {

extern const Fusion kNone;
extern const Fusion kThreshold;
extern const Fusion kHorovod;
extern const Fusion kHorovod2018;
extern const Fusion kDdp;

std::span<const Fusion* const> fusions() {
  static constexpr std::array<const Fusion*, 5> kTable{&kNone, &kThreshold, &kHorovod, &kHorovod2018, &kDdp};
  return kTable;
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
  const std::size_t colon = text.find(':');
  const Fusion& fusion = find_entry(fusions(), text.substr(0, colon), "fusion policy");
  if (colon == std::string_view::npos) return {&fusion, canonical_parameters(fusion, {})};
  const std::string_view given = text.substr(colon + 1);
  if (given.empty())
    throw Error(ExitCode::usage, "nothing follows the colon of '" + std::string(text) + "'", "leave the colon out");
  return {&fusion, canonical_parameters(fusion, given)};
}

}  // namespace hbench
