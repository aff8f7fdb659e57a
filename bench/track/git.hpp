#pragma once

/// The git repository that the current folder is in, by the program `git`.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace hbench {

struct GitAnswer {
  int code = 0;
  std::string out, err;  ///< without the line's end at its end

  bool good() const { return code == 0; }
};

enum class Interrupts { heed, ignore };
/// `git <arguments>`. After Ctrl-C only what ignores interrupts is still done.
GitAnswer git(const std::vector<std::string>& arguments, Interrupts interrupts = Interrupts::heed);

/// The same. \throws Error (environment) with what git says; `doing` begins the message.
std::string git_or_throw(const std::vector<std::string>& arguments, const std::string& doing);

/// The full name of a commit; empty where the repository does not have it, or there is none.
std::string commit_name(const std::string& revision);

/// The labels `branch`, `commit` and, where tracked files differ from it, `dirty` of the repository that `folder` is
/// in. Those that are not known (no git, no repository, no commit, no branch checked out) are not in it.
std::map<std::string, std::string> repository_labels(const std::filesystem::path& folder);

/// Adds `pattern` to the `.gitignore` of `folder` where that is in a work tree that has no such `file` and does not
/// ignore it; returns whether it did. \throws Error (environment) where it cannot be written.
bool ignore_file(const std::filesystem::path& folder, const std::string& file, const std::string& pattern);

}  // namespace hbench
