#include "collectives/base/library.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collectives/base/file.hpp"
#include "collectives/base/table.hpp"

namespace hbench {

std::string Availability::in_words() const { return fmt::format("{} (fix: {})", reason, cure); }

Error Availability::error(std::string_view doing) const {
  return {ExitCode::environment, doing.empty() ? reason : fmt::format("{}: {}", doing, reason), cure};
}

bool is_file_name(std::string_view name) { return name.find('/') != std::string_view::npos || name.ends_with(".toml"); }

TomlLibrary::TomlLibrary(std::filesystem::path folder, std::string what, std::string listing)
    : folder_(std::move(folder)), what_(std::move(what)), listing_(std::move(listing)) {
  std::error_code status;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, status))
    if (entry.path().extension() == ".toml") names_.push_back(entry.path().stem().string());
  if (status)
    throw Error(ExitCode::environment,
                fmt::format("cannot read the {}s in {}: {}", what_, folder_.string(), status.message()),
                "run ./hbench from a complete clone");
  std::ranges::sort(names_);
}

NamedText TomlLibrary::read(std::string_view name_or_file) const {
  std::error_code absent;
  const std::string own = std::string(name_or_file) + ".toml";
  // `published/x`: in a folder of the library, and in no list.
  if (name_or_file.find('/') != std::string_view::npos && name_or_file.front() != '/' &&
      std::filesystem::is_regular_file(folder_ / own, absent))
    return {own, read_file(folder_ / own)};
  if (is_file_name(name_or_file)) return {std::string(name_or_file), read_file(std::string(name_or_file))};
  const std::vector<std::string_view> known(names_.begin(), names_.end());
  if (std::ranges::find(known, name_or_file) == known.end()) throw unknown_name(what_, name_or_file, known, listing_);
  const std::string file = std::string(name_or_file) + ".toml";
  return {file, read_file(folder_ / file)};
}

}  // namespace hbench
