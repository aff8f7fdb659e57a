#pragma once

/// Which interpreter has a framework, and in which version.

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "bench/frameworks/framework.hpp"
#include "bench/launch/allocation.hpp"
#include "collectives/base/availability.hpp"

namespace hbench {

struct FoundFramework {
  std::string python;    ///< the interpreter that has it, as hosts find it
  std::string script;    ///< path of its ranks' script
  std::string version;   ///< as the framework says
  Availability state{};  ///< why no interpreter has it
};
/// Makes Python leave no files beside its scripts: these are an installation's, or the sources.
inline const std::pair<const std::string, std::string> kNoByteCode{"PYTHONDONTWRITEBYTECODE", "1"};
/// By the texts of choices: a setting may need a part that an installation lacks.
using FoundFrameworks = std::map<std::string, FoundFramework, std::less<>>;

/// The interpreters that HBENCH_PYTHON lists, with colons between, else `python3` and Debian's; `variable` is such as
/// getenv.
std::vector<std::string> interpreters(const char* (*variable)(const char* name));

/// Asks each interpreter in turn, by the framework's script in `folder`, until one has the framework on all hosts (this
/// machine where they are local) in one version, and what its setting needs. One that does not answer for a minute has
/// none. \param network between hosts, as `Job::network`. \throws Error (environment) without a launcher.
FoundFramework find_framework(const FrameworkChoice& choice, const std::vector<std::string>& pythons,
                              const std::filesystem::path& folder, const Allocation& hosts = {},
                              const std::string& network = {});
/// With the interpreters and scripts of this process's program.
FoundFramework find_framework(const FrameworkChoice& choice, const Allocation& hosts = {},
                              const std::string& network = {});

}  // namespace hbench
