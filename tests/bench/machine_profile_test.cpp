#include "analysis/fit/machine_profile.hpp"

#include <fmt/format.h>

#include "bench/calibrate/measure_machine.hpp"
#include "bench/doctor/environment.hpp"
#include "bench/launch/installation.hpp"
#include "collectives/base/units_text.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::machine_profile_test {
namespace {

const std::filesystem::path kGpus = HBENCH_SOURCE_DIR "/cluster-profiles/gpus";

Profile network(const char* name = "azure-nd96asr-v4") { return load_data().profiles.load(name); }

MachineFigures measured() {
  MachineFigures machine;
  machine.ranks = 4;
  machine.gpu = "An \"odd\" GPU, 80 GB";
  machine.what = "GPUs";
  machine.how = "measured here";
  machine.how_linked = "timed here";
  machine.link = {.latency = Seconds(3.25e-6),
                  .rate = BytesPerSecond(123.456e9),
                  .unseen = 9,
                  .mean_error = 0.03,
                  .largest_error = 0.1};
  machine.rates["mine.v2"] = {1234.5, 64, "timed alone"};
  return machine;
}

Profile read_back(const Profile& network, const MachineFigures& machine) {
  return parse_profile(format_machine_profile(network, machine), "this-machine.toml", kGpus);
}

std::string source_of(const Profile& profile, const std::string& key) {
  for (const Figure& figure : profile.figures)
    if (figure.key == key) return figure.source;
  ADD_FAILURE() << "no figure " << key;
  return "";
}

TEST(MachineProfile, HasWhatCompressorsTookHere) {
  MachineFigures machine = measured();
  machine.coding["topk:0.01"] = {{.encode = 2e-9, .decode = 1.5e-10, .call = 3e-6}, "timed here on a day"};
  const StatedCoding coding = read_back(network(), machine).coding.at("topk:0.01");
  EXPECT_NEAR(coding.rate.encode, 2e-9, 1e-15);
  EXPECT_NEAR(coding.rate.decode, 1.5e-10, 1e-16);
  EXPECT_NEAR(coding.rate.call, 3e-6, 1e-12);
  EXPECT_EQ(coding.source, "timed here on a day");
}

TEST(MachineProfile, HasWhatWasMeasuredInsideANodeAndSaysSo) {
  const Profile profile = read_back(network(), measured());
  EXPECT_EQ(profile.gpus_per_node, 4);
  EXPECT_EQ(profile.gpu, "An \"odd\" GPU, 80 GB");
  EXPECT_NEAR(profile.local_latency.value, 3.25e-6, 1e-12);
  EXPECT_NEAR(profile.local_rate.value, 123.456e9, 1e6);
  EXPECT_EQ(profile.local_low_latency.value, 0) << "the fitted latency is of the protocol that was used";
  const GpuRate& rate = profile.rates.at("mine.v2");
  EXPECT_EQ(rate.samples_per_second, 1234.5);
  EXPECT_EQ(rate.batch, 64);
  EXPECT_EQ(rate.source, "timed alone");
  EXPECT_EQ(source_of(profile, "gpus_per_node"), "measured here");
  for (const char* key : {"local.latency", "local.rate"}) EXPECT_EQ(source_of(profile, key), "timed here") << key;
}

TEST(MachineProfile, KeepsTheFiguresBetweenNodesWithTheirSources) {
  const Data data = load_data();
  for (const std::string& name : data.profiles.names()) {
    const Profile from = network(name.c_str()), profile = read_back(from, measured());
    for (const Figure& figure : from.figures) {
      const bool between = figure.key.starts_with("network.") || figure.key.starts_with("parameter_server.") ||
                           figure.key == "compute.overlap_slowdown" || figure.key == "compute.straggler";
      if (!between) continue;
      EXPECT_THAT(profile.figures,
                  Contains(AllOf(testing::Field(&Figure::key, figure.key), testing::Field(&Figure::text, figure.text),
                                 testing::Field(&Figure::source, figure.source))))
          << name;
    }
    EXPECT_EQ(profile.path_rate(), from.path_rate()) << name;
    EXPECT_EQ(profile.network_latency, from.network_latency) << name;
  }
}

TEST(MachineProfile, HasNothingOfTheOtherClustersGpusAndNodes) {
  const Profile from = network(), profile = read_back(from, measured());
  ASSERT_GT(from.rates.size(), 0u);
  ASSERT_GT(from.memory_rate.value, 0);
  ASSERT_TRUE(from.price.has_value());
  EXPECT_EQ(profile.rates.size(), 1u);
  EXPECT_EQ(profile.memory_rate.value, 0);
  EXPECT_FALSE(profile.price.has_value());
}

TEST(MachineProfile, IsAsUncertainAsTheNetworkOrTheFitWhateverIsMore) {
  MachineFigures machine = measured();
  const Profile from = network();  // 0.1
  EXPECT_EQ(read_back(from, machine).uncertainty, from.uncertainty);
  machine.link->mean_error = 0.25;
  const Profile wide = read_back(from, machine);
  EXPECT_EQ(wide.uncertainty, 0.25);
  EXPECT_EQ(source_of(wide, "prediction.uncertainty"),
            "mean error of the fitted link on 9 sizes it has not seen; timed here");
  machine.link->mean_error = 7;
  EXPECT_EQ(read_back(from, machine).uncertainty, 0.9) << "the most that a profile may state";
}

TEST(MachineProfile, OfOneRankKeepsTheNetworksOwnLink) {
  MachineFigures machine = measured();
  machine.ranks = 1;
  machine.link.reset();
  const Profile from = network(), profile = read_back(from, machine);
  EXPECT_EQ(profile.gpus_per_node, 1);
  EXPECT_EQ(profile.local_rate, from.local_rate);
  EXPECT_EQ(profile.local_low_latency, from.local_low_latency);
  EXPECT_EQ(source_of(profile, "local.rate"), source_of(from, "local.rate"));
}

TEST(MachineProfile, IsTitledByTheMachineAndTheNetwork) {
  EXPECT_EQ(read_back(network("hkbu-10gbe"), measured()).title,
            "machines like this joined by hkbu-10gbe, 4 GPUs per node, 10 Gbit/s");
  EXPECT_EQ(machine_title(network(), measured()),
            "machines like this joined by azure-nd96asr-v4, 4 GPUs per node, 8 x 200 Gbit/s");
}

TEST(LinkCurve, IsTheMedianInPlaceOfEachSize) {
  EXPECT_THAT(timed_sizes(R"({"results": [
                {"status": "done", "size": 1024, "in_place_seconds": 1e-5, "out_of_place_seconds": 2e-5},
                {"status": "done", "size": 2048, "in_place_seconds": 3e-5, "out_of_place_seconds": 4e-5}]})"),
              ElementsAre(TimedSize{1024, 1e-5}, TimedSize{2048, 3e-5}));
}

TEST(LinkCurve, IsRefusedWhereACaseFailedOrNothingCanBeRead) {
  expect_error(
      [] {
        timed_sizes(
            R"({"results": [{"status": "failed", "failure": "rank 1 died", "size": 8, "in_place_seconds": null}]})");
      },
      ExitCode::lost_rank, "measuring what joins the ranks: rank 1 died");
  for (const char* text :
       {"", "hello", "{}", R"({"results": [{"status": "done", "size": 8, "in_place_seconds": null}]})"})
    expect_error([&] { timed_sizes(text); }, ExitCode::internal,
                 "measuring what joins the ranks: hbench collective printed what cannot be read", "");
}

TEST(LinkCurve, AsksForLargerSizesOnGpusAndForTheExecutorThatWasChosen) {
  EXPECT_EQ(fmt::format("{}", fmt::join(link_arguments({"hbench", "mpi", 2, false}), " ")),
            "collective --json --quiet --algorithm ring --executor mpi --ranks 2 -b 1K -e 16M -f 2");
  EXPECT_EQ(fmt::format("{}", fmt::join(link_arguments({"hbench", "nccl-p2p", 8, true}), " ")),
            "collective --json --quiet --algorithm ring --executor nccl-p2p --ranks 8 -b 1K -e 256M -f 2");
}

/// An hbench whose larger sizes take less time, the first times that it is asked.
std::string program_that_is_disturbed(int times, const TemporaryFolder& folder) {
  constexpr const char* kScript = R"sh(#!/bin/sh
echo asked >> "$0.calls"
third=3
[ "$(wc -l < "$0.calls")" -gt {} ] || third=0.5
echo '{{"results": [{{"status": "done", "size": 1000, "in_place_seconds": 1}},
                   {{"status": "done", "size": 2000, "in_place_seconds": 2}},
                   {{"status": "done", "size": 3000, "in_place_seconds": '$third'}},
                   {{"status": "done", "size": 4000, "in_place_seconds": 4}}]}}'
)sh";
  write_program(folder / "hbench", fmt::format(kScript, times));
  return (folder / "hbench").string();
}

TEST(MeasuredLink, IsMeasuredAgainWhereTheMachineWasBusyForAMoment) {
  for (int times : {0, 1, 2}) {
    const TemporaryFolder folder;
    const MeasuredLink link = measure_link({program_that_is_disturbed(times, folder), "threads", 2, false});
    EXPECT_EQ(link.timed[2].seconds, 3);
    EXPECT_NEAR(link.fit.rate.value, 1000, 1e-9);
    EXPECT_EQ(std::filesystem::file_size(folder / "hbench.calls") / std::string_view("asked\n").size(),
              static_cast<std::size_t>(times) + 1);
  }
}

TEST(MeasuredLink, IsRefusedWhereTheMachineStaysBusy) {
  const TemporaryFolder folder;
  const LinkRequest request{program_that_is_disturbed(3, folder), "threads", 2, false};
  expect_error([&] { measure_link(request); }, ExitCode::wrong_data,
               "the times of the all-reduces do not grow with their size",
               "the machine is too busy to be measured, or the sizes are all small: measure again");
}

// Two launches on a busy machine, of which one took twice as long, say next to nothing of its speed.
TEST(MachineRate, HasAFactorThatAProfileMayState) {
  CaseResult alone;
  alone.asked = {.evidence = Evidence::measured, .workload = "lenet5", .strategy = {.algorithm = "none"}};
  alone.asked.batch_per_gpu = 8;
  for (const int launch : {0, 1})
    alone.samples.push_back({.launch = launch, .metric = "step_seconds", .value = 1.0 + launch, .unit = "s"});
  EXPECT_EQ(rate_of(alone, "a test").factor, 100);
}

}  // namespace
}  // namespace hbench::machine_profile_test
