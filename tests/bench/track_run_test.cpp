// hbench track as people run it: a file, runs of a repository, and launches that confirm.

#include <set>
#include <tuple>

#include "analysis/store/store.hpp"
#include "collectives/base/file.hpp"
#include "tests/bench/program.hpp"
#include "tests/support/matchers.hpp"
#include "workloads/libtorch.hpp"

namespace hbench::track_run_test {
namespace {

constexpr const char* kFile = R"([[collective]]
name = "tiny"
ranks = 2
executor = "threads"
algorithm = "ring"
minbytes = "4K"
maxbytes = "4K"
iters = 3
warmup-iters = 1
)";

/// A repository with one commit on `main`, in which `tiny` is tracked.
class TrackRun : public testing::Test {
 protected:
  TrackRun() {
    write_bytes(place_ / "hbench.toml", kFile);
    commit();
  }
  void commit() {
    const Outcome outcome = place_.shell(
        "git init -q -b main . 2>&1 && git add '*.toml' && git -c user.name=a -c user.email=a@example.org commit -q "
        "--allow-empty -m change");
    ASSERT_EQ(outcome.code, 0) << outcome.out << outcome.err;
  }
  /// Runs of an earlier commit, made of the newest run, with times of about `seconds`; and a run of this commit, which
  /// takes as long as it takes.
  void add_history(int runs, double seconds) {
    Store store(database());
    const hbench::Run newest = store.runs().back();
    std::vector<CaseResult> results = store.of_run(newest.id);
    for (CaseResult& result : results)
      for (Sample& sample : result.samples)
        if (sample.unit == "s") sample.value = seconds * (1 + 0.001 * sample.launch);
    for (int i = 0; i < runs; ++i) {
      hbench::Run run = newest;
      run.uuid.clear();
      run.started_at = "2026-01-01T00:00:00Z";
      run.labels = {{"branch", "main"}, {"commit", "0123456789012345678901234567890123456789"}};
      store.append(store.begin_run(run), results);
    }
    ASSERT_EQ(place_.run({"track", "run", "--quiet"}).code, 0);
  }
  std::filesystem::path database() const { return place_ / "hbench.db"; }
  std::size_t launches_of(std::int64_t run) const {
    std::set<int> launches;
    for (const CaseResult& result : Store(database(), Store::Mode::read_only).of_run(run))
      for (const Sample& sample : result.samples) launches.insert(sample.launch);
    return launches.size();
  }

  Workplace place_;
};

TEST_F(TrackRun, StoresOneRunWithTheLabelsOfItsRepository) {
  const Outcome outcome = place_.run({"track", "run", "--quiet", "--label", "runner=a"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Run 1: 1 case, 5 launches each, in hbench.db\nNext: hbench track check"));
  const std::vector<hbench::Run> runs = Store(database(), Store::Mode::read_only).runs();
  ASSERT_EQ(runs.size(), 1u);
  std::string head = place_.shell("git rev-parse HEAD").out;
  head.pop_back();
  EXPECT_EQ(runs[0].labels,
            (std::map<std::string, std::string>{{"branch", "main"}, {"commit", head}, {"runner", "a"}}));
  EXPECT_EQ(launches_of(1), 5u);
  write_bytes(place_ / "hbench.toml",
              std::string(kFile) + "[track]\nlaunches = 2\n[gate.quick]\nexperiments = \"tiny\"\n");
  ASSERT_EQ(place_.run({"track", "run", "--quiet", "--gate", "quick", "--label", "branch=topic"}).code, 0);
  const hbench::Run second = Store(database(), Store::Mode::read_only).runs().back();
  EXPECT_EQ(second.labels.at("dirty"), "yes");
  EXPECT_EQ(second.labels.at("branch"), "topic");
  EXPECT_EQ(second.labels.at("gate"), "quick");
  EXPECT_EQ(launches_of(2), 2u);
  ASSERT_EQ(place_.run({"track", "run", "--quiet", "--label", "commit=another"}).code, 0);
  EXPECT_EQ(Store(database(), Store::Mode::read_only).runs().back().labels,
            (std::map<std::string, std::string>{{"commit", "another"}}))
      << "of another commit the branch that is checked out says nothing";
}

TEST_F(TrackRun, ProposesTheCheckOfTheFileAndTheDatabaseThatItWasGiven) {
  std::filesystem::rename(place_ / "hbench.toml", place_ / "other file.toml");
  const Outcome outcome = place_.run({"track", "run", "--quiet", "--file", "other file.toml", "--db", "o.db"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Next: hbench track check --file \"other file.toml\" --db o.db\n"));
}

TEST_F(TrackRun, StoresEachLaunchOfAStepAndOfItsBaselineOnce) {
  if (!torch_availability().available) GTEST_SKIP() << torch_availability().reason;
  write_bytes(place_ / "hbench.toml", R"([track]
launches = 2
[[sweep]]
name = "step"
workload = "lenet5"
gpus = 2
batch = 2
algorithm = "ring"
steps = 3
)");
  const Outcome outcome = place_.run({"track", "run", "--quiet"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Store store(database(), Store::Mode::read_only);
  const std::vector<CaseResult> results = store.of_run(1);
  ASSERT_EQ(results.size(), 2u) << "the step and one process alone";
  for (const CaseResult& result : results) {
    std::set<std::tuple<int, int, int, bool>> seen;
    for (const Sample& sample : result.samples) {
      if (sample.metric != "step_seconds") continue;
      EXPECT_TRUE(seen.insert({sample.launch, sample.rank, sample.iteration, sample.warmup}).second)
          << result.asked.strategy.label() << ", launch " << sample.launch;
    }
    EXPECT_FALSE(store.traced(store.find(1, result.asked).value()).empty());
  }
}

// Chance passes a test once in a while; it seldom does so twice.
TEST_F(TrackRun, MeasuresTheLaunchesThatConfirmARegression) {
  ASSERT_EQ(place_.run({"track", "run", "--quiet", "--label", "branch=other"}).code, 0);
  add_history(6, 1e-9);
  const Outcome outcome = place_.run({"track", "check", "--quiet", "--wide"});
  EXPECT_EQ(outcome.code, 10) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("confirmed by 5 launches"));
  const std::int64_t head = Store(database(), Store::Mode::read_only).runs().back().id;
  EXPECT_EQ(launches_of(head), 10u);
  EXPECT_EQ(place_.run({"track", "check", "--quiet"}).code, 10);
  EXPECT_EQ(launches_of(head), 10u) << "it has what it needs";
  EXPECT_EQ(place_.run({"track", "check", "--quiet", "--max-launches", "13"}).code, 10);
  EXPECT_EQ(launches_of(head), 13u);
}

TEST_F(TrackRun, SaysWhyNothingIsConfirmedHere) {
  ASSERT_EQ(place_.run({"track", "run", "--quiet", "--label", "branch=other"}).code, 0);
  add_history(6, 1e-9);
  commit();
  const Outcome other = place_.run({"track", "check", "--json", "--quiet"});
  EXPECT_EQ(other.code, 11) << "only launches are missing, and what looks worse is not passed by";
  EXPECT_THAT(other.out, AllOf(HasSubstr("would confirm a change are not measured here"), HasSubstr("is checked")));
  place_.shell("git reset -q --hard HEAD~1; mv hbench.toml other.toml");
  EXPECT_THAT(place_.run({"track", "check", "--json", "--quiet"}).out, HasSubstr("there is no hbench.toml"));
  write_bytes(place_ / "other.toml", std::string(kFile) + "op = \"max\"\n");
  const Outcome file = place_.run({"track", "check", "--json", "--quiet", "--file", "other.toml"});
  EXPECT_THAT(file.out, HasSubstr("by another file than this"));
  EXPECT_EQ(place_.run({"track", "check", "--json", "--quiet", "--no-confirm"}).code, 10);
}

TEST_F(TrackRun, BeginsWithAFileForThisMachine) {
  const Outcome there = place_.run({"track", "init"});
  expect_mistake(there, 2, "'hbench.toml' is there already", "--force");
  const Outcome outcome = place_.run({"track", "init", "--force"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("Wrote hbench.toml: "), HasSubstr("Next: hbench track run")));
  EXPECT_THAT(read_file(place_ / "hbench.toml"), HasSubstr("baseline = \"main\""));
  const Outcome plan = place_.run({"track", "run", "--dry-run"});
  EXPECT_EQ(plan.code, 0) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("all-reduce of 16MiB"));
  EXPECT_FALSE(std::filesystem::exists(database()));
}

TEST_F(TrackRun, NamesWhatIsWrongWithTheFileBeforeItMeasures) {
  write_bytes(place_ / "hbench.toml", "[[collective]]\nexecutor = \"thrads\"\n");
  expect_mistake(place_.run({"track", "run"}), 2, "hbench.toml:2: no executor 'thrads'; did you mean 'threads'?",
                 "known:");
  expect_mistake(place_.run({"track", "run", "--file", "gone.toml"}), 2, "there is no file 'gone.toml'", "init");
  std::filesystem::remove(place_ / "hbench.toml");
  expect_mistake(place_.run({"track", "run"}), 2, "there is no hbench.toml in this folder", "hbench track init");
  EXPECT_FALSE(std::filesystem::exists(database()));
}

}  // namespace
}  // namespace hbench::track_run_test
