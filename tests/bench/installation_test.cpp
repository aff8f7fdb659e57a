#include "bench/launch/installation.hpp"

#include <gtest/gtest.h>

#include "tests/support/temporary_folder.hpp"

namespace hbench::installation_test {
namespace {

namespace fs = std::filesystem;

const char* nothing(const char*) { return nullptr; }

class Installed : public testing::Test {
 protected:
  Installed() { fs::create_directories(prefix_ / "share/hbench"); }

  TemporaryFolder folder_;
  fs::path prefix_ = folder_.path() / "anywhere";
};

TEST_F(Installed, ProgramsFindEachOtherAndTheirDataByWhereTheyLie) {
  for (const char* program : {"bin/hbench", "bench/hbench", "libexec/hbench/hbench-worker", "tests/bench/bench_test"}) {
    const Installation found = find_installation(prefix_ / program, nothing);
    EXPECT_EQ(found.worker, prefix_ / "libexec/hbench/hbench-worker") << program;
    EXPECT_EQ(found.trainer, prefix_ / "libexec/hbench/hbench-trainer") << program;
    EXPECT_EQ(found.data, prefix_ / "share/hbench") << program;
  }
}

TEST_F(Installed, VariablesNameOtherPlaces) {
  const auto named = [](const char* name) {
    return std::string_view(name) == "HBENCH_WORKER" ? "/else/worker" : "/else/data";
  };
  const Installation found = find_installation(prefix_ / "bin/hbench", named);
  EXPECT_EQ(found.worker, "/else/worker");
  EXPECT_EQ(found.data, "/else/data");
}

TEST_F(Installed, EmptyVariablesNameNothing) {
  const Installation found = find_installation(prefix_ / "bin/hbench", [](const char*) { return ""; });
  EXPECT_EQ(found.worker, prefix_ / "libexec/hbench/hbench-worker");
  EXPECT_EQ(found.data, prefix_ / "share/hbench");
}

TEST(Installation, ThatIsIncompleteIsLookedForWhereItBelongs) {
  const TemporaryFolder folder;
  EXPECT_EQ(find_installation(folder.path() / "bin/hbench", nothing).data, folder.path() / "share/hbench");
}

}  // namespace
}  // namespace hbench::installation_test
