#include <gtest/gtest.h>

#include "collectives/base/file.hpp"
#include "collectives/base/toml_reader.hpp"
#include "collectives/network/profile.hpp"
#include "tests/collectives/clusters.hpp"
#include "tests/collectives/profile_text.hpp"
#include "tests/support/mutate.hpp"
#include "tests/support/sanitized.hpp"

namespace hbench::profile_fuzz_test {
namespace {

using namespace ::hbench::support;

// A profile that is accepted must also be one that can be simulated: the time of a collective is a finite number.
void parse_and_simulate(const std::string& text) {
  const Profile profile = parse_profile(text, "mutant.toml", kProfiles / "gpus");
  if (profile.gpus_per_node > 1000) return;
  const double time = ring_time(profile, 5, 1000);
  ASSERT_TRUE(std::isfinite(time) && time >= 0) << time << '\n' << text;
}

TEST(ProfileParser, SurvivesMutationsOfEveryKey) { survive_mutations(kProfileText, 20'000, 1, parse_and_simulate); }

TEST(ProfileParser, SurvivesMutationsOfShippedProfiles) {
  unsigned seed = 2;
  const ProfileLibrary library(kProfiles);
  for (const std::string& name : library.names())
    survive_mutations(read_file(kProfiles / (name + ".toml")), kSanitized ? 50 : 200, seed++, parse_and_simulate);
}

TEST(ProfileParser, SurvivesDeepNesting) {
  for (const char* piece : {"[", "{a=", "a.", "[[", "\"", "\"a.b\" . ", "{a.b={c.d="}) {
    std::string text = "title = ";
    if (std::string_view(piece).ends_with('.') || *piece == '\"') text.clear();
    for (int i = 0; i < 200'000; ++i) text += piece;
    EXPECT_THROW(parse_profile(text, "deep.toml", kProfiles / "gpus"), Error) << piece;
  }
  // Dots elsewhere are no parts of a key.
  std::string dots;
  for (int i = 0; i < 100; ++i) dots += "1.5, ";
  EXPECT_NO_THROW(parse_toml("# " + dots + "\na = [" + dots + "]\nb = '" + dots + "'\nc = \"\"\"" + dots + "\"\"\"\n",
                             "dots.toml"));
}

}  // namespace
}  // namespace hbench::profile_fuzz_test
