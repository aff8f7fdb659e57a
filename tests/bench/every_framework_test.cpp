// Every framework with every setting as a person has it who installed it: what `tests/run frameworks` runs.

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "bench/frameworks/framework_job.hpp"
#include "tests/bench/program.hpp"
#include "tests/support/matchers.hpp"
#include "workloads/methods/method.hpp"

namespace hbench::every_framework_test {
namespace {

using nlohmann::json;

/// All choices, as `--framework` reads them.
std::vector<std::string> all_choices() {
  std::vector<std::string> choices;
  for (const Framework* each : frameworks()) {
    choices.push_back(FrameworkChoice{each}.text());
    for (const FrameworkSetting& setting : each->settings) choices.push_back(FrameworkChoice{each, &setting}.text());
  }
  return choices;
}

std::vector<std::string> sweep_of(const std::string& choices, const char* steps = "2", const char* budget = "20s") {
  return {"sweep",    "--gpus",       "2",           "--workload", "resnet18", "--batch",     "2",    "--evidence",
          "measured", "--image-size", "32",          "--device",   "cpu",      "--algorithm", "ring", "--launches",
          "1",        "--steps",      steps,         "--warmup",   "3",        "--trace",     "0",    "--no-calibrate",
          "--budget", budget,         "--framework", choices};
}

/// The points of frameworks that a sweep has left.
std::vector<json> of_frameworks(const Workplace& workplace) {
  std::vector<json> points;
  for (const json& point : exported(workplace))
    if (point.at("framework").is_string()) points.push_back(point);
  return points;
}

class EveryFramework : public testing::TestWithParam<std::string> {};

TEST_P(EveryFramework, TrainsOnTwoRanksWhatHbenchTrains) {
  if (const FoundFramework found = find_framework(parse_framework(GetParam())); !found.state.available)
    GTEST_SKIP() << found.state.in_words();
  const Workplace workplace;
  // A proxy that ranks ask for each other hangs the first step.
  const Outcome outcome = workplace.run(sweep_of(GetParam()),
                                        {{"http_proxy", "http://127.0.0.1:9"}, {"https_proxy", "http://127.0.0.1:9"}});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::vector<json> points = of_frameworks(workplace);
  ASSERT_EQ(points.size(), 1);
  EXPECT_EQ(points[0].at("framework"), GetParam());
  EXPECT_EQ(points[0].at("status"), "done") << points[0].at("failure");
  EXPECT_GT(points[0].at("step_seconds"), 0);
  EXPECT_GT(points[0].at("efficiency"), 0);
  const int cycle = parse_method(parse_framework(GetParam()).method()).plan(true).cycle();
  const int steps = (2 + cycle - 1) / cycle * cycle;
  EXPECT_EQ(points[0].at("samples"), 2 * steps) << "timed steps of two ranks, in whole cycles";
}

INSTANTIATE_TEST_SUITE_P(, EveryFramework, testing::ValuesIn(all_choices()), [](const auto& choice) {
  std::string name = choice.param;
  std::erase_if(name, [](char letter) { return std::isalnum(static_cast<unsigned char>(letter)) == 0; });
  return name;
});

/// Waits for `count` numbers in a file.
std::vector<pid_t> pids_in(const std::filesystem::path& path, std::size_t count) {
  std::vector<pid_t> pids;
  for (int tries = 0; tries < 600 && pids.size() < count; ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    pids.clear();
    std::ifstream file(path);
    for (pid_t pid = 0; file >> pid;) pids.push_back(pid);
  }
  return pids;
}

TEST(TensorflowServers, LeaveNothingBehindWhenOneProcessDies) {
  const FoundFramework found = find_framework(parse_framework("tensorflow-ps"));
  if (!found.state.available) GTEST_SKIP() << found.state.in_words();
  for (const std::size_t killed : {0, 1, 2}) {
    const Workplace workplace;
    const TemporaryFolder temporary;
    write_program(workplace / "python",
                  fmt::format("#!/bin/sh\n[ \"$2\" = --version ] || echo $$ >> pids\nexec {} \"$@\"", found.python));
    // The last of them is killed while it trains.
    Sweeping sweep(workplace, sweep_of("tensorflow-ps", "100000", "8s"),
                   {{"HBENCH_PYTHON", (workplace / "python").string()}, {"TMPDIR", temporary.path().string()}});
    const std::vector<pid_t> pids = pids_in(workplace / "pids", 3);
    ASSERT_EQ(pids.size(), 3);
    std::this_thread::sleep_for(std::chrono::seconds(3 * killed));
    kill(pids[killed], SIGKILL);
    const Outcome outcome = sweep.wait();
    EXPECT_EQ(outcome.code, 5) << "process " << killed << ": " << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("resnet18 tensorflow-ps"));
    EXPECT_TRUE(all_die(pids));
    EXPECT_TRUE(std::filesystem::is_empty(temporary.path()));
  }
}

TEST(MeasuredAnswer, IsInTheFirstLine) {
  for (const char* name : {"horovod", "tensorflow-ring"})
    if (const FoundFramework found = find_framework(parse_framework(name)); !found.state.available)
      GTEST_SKIP() << found.state.in_words();
  const Workplace workplace;
  const Outcome outcome = workplace.run({"compare", "horovod-tensorflow", "--measured", "--launches", "2", "--wide"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out.substr(0, outcome.out.find('\n')),
              ContainsRegex("^=> .*[0-9][.][0-9]+ .[0-9].* to [0-9].*times as fast.* on 2 CPU ranks"));
  for (const std::string& choice : all_choices()) {
    const bool compared = choice.starts_with("horovod") || choice.starts_with("tensorflow");
    EXPECT_EQ(outcome.out.find(choice + " ") != std::string::npos, compared) << choice;
  }
  EXPECT_THAT(outcome.out, HasSubstr("What this says of GPUs"));
}

}  // namespace
}  // namespace hbench::every_framework_test
