// The lines that install frameworks, as `hbench list frameworks` prints them.

#include <gmock/gmock.h>

#include <regex>
#include <string>

#include "bench/frameworks/frameworks.hpp"

namespace hbench::framework_install_test {
namespace {

/// An environment where pip may install, and its interpreter before those that hbench looks at.
const std::regex kIntoAnEnvironment(
    R"((apt-get install [^&]+ && )?P=\$HOME/hbench-\w+ && \S*python3 -m venv (--system-site-packages )?\$P && )"
    R"(.*\$P/bin/pip install .* && )"
    R"(export HBENCH_PYTHON=\$P/bin/python3:\$\{HBENCH_PYTHON:-python3\})");

TEST(FrameworkInstallation, IsOfDebiansPackagesOrIntoAVirtualEnvironmentThatTheLineAddsToThoseOfHbench) {
  for (const Framework* each : frameworks()) {
    const std::string line(each->install);
    if (line.find("pip") == line.npos) {
      EXPECT_THAT(line, testing::MatchesRegex("apt-get install [a-z0-9+ -]+")) << each->name;
      continue;
    }
    EXPECT_TRUE(std::regex_match(line, kIntoAnEnvironment)) << each->name << ": " << line;
    EXPECT_FALSE(std::regex_search(line, std::regex("-m pip|[^/]pip install"))) << each->name << ": " << line;
  }
}

}  // namespace
}  // namespace hbench::framework_install_test
