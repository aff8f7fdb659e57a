#pragma once

/// The git repository that is measured, as the program `git` knows it.

#include <filesystem>
#include <map>
#include <string>

namespace hbench {

/// The labels `branch`, `commit` and, where files differ from it, `dirty` of the repository that `folder` is in. Those
/// that are not known (no git, no repository, no commit, no branch checked out) are not in it.
std::map<std::string, std::string> repository_labels(const std::filesystem::path& folder);

}  // namespace hbench
