#pragma once

/// Files of recorded jobs for tests: made here, or of other projects where those are at hand.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "analysis/job/job_format.hpp"
#include "collectives/base/error.hpp"
#include "tests/support/mutate.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench {

/// Reads a text as a file of the format that it has.
inline std::vector<Recording> recordings_of(const std::string& text, const std::string& name = "a.json") {
  const TemporaryFolder folder;
  write_bytes(folder / name, text);
  return read_recordings((folder / name).string(), {});
}

inline Recording recording_of(const std::string& text) { return recordings_of(text).at(0); }

/// Whatever is done to a text of a format, it is read or refused as the user's fault.
inline void survive_damage(const std::string& text, std::string_view format, int count) {
  const TemporaryFolder folder;
  const std::string file = (folder / "a.toml").string();
  const auto parse = [&](const std::string& damaged) {
    write_bytes(file, damaged);
    find_job_format(format).read(file);
  };
  for (std::size_t part = 1; part < 24; ++part) {
    try {
      parse(text.substr(0, text.size() * part / 24));
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::usage) << error.what();
    }
  }
  support::survive_mutations(text, count, 31, parse);
}

/// The real traces beside this project (`../shared/reference/traces`); empty where they are not.
inline std::string reference_trace(const std::string& name) {
  const std::filesystem::path file = std::filesystem::path(HBENCH_SOURCE_DIR) / "../shared/reference/traces" / name;
  return std::filesystem::exists(file) ? file.string() : std::string();
}

}  // namespace hbench

/// Skips a test where a real trace is not at hand; else `file` is its path.
#define HBENCH_REFERENCE_TRACE(file, name)                \
  const std::string file = hbench::reference_trace(name); \
  if (file.empty()) GTEST_SKIP() << name << " is not in ../shared/reference/traces"
