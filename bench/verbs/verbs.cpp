#include <array>

#include "bench/command/verb.hpp"

namespace hbench {

extern const Verb kSweep, kSubmit, kCollective, kChoose, kBandwidth, kCompare, kImport, kImportJob, kExpect, kTrack,
    kTrace, kReport, kExport, kDb, kList, kProfile, kCalibrate, kValidate, kDoctor, kCompletion, kMan, kEmulate,
    kCompleteWords, kSchemas;

namespace {
constexpr std::array kVerbs{&kSweep,     &kSubmit,  &kCollective, &kChoose,   &kBandwidth, &kCompare, &kImport,
                            &kImportJob, &kExpect,  &kTrack,      &kTrace,    &kReport,    &kExport,  &kDb,
                            &kList,      &kProfile, &kCalibrate,  &kValidate, &kDoctor};
constexpr std::array kInnerVerbs{&kEmulate, &kCompletion, &kCompleteWords, &kMan, &kSchemas};
}  // namespace

std::span<const Verb* const> verbs() { return kVerbs; }
std::span<const Verb* const> inner_verbs() { return kInnerVerbs; }

}  // namespace hbench
