#pragma once

// What the tests of the results database share.

#include <gtest/gtest.h>

#include <filesystem>

#include "analysis/store/store.hpp"
#include "tests/analysis/example_results.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench {

inline const Run kExampleRun{
    .command = "hbench sweep", .version = "0.1.0", .started_at = "2026-01-01T00:00:00Z", .environment = {}};

/// Adds a run of cases with that number of samples each, numbered from `first` on.
inline void fill(const std::filesystem::path& file, int cases, int samples, int first = 0) {
  Store store(file);
  const std::int64_t run = store.begin_run(kExampleRun);
  for (int i = 0; i < cases; ++i) store.append(run, example_result(first + i, samples));
}

/// A test with a new database that is open for writing.
class WithStore : public testing::Test {
 protected:
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "r.db";
  Store store{file};
};

}  // namespace hbench
