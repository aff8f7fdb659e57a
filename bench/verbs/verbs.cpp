#include <algorithm>
#include <array>

#include "bench/output/feature.hpp"

namespace hbench {

extern const Verb kSweep, kCollective, kImport, kTrace, kReport, kExport, kDb, kList, kCalibrate, kDoctor, kCompletion,
    kMan, kEmulate, kCompleteWords, kSchemas;

namespace {
constexpr std::array kCoreVerbs{&kSweep,  &kCollective, &kImport, &kTrace,     &kReport,
                                &kExport, &kDb,         &kList,   &kCalibrate, &kDoctor};
constexpr std::array kInnerVerbs{&kEmulate, &kCompletion, &kCompleteWords, &kMan, &kSchemas};
}  // namespace

std::span<const Verb* const> verbs() {
  static const std::vector<const Verb*> all = [] {
    std::vector<const Verb*> found = with_features<const Verb*>(kCoreVerbs, &Feature::verbs);
    std::ranges::sort(found, {}, &Verb::place);
    return found;
  }();
  return all;
}
std::span<const Verb* const> inner_verbs() { return kInnerVerbs; }

}  // namespace hbench
