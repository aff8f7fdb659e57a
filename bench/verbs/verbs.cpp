#include <array>

#include "bench/verbs/verb.hpp"

namespace hbench {

extern const Verb kSweep, kReport, kExport, kList, kCalibrate, kTune, kDoctor, kWorker;

namespace {
constexpr std::array kVerbs{&kSweep, &kReport, &kExport, &kList, &kCalibrate, &kTune, &kDoctor, &kWorker};
}

std::span<const Verb* const> verbs() { return kVerbs; }

}  // namespace hbench
