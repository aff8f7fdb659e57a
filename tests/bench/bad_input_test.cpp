#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "tests/bench/program.hpp"

namespace hbench {
namespace {

using testing::HasSubstr;

/// A sweep that is quick wherever it can run.
const std::vector<std::string> kQuick{"sweep",     "--gpus",     "1..8",       "--workload", "resnet50",
                                      "--profile", "hkbu-10gbe", "--evidence", "simulated",  "--quiet"};

std::vector<std::string> quick_with(std::vector<std::string> more) {
  std::vector<std::string> arguments = kQuick;
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

/// Arguments that make no sense, and what is said about them.
struct Mistake {
  std::vector<std::string> arguments;
  const char* message;
  const char* hint;
};

std::ostream& operator<<(std::ostream& out, const Mistake& mistake) {
  return out << fmt::format("{}", fmt::join(mistake.arguments, " "));
}

class BadArguments : public testing::TestWithParam<Mistake> {};

TEST_P(BadArguments, AreOneLineAndItsCureAndLeaveNothingBehind) {
  const Workplace workplace;
  expect_mistake(workplace.run(GetParam().arguments), 2, GetParam().message, GetParam().hint);
  for (const auto& entry : std::filesystem::directory_iterator(workplace.folder().path()))
    EXPECT_THAT(entry.path().filename().string(), testing::AnyOf(".out", ".err"));
}

INSTANTIATE_TEST_SUITE_P(
    OfTheProgram, BadArguments,
    testing::Values(Mistake{{"swep"}, "no verb 'swep'; did you mean 'sweep'?", "known: sweep"},
                    Mistake{{"--verbose"}, "no verb '--verbose'", "known: sweep"},
                    Mistake{{"worker"}, "workers are started by hbench sweep", "--help"},
                    Mistake{{"list", "algorthms"}, "no list 'algorthms'; did you mean 'algorithms'?", "known:"},
                    Mistake{{"list", "models", "--json", "--markdown"}, "excludes", "hbench list --help"},
                    Mistake{{"export", "--json", "--csv"}, "excludes", "hbench export --help"},
                    Mistake{{"export"}, "there is no results database 'hbench.db'", "hbench sweep"},
                    Mistake{{"report"}, "there is no results database 'hbench.db'", "hbench sweep"},
                    Mistake{{"report", "scalin"}, "no report 'scalin'; did you mean 'scaling'?", "known:"},
                    Mistake{{"report", "--format", "htm"}, "no format 'htm'; did you mean 'html'?", "known:"},
                    Mistake{{"doctor", "--fast"}, "unknown option '--fast'", "hbench doctor --help"},
                    Mistake{{"calibrate", "--steps", "0"}, "--steps", "hbench calibrate --help"}));

INSTANTIATE_TEST_SUITE_P(
    OfASweep, BadArguments,
    testing::Values(
        Mistake{{"sweep", "--gpu", "8"}, "unknown option '--gpu'; did you mean '--gpus'?", "hbench sweep --help"},
        Mistake{{"sweep", "128"}, "unexpected argument '128'", "hbench sweep --help"},
        Mistake{{"sweep", "--gpus"}, "--gpus needs a value", "hbench sweep --help"},
        Mistake{{"sweep", "--gpus", ""}, "nothing is given after --gpus", "leave the option out"},
        Mistake{{"sweep", "--db", ""}, "nothing is given after --db", "leave the option out"},
        Mistake{{"sweep", "--gpus", "1", "--gpus", "2"}, "--gpus is given more than once", "a,b,c"},
        Mistake{{"sweep", "--gpus", "0..8"}, "--gpus 0..8: a GPU count is at least 1", "1..128"},
        Mistake{{"sweep", "--gpus", "8..1"}, "you may mean 1..8", "1..128"},
        Mistake{{"sweep", "--gpus", "abc"}, "'abc' is not a number", "1..128"},
        Mistake{{"sweep", "--workload", "resnet5"}, "no workload 'resnet5'; did you mean 'resnet50'?", "known:"},
        Mistake{{"sweep", "--algorithm", "rng"}, "no algorithm 'rng'; did you mean 'ring'?", "known: ring"},
        Mistake{{"sweep", "--algorithm", "ring,"}, "--algorithm 'ring,' has an empty item", "a,b,c"},
        Mistake{{"sweep", "--profile", "hkbu-10gb"}, "no profile 'hkbu-10gb'; did you mean 'hkbu-10gbe'?", "known:"},
        Mistake{{"sweep", "--compressor", "fp61"}, "no compressor 'fp61'; did you mean 'fp16'?", "known: none"},
        Mistake{{"sweep", "--fusion", "horovd"}, "no fusion policy 'horovd'; did you mean 'horovod'?", "known:"},
        Mistake{{"sweep", "--fusion", "threshold:-1MiB"}, "'-1MiB' is out of range", "threshold:25MiB"},
        Mistake{{"sweep", "--placement", "greed"}, "no placement 'greed'; did you mean 'greedy'?", "known:"},
        Mistake{{"sweep", "--servers", "some"}, "--servers some", "colocated:4"},
        Mistake{{"sweep", "--evidence", "simulate"}, "no evidence 'simulate'; did you mean 'simulated'?", "known:"},
        Mistake{{"sweep", "--batch", "0"}, "--batch: Value 0 not in range", "hbench sweep --help"},
        Mistake{{"sweep", "--single-gpu-rate", "0"}, "'0' is not a rate above 0", "hbench sweep --help"},
        Mistake{{"sweep", "--single-gpu-rate", "nan"}, "'nan' is not a rate above 0", "hbench sweep --help"},
        Mistake{{"sweep", "--single-gpu-rate", "1e999"}, "'1e999' is not a rate above 0", "hbench sweep --help"},
        Mistake{{"sweep", "--budget", "3"}, "--budget 3: the time '3' has no unit", "30s"},
        Mistake{{"sweep", "--timeout", "0s"}, "--timeout 0s: it must be more than 0", "30s"},
        Mistake{{"sweep", "--algorithm", "vendor", "--evidence", "simulated"}, "nothing to do", "no schedule"},
        Mistake{{"sweep", "--gpus", "3", "--evidence", "published"}, "nothing to do", "published"},
        Mistake{{"sweep", "--profile", "./mine.toml"}, "cannot read ./mine.toml", ""},
        Mistake{{"sweep", "--db", "nowhere/r.db", "--evidence", "published", "--report", "/tmp"},
                "there is no folder",
                "mkdir -p"}));

constexpr const char* kProfile = R"(title = "mine"
gpus_per_node = 4
[local]
latency = "5 us"
rate = "10 GB/s"
[network]
latency = "20 us"
line_rate = "10 Gbit/s"
)";

/// A line of the profile, what it becomes, and what is said about it.
struct BadLine {
  const char* good;
  const char* bad;
  const char* message;
};

class BadProfile : public testing::TestWithParam<BadLine> {};

TEST_P(BadProfile, IsNamedWithItsFileAndLine) {
  const auto& [good, bad, message] = GetParam();
  std::string profile = kProfile;
  profile.replace(profile.find(good), std::string(good).size(), bad);
  const Workplace workplace;
  write_bytes(workplace / "mine.toml", profile);
  const Outcome outcome = workplace.run({"sweep", "--profile", "mine.toml", "--single-gpu-rate", "100"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr(message));
  EXPECT_LE(std::ranges::count(outcome.err, '\n'), 2) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(workplace / "hbench.db"));
}

INSTANTIATE_TEST_SUITE_P(All, BadProfile,
                         testing::Values(BadLine{"\"10 Gbit/s\"", "\"10\"", "mine.toml:8"},
                                         BadLine{"\"10 Gbit/s\"", "10", "mine.toml:8"},
                                         BadLine{"\"10 Gbit/s\"", "\"-10 Gbit/s\"", "mine.toml:8"},
                                         BadLine{"\"10 Gbit/s\"", "\"10 parsecs\"", "mine.toml:8"},
                                         BadLine{"\"10 Gbit/s\"", "\"nan Gbit/s\"", "mine.toml:8"},
                                         BadLine{"line_rate", "linerate", "mine.toml:8"},
                                         BadLine{"[network]", "[network", "mine.toml:6"},
                                         BadLine{"gpus_per_node = 4", "gpus_per_node = 0", "mine.toml:2"},
                                         BadLine{"[local]", "speed = 1\n[local]", "mine.toml:3"}));

TEST(TheProfileItself, IsGood) {
  const Workplace workplace;
  write_bytes(workplace / "mine.toml", kProfile);
  const Outcome outcome = workplace.run({"sweep", "--gpus", "1..8", "--profile", "mine.toml", "--single-gpu-rate",
                                         "100", "--evidence", "simulated", "--workload", "resnet50", "--quiet"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}

/// A database that a sweep must refuse, and leave as it is.
void expect_refused(const Workplace& workplace, int code, std::string_view message) {
  const std::string before = bytes_of(workplace / "r.db");
  for (const std::vector<std::string>& arguments : {quick_with({"--db", "r.db"}),
                                                    quick_with({"--db", "r.db", "--resume"}),
                                                    {"export", "--db", "r.db"},
                                                    {"report", "--db", "r.db"}}) {
    const Outcome outcome = workplace.run(arguments);
    EXPECT_EQ(outcome.code, code);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(message));
  }
  EXPECT_EQ(bytes_of(workplace / "r.db"), before);
}

TEST(Database, ThatIsNoneIsRefusedAndKept) {
  const Workplace workplace;
  write_bytes(workplace / "r.db", "my notes on the holidays, all of them");
  expect_refused(workplace, 2, "'r.db' is no hbench results database");
}

TEST(Database, OfAnotherProgramIsRefusedAndKept) {
  const Workplace workplace;
  run_sql(workplace / "r.db", "CREATE TABLE contact (name TEXT); INSERT INTO contact VALUES ('me')");
  expect_refused(workplace, 2, "'r.db' is a database of another program");
}

TEST(Database, OfANewerSchemaIsRefusedAndKept) {
  const Workplace workplace;
  ASSERT_EQ(workplace.run(quick_with({"--db", "r.db"})).code, 0);
  run_sql(workplace / "r.db", "PRAGMA user_version = 999");
  expect_refused(workplace, 2, "'r.db' has schema version 999");
}

TEST(Database, ThatIsCutShortIsRefusedAndKept) {
  const Workplace workplace;
  ASSERT_EQ(workplace.run(quick_with({"--db", "r.db"})).code, 0);
  const std::string whole = bytes_of(workplace / "r.db");
  write_bytes(workplace / "r.db", whole.substr(0, whole.size() / 2));
  expect_refused(workplace, 4, "'r.db' is damaged");
}

TEST(Database, SurvivesABadSweep) {
  const Workplace workplace;
  ASSERT_EQ(workplace.run(kQuick).code, 0);
  const std::string before = workplace.run({"export"}).out;
  EXPECT_EQ(workplace.run({"sweep", "--algorithm", "rng"}).code, 2);
  EXPECT_EQ(workplace.run(quick_with({"--report", "hbench.db"})).code, 3);
  EXPECT_EQ(workplace.run({"export"}).out, before);
}

}  // namespace
}  // namespace hbench
