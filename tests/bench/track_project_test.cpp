// hbench.toml: what is tracked, and what is said of a file that makes no sense.

#include "bench/track/project.hpp"

#include "bench/track/starter.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/mutate.hpp"

namespace hbench::track_project_test {
namespace {

constexpr const char* kText = R"(# what is tracked
[track]
database = "nightly.db"
baseline = "release=2.1"
launches = 4
max_launches = 12
least_effect = "2%"
min_runs = 3
max_runs = 20
fail_on = "inconclusive"

[[sweep]]
name = "steps"
workload = ["resnet18", "lenet5"]
gpus = "1..4"
image_size = 32
no-overlap = true

[[collective]]
collective = "broadcast"
b = "1K"
maxbytes = "1M"
check = 0
peers = false

[[collective]]

[gate.quick]
experiments = ["steps"]
least_effect = 0.05

[[limit]]
case = "broadcast of 1MiB"
value = "11 GB/s"
worse = "10%"
warn = "5%"

[[limit]]
case = "resnet18"
value = "390 samples/s"

[[limit]]
case = "lenet5"
value = "2.5 ms"
better = 0.3
)";

TEST(TrackProject, ListsExperimentsWithTheFlagsOfTheirVerbs) {
  const Project project = parse_project(kText, "here/hbench.toml");
  EXPECT_EQ(project.database, "here/nightly.db");
  EXPECT_EQ(project.baseline, "release=2.1");
  ASSERT_EQ(project.experiments.size(), 3u);
  EXPECT_EQ(project.experiments[0].name, "steps");
  EXPECT_EQ(project.experiments[0].kind->name, "sweep");
  EXPECT_THAT(project.experiments[0].arguments,
              UnorderedElementsAre("--workload=resnet18,lenet5", "--gpus=1..4", "--image-size=32", "--no-overlap"));
  EXPECT_EQ(project.experiments[1].name, "collective-1");
  EXPECT_EQ(project.experiments[1].arguments.front(), "broadcast") << "it is no flag";
  EXPECT_THAT(project.experiments[1].arguments, IsSupersetOf({"-b", "1K", "--maxbytes=1M", "--check=0"}));
  EXPECT_EQ(project.experiments[1].arguments.size(), 5u) << "what is false is left out";
  EXPECT_EQ(project.experiments[2].name, "collective-2");
}

TEST(TrackProject, HasARuleThatGatesTakeOver) {
  const Project project = parse_project(kText, "hbench.toml");
  const TrackRule rule{.least_effect = 0.02, .most_runs = 20, .fewest_runs = 3, .launches = 4, .confirming = 8};
  EXPECT_EQ(project.all.rule, rule);
  EXPECT_TRUE(project.all.fail_on_inconclusive);
  const Gate& quick = project.gate("quick");
  EXPECT_EQ(quick.rule.least_effect, 0.05);
  EXPECT_EQ(quick.rule.confirming, 8);
  EXPECT_TRUE(quick.fail_on_inconclusive);
  ASSERT_EQ(project.experiments_of(quick).size(), 1u);
  EXPECT_EQ(project.experiments_of(quick)[0]->name, "steps");
  EXPECT_EQ(project.experiments_of(project.gate("")).size(), 3u);
  expect_error([&] { project.gate("quik"); }, ExitCode::usage, "no gate 'quik'; did you mean 'quick'?");
}

TEST(TrackProject, HasLimitsInThreeUnits) {
  const std::vector<TrackLimit> limits = parse_project(kText, "hbench.toml").limits;
  ASSERT_EQ(limits.size(), 3u);
  EXPECT_EQ(limits[0], (TrackLimit{.match = "broadcast of 1MiB",
                                   .metric = LimitMetric::bus_bandwidth,
                                   .value = 11e9,
                                   .worse = 0.1,
                                   .warn = 0.05,
                                   .place = "hbench.toml:32"}));
  EXPECT_EQ(limits[1].metric, LimitMetric::samples_per_second);
  EXPECT_EQ(limits[1].value, 390);
  EXPECT_EQ(limits[2].metric, LimitMetric::seconds);
  EXPECT_DOUBLE_EQ(limits[2].value, 0.0025);
  EXPECT_EQ(limits[2].better, 0.3);
}

void expect_refused(const std::string& text, const std::string& what, const std::string& hint) {
  expect_error([&] { parse_project(text, "hbench.toml"); }, ExitCode::usage, HasSubstr(what), HasSubstr(hint));
}

TEST(TrackProject, NamesTheLineThatMakesNoSense) {
  expect_refused("[track\n", "hbench.toml:1: ", "TOML");
  expect_refused("", "hbench.toml: it lists no experiment", "hbench track init");
  expect_refused("\n[tracks]\n", "hbench.toml:2: no section 'tracks'; did you mean 'track'?", "limit");
  expect_refused("[[sweep]]\n[track]\nlaunchs = 3\n", "hbench.toml:3: no key 'launchs'; did you mean 'launches'?", "");
  expect_refused("[[sweep]]\n[track]\nlaunches = 0\n", "hbench.toml:3: this is no number from 1 to 1000", "");
  expect_refused("[[sweep]]\n[track]\nlaunches = 5\nmax_launches = 3\n", "hbench.toml:4: 3 launches are fewer", "");
  expect_refused("[[sweep]]\n[track]\nleast_effect = \"much\"\n", "hbench.toml:3: least_effect much", "3%");
  expect_refused("[[sweep]]\n[track]\nbaseline = \"=\"\n", "hbench.toml:3: ", "release=2.1");
  expect_refused("[[sweep]]\n[track]\nfail_on = \"pass\"\n", "hbench.toml:3: no verdict to fail on 'pass'", "");
  expect_refused("[sweep]\n", "hbench.toml:1: there may be several of these", "[[sweep]]");
  expect_refused("track = 1\n", "hbench.toml:1: this is no table", "[track]");
  expect_refused("[[sweep]]\ngpus = []\n", "hbench.toml:2: an empty list", "");
  expect_refused("[[sweep]]\ngpus = 2020-01-01\n", "hbench.toml:2: this is neither a text nor a number", "quotes");
  expect_refused("[[sweep]]\nlaunches = 3\n", "hbench.toml:2: 'launches' has no meaning here", "[track]");
  expect_refused("[[sweep]]\nevidence = \"simulated\"\n", "hbench.toml:2: 'evidence' has no meaning here", "");
  expect_refused("[[sweep]]\nname = \"a\"\n[[collective]]\nname = \"a\"\n", "hbench.toml:3: there is an experiment 'a'",
                 "");
  expect_refused("[[sweep]]\nname = \"a\"\n[gate.q]\nexperiments = [\"b\"]\n", "hbench.toml:3: no experiment 'b'", "");
  expect_refused("[[sweep]]\n[gate.q]\ndatabase = \"b\"\n", "hbench.toml:3: 'database' belongs into [track]", "");
  expect_refused("[[sweep]]\n[track]\nexperiments = \"b\"\n", "hbench.toml:3: 'experiments' belongs into a [gate", "");
  expect_refused("[[limit]]\nvalue = \"1 ms\"\n", "hbench.toml:1: a limit without a case", "");
  expect_refused("[[limit]]\ncase = \"x\"\n", "hbench.toml:1: a limit without a value", "2.1 ms");
  expect_refused("[[limit]]\ncase = \"x\"\nvalue = \"1\"\n", "hbench.toml:3: ", "");
  expect_refused("[[limit]]\ncase = \"x\"\nvalue = \"-1 samples/s\"\n", "hbench.toml:3: '-1 samples/s' is no value",
                 "");
  expect_refused("[[limit]]\ncase = \"x\"\nvalue = \"1 s\"\nwarn = \"5%\"\n", "hbench.toml:1: it warns from 5 % on",
                 "");
}

TEST(TrackProject, NamesTheLineOfAFlagThatItsVerbRefuses) {
  const auto refused = [](const std::string& text, const char* what) {
    expect_error([&] { parse_project(text, "hbench.toml").experiments.at(0).plan({}); }, ExitCode::usage, what);
  };
  refused("[[sweep]]\nworkload = \"resnet18\"\ngpus = \"x\"\n", "hbench.toml:3: --gpus x: 'x' is not a number");
  refused("[[sweep]]\nalgorithm = [\"ring\", \"rng\"]\n", "hbench.toml:2: no algorithm 'rng'; did you mean 'ring'?");
  refused("[[sweep]]\nalgoritm = \"ring\"\n",
          "hbench.toml:2: unknown option '--algoritm=ring'; did you mean '--algorithm'?");
  refused("[[collective]]\nname = \"c\"\nminbytes = \"lots\"\n", "hbench.toml:3: --minbytes lots: not a size");
  refused("[[collective]]\nhelp = true\n", "hbench.toml:1: 'help' is no flag of an experiment");
}

TEST(TrackProject, SurvivesMutations) {
  hbench::support::survive_mutations(kText, 5000, 41,
                                     [](const std::string& text) { parse_project(text, "mutant.toml"); });
}

TEST(TrackStarter, WritesAFileThatCanBeReadForEveryMachine) {
  LocalMachine cores;
  cores.cores = cores.ranks = 16;
  LocalMachine gpus = cores;
  gpus.gpus = 4;
  LocalMachine bare = cores;
  bare.no_training = "LibTorch is not there:\ninstall it";
  const auto written = [](const StarterMachine& machine) {
    return parse_project(starter_file(machine), "hbench.toml");
  };
  const Project of_cores = written({.local = cores, .mpi = true, .branch = "trunk"});
  EXPECT_EQ(of_cores.baseline, "trunk");
  EXPECT_EQ(of_cores.experiments.size(), 2u);
  EXPECT_THAT(of_cores.experiments[0].arguments, Contains("--gpus=8"));
  const Project of_gpus = written({.local = gpus, .mpi = true, .branch = {}});
  EXPECT_EQ(of_gpus.baseline, "main");
  EXPECT_THAT(of_gpus.experiments[0].arguments, IsSupersetOf({"--workload=resnet50", "--gpus=4"}));
  EXPECT_THAT(of_gpus.experiments[1].arguments, IsSupersetOf({"--executor=nccl", "--ranks=4"}));
  const Project of_bare = written({.local = bare, .mpi = false, .branch = "a \"quoted\" one"});
  ASSERT_EQ(of_bare.experiments.size(), 1u);
  EXPECT_EQ(of_bare.experiments[0].name, "all-reduce");
  EXPECT_THAT(of_bare.experiments[0].arguments, Contains("--executor=threads"));
}

TEST(ParseShare, TakesPerCentAndFractions) {
  EXPECT_EQ(parse_share("3%", "--x"), 0.03);
  EXPECT_EQ(parse_share("3 %", "--x"), 0.03);
  EXPECT_EQ(parse_share("0.5", "--x"), 0.5);
  for (const char* text : {"", "%", "0", "101%", "3%%", "nan", "-1%"})
    expect_error([&] { parse_share(text, "--x"); }, ExitCode::usage, HasSubstr("--x"),
                 "write a share such as 3% or 0.03");
}

}  // namespace
}  // namespace hbench::track_project_test
