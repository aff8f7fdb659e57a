#pragma once

/// Name and revision of what produces results; stored with them. Raise one when its results change meaning.

namespace hbench {

inline constexpr const char* kSimulatorRevision = "simulator/6";
inline constexpr const char* kEngineRevision = "engine/2";
inline constexpr const char* kFrameworkRevision = "frameworks/1";  ///< of the scripts of their ranks
inline constexpr const char* kEmulationRevision = "emulation/1";
inline constexpr const char* kCollectiveRevision = "collective/1";

}  // namespace hbench
