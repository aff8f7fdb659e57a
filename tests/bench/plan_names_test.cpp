#include <fmt/format.h>

#include "bench/launch/installation.hpp"
#include "bench/sweep/plan.hpp"
#include "collectives/base/parameters.hpp"
#include "tests/bench/own_timeline.hpp"
#include "tests/bench/plan_example.hpp"
#include "tests/bench/run_verb.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"
#include "workloads/step/precision.hpp"

namespace hbench::plan_names_test {
namespace {

constexpr const char* kProfile = R"(
title = "a cluster of mine"
gpus_per_node = 4
[local]
latency = "5 us"
rate = "10 GB/s"
[network]
latency = "20 us"
line_rate = "10 Gbit/s"
[rates]
resnet50 = { value = 300, batch = 64 }
)";

SweepRequest request_with(std::vector<std::string> SweepRequest::*list, std::string name) {
  SweepRequest request = small_request();
  request.*list = {std::move(name)};
  return request;
}

void expect_suggestion(std::vector<std::string> SweepRequest::*list, const char* name, const std::string& message) {
  expect_error([&] { plan_of(request_with(list, name)); }, ExitCode::usage, testing::Eq(message),
               StartsWith("known: "));
}

TEST(UnknownName, OfEveryFamilyIsAnErrorWithASuggestion) {
  expect_suggestion(&SweepRequest::workloads, "resnet5", "no workload 'resnet5'; did you mean 'resnet50'?");
  expect_suggestion(&SweepRequest::workloads, "lenet", "no workload 'lenet'; did you mean 'lenet5'?");
  expect_suggestion(&SweepRequest::profiles, "hkbu-10gb", "no profile 'hkbu-10gb'; did you mean 'hkbu-10gbe'?");
  expect_suggestion(&SweepRequest::algorithms, "rng", "no algorithm 'rng'; did you mean 'ring'?");
  expect_suggestion(&SweepRequest::compressors, "fp61", "no compressor 'fp61'; did you mean 'fp16'?");
  expect_suggestion(&SweepRequest::fusions, "horovd:64MiB", "no fusion policy 'horovd'; did you mean 'horovod'?");
  expect_suggestion(&SweepRequest::placements, "greedi", "no placement 'greedi'; did you mean 'greedy'?");
}

// Of networks that were recorded, shapes that were published and models that are measured.
TEST(UnknownName, GetsTheNearestOfAllKnownWorkloadsOnce) {
  for (const char* name : {"resnet5x", "llama3-8x", "lenetx"})
    expect_error(
        [&] { plan_of(request_with(&SweepRequest::workloads, name)); }, ExitCode::usage,
        StartsWith(fmt::format("no workload '{}'; did you mean ", name)),
        AllOf(StartsWith("known: " + std::string(name).substr(0, 5)), EndsWith(" more (hbench list workloads)")));
  try {
    plan_of(request_with(&SweepRequest::workloads, "transformer"));
  } catch (const Error& error) {
    const std::string nearest = error.hint().substr(sizeof("known: ") - 1);
    std::vector<std::string> names = split_list(nearest.substr(0, nearest.find(" and ")), "names");
    EXPECT_EQ(names.size(), 6U);
    std::ranges::sort(names);
    EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
  }
}

TEST(UnknownName, OfARecommenderSaysWhatIsNotModelled) {
  expect_error([] { plan_of(request_with(&SweepRequest::workloads, "DLRM")); }, ExitCode::usage,
               "'DLRM' has sparse embeddings, which are not modelled: only dense gradients are",
               HasSubstr("dense layers"));
  expect_refused("choose", {"--workload", "deepfm", "--gpus", "8"}, HasSubstr("'deepfm' has sparse embeddings"),
                 HasSubstr("dense layers"));
}

TEST(UnknownName, OfSinglePrecisionAsFrameworksSayItIsNotTf32) {
  expect_error([] { parse_precision("fp32"); }, ExitCode::usage, "no precision 'fp32'; did you mean 'float32'?");
}

TEST(UnknownName, ThatResemblesNothingGetsTheList) {
  expect_error([] { plan_of(request_with(&SweepRequest::algorithms, "quicksort")); }, ExitCode::usage,
               Not(HasSubstr("did you mean")), AllOf(HasSubstr("ring"), HasSubstr("ps"), HasSubstr("vendor")));
}

TEST(UnknownName, OfAWorkloadIsToldApartFromOneThatCannotBeSimulated) {
  EXPECT_NO_THROW(plan_of([] {
    SweepRequest request = small_request();
    request.workloads = {"lenet5", "resnet50"};
    return request;
  }()));
}

TEST(Servers, AreAModeANumberOrBoth) {
  const auto is = [](std::string_view text, bool colocated, int count) {
    const ServerChoice choice = parse_servers(text);
    EXPECT_EQ(choice.colocated, colocated) << text;
    EXPECT_EQ(choice.count, count) << text;
  };
  is("colocated", true, 0);
  is("dedicated", false, 0);
  is("4", false, 4);
  is("dedicated:4", false, 4);
  is("colocated:12", true, 12);
}

TEST(Servers, ThatMakeNoSenseAreQuotedWithTheChoices) {
  for (const char* text : {"0", "-1", "", "four", "colocated:", "colocated:0", "dedicated:x", "4x", ":4", "colocate",
                           "colocated:4:5", "99999999999999"})
    expect_error([&] { parse_servers(text); }, ExitCode::usage, HasSubstr(std::string("--servers ") + text),
                 AllOf(HasSubstr("colocated"), HasSubstr("dedicated")));
}

TEST(OwnFiles, AreProfilesAndWorkloads) {
  const TemporaryFolder folder;
  write_bytes(folder / "mine.toml", kProfile);
  write_bytes(folder / "my-model.toml", kOwnTimeline);
  SweepRequest request = small_request();
  request.profiles = {(folder / "mine.toml").string()};
  request.workloads = {"resnet50", (folder / "my-model.toml").string()};
  const Plan plan = plan_of(request);
  ASSERT_EQ(plan.cases.size(), 4);
  EXPECT_EQ(plan.cases[0].asked.workload, "resnet50");
  EXPECT_EQ(plan.cases[1].asked.workload, "my-model");
  EXPECT_EQ(plan.cases[1].asked.profile, "mine");
  EXPECT_EQ(plan.cases[1].asked.batch_per_gpu, 10) << "as recorded in the timeline";
  EXPECT_TRUE(has_recorded_rate(plan.cases[1])) << "no profile knows how fast its GPU is at it";
  EXPECT_FALSE(has_recorded_rate(plan.cases[0]));
  EXPECT_TRUE(plan.catalog.profiles.contains("mine"));
  EXPECT_TRUE(plan.catalog.traces.contains("my-model"));
}

TEST(OwnFiles, ThatChangeAreOtherCases) {
  std::string slower = kOwnTimeline;
  slower.replace(slower.find("20 ms"), 5, "25 ms");
  struct Row {
    std::vector<std::string> SweepRequest::*list;
    std::string text, changed;
  };
  for (const Row& row : {Row{&SweepRequest::profiles, kProfile, std::string(kProfile) + "\n# another figure\n"},
                         Row{&SweepRequest::workloads, kOwnTimeline, slower}}) {
    SCOPED_TRACE(row.text);
    const TemporaryFolder folder;
    const SweepRequest request = request_with(row.list, (folder / "mine.toml").string());
    write_bytes(folder / "mine.toml", row.text);
    const std::string before = plan_of(request).cases.front().asked.key();
    EXPECT_EQ(plan_of(request).cases.front().asked.key(), before);
    write_bytes(folder / "mine.toml", row.changed);
    EXPECT_NE(plan_of(request).cases.front().asked.key(), before);
  }
}

TEST(OwnFiles, OfOneNameMustBeTheSame) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "a");
  std::filesystem::create_directory(folder / "b");
  write_bytes(folder / "a" / "mine.toml", kProfile);
  write_bytes(folder / "b" / "mine.toml", std::string(kProfile) + "# other\n");
  SweepRequest request = small_request();
  request.profiles = {(folder / "a" / "mine.toml").string(), (folder / "b" / "mine.toml").string()};
  expect_error([&] { plan_of(request); }, ExitCode::usage, HasSubstr("two different profiles are called 'mine'"),
               HasSubstr("rename"));
}

TEST(OwnFiles, MayNotTakeTheNameOfAnotherWorkload) {
  const TemporaryFolder folder;
  write_bytes(folder / "resnet50.toml", kOwnTimeline);
  SweepRequest request = small_request();
  request.workloads = {"resnet50", (folder / "resnet50.toml").string()};
  expect_error([&] { plan_of(request); }, ExitCode::usage, HasSubstr("two different workloads are called 'resnet50'"),
               HasSubstr("rename"));
}

TEST(OwnProfiles, WithoutARateOfOneGpuNeedOneFromTheFlag) {
  const TemporaryFolder folder;
  std::string profile = kProfile;
  write_bytes(folder / "mine.toml", profile.substr(0, profile.find("[rates]")));
  SweepRequest request = small_request();
  request.profiles = {(folder / "mine.toml").string()};
  expect_error([&] { plan_of(request); }, ExitCode::usage, HasSubstr("nothing to do"),
               AllOf(HasSubstr("resnet50 on mine"), HasSubstr("--single-gpu-rate")));
  request.single_gpu_rate = 100;
  EXPECT_EQ(plan_of(request).cases.size(), 2);
}

TEST(OwnFiles, ThatAreMissingAreNamed) {
  for (const auto list : {&SweepRequest::profiles, &SweepRequest::workloads})
    expect_error([&] { plan_of(request_with(list, "./no/such/file.toml")); }, ExitCode::usage,
                 HasSubstr("no/such/file.toml"), testing::_);
}

}  // namespace
}  // namespace hbench::plan_names_test
