#include <array>

#include "bench/verbs/verb.hpp"

namespace hbench {

extern const Verb kSweep, kCollective, kTune, kReport, kExport, kList, kCalibrate, kDoctor, kWorker;

namespace {
constexpr std::array kVerbs{&kSweep, &kCollective, &kTune, &kReport, &kExport, &kList, &kCalibrate, &kDoctor, &kWorker};
}

std::span<const Verb* const> verbs() { return kVerbs; }

}  // namespace hbench
