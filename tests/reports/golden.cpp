#include "tests/reports/golden.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace hbench {

bool g_update_golden = false;

void expect_golden(const std::string& name, const std::string& actual) {
  const std::string path = std::string(HBENCH_GOLDEN_FOLDER "/").append(name);
  if (g_update_golden) {
    std::ofstream(path, std::ios::binary) << actual;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << path << " is missing; tests/reports/update-golden writes it";
  std::stringstream bytes;
  bytes << file.rdbuf();
  EXPECT_EQ(bytes.str(), actual) << "if the change is meant: tests/reports/update-golden, and look at the difference";
}

}  // namespace hbench

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  hbench::g_update_golden = argc == 2 && std::string(argv[1]) == "--update";
  return RUN_ALL_TESTS();
}
