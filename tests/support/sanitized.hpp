#pragma once

namespace hbench::support {

/// Whether this is a build in which every memory access, or every one of threads, is looked at: ten times slower.
/// Larger worlds are the same code then, and are tested in the other builds.
#if defined(HBENCH_SANITIZED) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace hbench::support
