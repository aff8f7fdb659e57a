#include <array>

#include "bench/command/verb.hpp"

namespace hbench {

extern const Verb kSweep, kCollective, kTune, kChoose, kBandwidth, kCrossover, kCompare, kReport, kExport, kList,
    kProfile, kCalibrate, kValidate, kTrack, kDoctor;

namespace {
constexpr std::array kVerbs{&kSweep,     &kCollective, &kTune,     &kChoose, &kBandwidth,
                            &kCrossover, &kCompare,    &kReport,   &kExport, &kList,
                            &kProfile,   &kCalibrate,  &kValidate, &kTrack,  &kDoctor};
}

std::span<const Verb* const> verbs() { return kVerbs; }

}  // namespace hbench
