#include <array>

#include "bench/command/verb.hpp"

namespace hbench {

extern const Verb kSweep, kSubmit, kCollective, kTune, kChoose, kBandwidth, kCrossover, kCompare, kImport, kTrack,
    kTrace, kReport, kExport, kDb, kList, kProfile, kCalibrate, kValidate, kDoctor;

namespace {
constexpr std::array kVerbs{&kSweep,   &kSubmit,  &kCollective, &kTune,     &kChoose, &kBandwidth, &kCrossover,
                            &kCompare, &kImport,  &kTrack,      &kTrace,    &kReport, &kExport,    &kDb,
                            &kList,    &kProfile, &kCalibrate,  &kValidate, &kDoctor};
}

std::span<const Verb* const> verbs() { return kVerbs; }

}  // namespace hbench
