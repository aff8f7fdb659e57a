#pragma once

/// Folders of named TOML files (cluster profiles, traces): names, suggestions, and files of one's own.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/base/error.hpp"

namespace hbench {

/// A TOML file of a library, or of the user's own.
struct NamedText {
  std::string file_name;  ///< for messages: as the user knows it
  std::string text;
};

/// Whether a name on the command line means a file of the user's own: it has a `/` or ends in `.toml`.
bool is_file_name(std::string_view name);

/// The `*.toml` files of one folder, by stem. Those of its own folders are known as `folder/stem` and not listed.
/// Immutable.
class TomlLibrary {
 public:
  /// `what` names an entry in messages: `profile`. `listing` is as in `unknown_name`. \throws Error (environment) when
  /// `folder` cannot be read.
  TomlLibrary(std::filesystem::path folder, std::string what, std::string listing = {});
  /// Sorted.
  const std::vector<std::string>& names() const { return names_; }
  const std::filesystem::path& folder() const { return folder_; }
  /// A known name, or a path to a file (recognised by `/` or `.toml`). \throws Error (usage), with a
  /// suggestion for an unknown name.
  NamedText read(std::string_view name_or_file) const;

 private:
  std::filesystem::path folder_;
  std::string what_, listing_;
  std::vector<std::string> names_;
};

/// Whether a backend can be used here; if not, why, and what to do about it.
struct Availability {
  bool available = true;
  std::string reason;
  std::string cure;

  /// `hbench was built without MPI (fix: install one)`: for where there is one line.
  std::string in_words() const;
  /// What those end with who need it (environment): `<doing>: <reason>`, or the reason alone.
  Error error(std::string_view doing = {}) const;
};

}  // namespace hbench
