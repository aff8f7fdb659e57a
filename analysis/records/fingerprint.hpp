#pragma once

/// What makes two machines comparable, out of the facts that a run keeps. Pure.
///
/// Name and revision of what produces results; stored with them. Raise one when its results change meaning.

#include <map>
#include <string>
#include <string_view>

#include "analysis/records/records.hpp"

namespace hbench {

/// Two runs with one digest were timed on machines between which times may be compared.
struct Fingerprint {
  std::string digest;  ///< 16 hexadecimal digits; equal for equal texts, for ever
  std::string text;    ///< `2 cores of Intel Xeon, LibTorch 2.6, OMPI_MCA_btl=tcp,self`
};

/// Of `Run::environment`. Processors with their counts, what joins GPUs, drivers and libraries by their class (the
/// parts of the version that change how fast they are), and the variables that change algorithms. Facts about GPUs
/// count only where they were used, so that a machine's cores stay the same machine whatever else is asked of it.
Fingerprint fingerprint(const std::map<std::string, std::string>& environment, bool on_gpu);

/// The fact that names a machine in words of a user's, where a run was imported and nobody asked the machine.
inline constexpr std::string_view kMachineName = "machine_name";

/// The key in `Run::environment` under which a run keeps a fingerprint's text.
std::string environment_key(const std::string& digest);

/// Gives a timed case the fingerprint of the machine of `run`, out of the run's environment, which then has it in words
/// too.
void place_on_this_machine(Case& asked, Run& run);

inline constexpr const char* kSimulatorRevision = "simulator/6";
inline constexpr const char* kEngineRevision = "engine/2";
inline constexpr const char* kFrameworkRevision = "frameworks/1";  ///< of the scripts of their ranks
inline constexpr const char* kEmulationRevision = "emulation/1";
inline constexpr const char* kCollectiveRevision = "collective/1";

/// A fact that differs; empty where a side does not state it.
struct ChangedFact {
  std::string fact, before, after;
};

/// The facts of two environments that differ, by name. Digests of machines are left out: the facts that they are made
/// of are compared themselves.
std::vector<ChangedFact> changed_facts(const std::map<std::string, std::string>& before,
                                       const std::map<std::string, std::string>& after);

}  // namespace hbench
