#include <array>

#include "bench/command/verb.hpp"

namespace hbench {

extern const Verb kSweep, kCollective, kTune, kChoose, kBandwidth, kCrossover, kCompare, kImport, kTrack, kTrace,
    kReport, kExport, kDb, kList, kProfile, kCalibrate, kValidate, kDoctor;

namespace {
constexpr std::array kVerbs{&kSweep,   &kCollective, &kTune,    &kChoose,    &kBandwidth, &kCrossover,
                            &kCompare, &kImport,     &kTrack,   &kTrace,     &kReport,    &kExport,
                            &kDb,      &kList,       &kProfile, &kCalibrate, &kValidate,  &kDoctor};
}

std::span<const Verb* const> verbs() { return kVerbs; }

}  // namespace hbench
