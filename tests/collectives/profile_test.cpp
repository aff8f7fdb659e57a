#include "collectives/network/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "collectives/base/file.hpp"
#include "tests/collectives/profile_text.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::profile_test {
namespace {

using namespace ::hbench::support;

Profile parse(const std::string& text) { return parse_profile(text, "my.toml", kProfiles / "gpus"); }

void expect_refused(const std::string& text, const std::string& message, const std::string& hint) {
  expect_usage_error([&] { parse(text); }, message, hint);
}

TEST(Profile, ReadsEveryKey) {
  const Profile profile = parse(kProfileText);
  EXPECT_EQ(profile.name, "my");
  EXPECT_EQ(profile.title, "Mine");
  EXPECT_EQ(profile.gpu, "v100");
  EXPECT_EQ(profile.gpus_per_node, 2);
  EXPECT_DOUBLE_EQ(profile.local_latency.value, 3e-6);
  EXPECT_DOUBLE_EQ(profile.local_low_latency.value, 1e-6);
  EXPECT_DOUBLE_EQ(profile.local_rate.value, 1e10);
  EXPECT_DOUBLE_EQ(profile.network_latency.value, 15e-6);
  EXPECT_DOUBLE_EQ(profile.network_low_latency.value, 5e-6);
  EXPECT_DOUBLE_EQ(profile.line_rate.value, 25e9 / 8);
  EXPECT_EQ(profile.nics, 2);
  EXPECT_DOUBLE_EQ(profile.stream_cap.value, 10e9 / 8);
  EXPECT_EQ(profile.streams, 4);
  EXPECT_DOUBLE_EQ(profile.protocol_efficiency, 0.95);
  EXPECT_DOUBLE_EQ(profile.server_rate.value, 1e9);
  EXPECT_EQ(profile.server_factor, 1);
  EXPECT_DOUBLE_EQ(profile.memory_rate.value, 8e11) << "the cluster's own figure goes before the GPU's";
  EXPECT_DOUBLE_EQ(profile.call_latency.value, 20e-6) << "as usual on GPUs";
  EXPECT_DOUBLE_EQ(profile.overlap_slowdown, 0.15);
  EXPECT_DOUBLE_EQ(profile.straggler, 0.01);
  EXPECT_DOUBLE_EQ(profile.uncertainty, 0.1);
  EXPECT_EQ(profile.price->per_node_hour, (Money{12, "EUR"}));
  EXPECT_DOUBLE_EQ(profile.rates.at("mine").samples_per_second, 100);
  EXPECT_EQ(profile.rates.at("mine").batch, 16);
  EXPECT_EQ(profile.rates.at("mine").source, "measured");
  EXPECT_DOUBLE_EQ(profile.rates.at("plain").samples_per_second, 50.5);
  EXPECT_EQ(profile.rates.at("resnet50").samples_per_second, 384) << "from the GPU's file";
}

const std::string kEightOfAMesh =
    "gpus_per_node = 8\n[local]\nlatency = \"3 us\"\nrate = \"300 GB/s\"\nrate_2 = \"48 GB/s\"\nrate_4 = \"144 "
    "GB/s\"\n[network]\nlatency = \"15 us\"\nline_rate = \"400 Gbit/s\"\n";

TEST(Profile, HasTheRateOfTheLeastNumberOfGpusThatHasThemAll) {
  Profile profile = parse(kEightOfAMesh);
  const auto rates = [](const Profile& each) {
    std::vector<double> all;
    for (const int gpus : {2, 3, 4, 5, 8, 16}) all.push_back(std::round(each.local_rate_of(gpus).value / 1e6) / 1e3);
    return all;
  };
  EXPECT_THAT(rates(profile), ElementsAre(48, 144, 144, 300, 300, 300));
  EXPECT_THAT(rates(profile.slowed(2)), ElementsAre(24, 72, 72, 150, 150, 150));
  profile.scale_full_local(0.9);
  EXPECT_THAT(rates(profile), ElementsAre(48, 144, 144, 270, 270, 270));
  profile.gpu_link_rate = BytesPerSecond(100e9);
  EXPECT_EQ(profile.local_rate_of(4).value, 144e9);
}

TEST(Profile, RestsOnTheRateOfTheGpusThatAreUsed) {
  std::string text = kEightOfAMesh;
  text.replace(text.find("\"48 GB/s\""), 9, "{ value = \"48 GB/s\", assumed = 2, source = \"a guess\" }");
  const Profile profile = parse(text);
  EXPECT_EQ(profile.assumed_for(2).size(), 1U);
  EXPECT_EQ(profile.assumed_for(4).size(), 0U);
  EXPECT_EQ(profile.assumed_for(8).size(), 0U);
  EXPECT_NEAR(profile.at(End::worse).local_rate_of(2).value, 24e9, 1);
  EXPECT_NEAR(profile.at(End::better).local_rate_of(2).value, 96e9, 1);
  EXPECT_NEAR(profile.at(End::worse).local_rate_of(4).value, 144e9, 1);
}

TEST(Profile, HasNvLinksOfFewerGpusBesideTheHostsMemory) {
  std::string text = kEightOfAMesh;
  text.replace(text.find("rate ="), 6, "peer_access = false\nrate =");
  EXPECT_NEAR(parse(text).local_rate_of(8).value, 0.57 * 300e9, 1);
  EXPECT_NEAR(parse(text).local_rate_of(2).value, 48e9, 1);
  EXPECT_NEAR(parse(text).at(End::worse).local_rate_of(2).value, 48e9, 1) << "whatever a host carries";
}

TEST(Profile, HasRatesOfFewerGpusThanAll) {
  const auto changed = [](const std::string& old_text, const std::string& new_text) {
    std::string text = kEightOfAMesh;
    return text.replace(text.find(old_text), old_text.size(), new_text);
  };
  expect_refused(changed("rate_4", "rate_8"), "my.toml:6: unknown key 'local.rate_8'", "did you mean 'rate_2'?");
  expect_refused(changed("\"48 GB/s\"", "48"), "my.toml:5: local.rate_2: 48 has no unit",
                 "write it as text, such as \"25 Gbit/s\" or \"15 us\"");
}

/// A network of which somebody knows the line, and how long a message takes.
std::string line_of(const std::string& rate, const std::string& more = "") {
  return "gpus_per_node = 1\n[network]\nlatency = \"50 us\"\nline_rate = \"" + rate + " Gbit/s\"\n" + more;
}

/// Gbit/s of a path between two nodes.
double path_of(const Profile& profile) { return profile.path_rate().value * 8e-9; }

TEST(Profile, TakesWhatTcpCarriesWhereNobodySaysMoreThanTheLine) {
  EXPECT_NEAR(path_of(parse(line_of("1"))), 0.8, 1e-9);
  EXPECT_NEAR(path_of(parse(line_of("100"))), 15, 1e-9);
  EXPECT_NEAR(path_of(parse(line_of("100")).at(End::worse)), 15 / 6.0, 1e-9);
  EXPECT_EQ(parse(line_of("100")).assumed_for(2).size(), 2U) << "said to be assumed";
  EXPECT_NEAR(path_of(parse(line_of("100", "stream_cap = \"38 Gbit/s\"\n"))), 0.8 * 38, 1e-9);
  EXPECT_NEAR(path_of(parse(line_of("100", "protocol_efficiency = 0.95\n"))), 95, 1e-9) << "somebody knows it";
}

TEST(Profile, TakesNoNetworkForTcpThatIsKnownToBeAnother) {
  EXPECT_TRUE(parse(line_of("100")).is_tcp());
  EXPECT_FALSE(parse(line_of("100", "low_latency = \"3 us\"\n")).is_tcp()) << "LL of NCCL over InfiniBand";
  EXPECT_FALSE(parse(line_of("100", "nics = 4\n")).is_tcp()) << "plug-ins (EFA) are as slow to begin, and carry all";
  std::string soon = line_of("100");
  soon.replace(soon.find("50 us"), 5, "14 us");
  EXPECT_FALSE(parse(soon).is_tcp()) << "NCCL's own latency of a network";
  EXPECT_EQ(path_of(parse(soon)), 100);
}

/// A line, and what one node carried by TCP on it, in Gbit/s; `accuracy.md` says where each is from.
struct CarriedByTcp {
  const char* source;
  double line, carried;
};
constexpr CarriedByTcp kCarriedByTcp[] = {{"ddl-benchmarks, 10 GbE", 10, 9.5},
                                          {"ddl-benchmarks, 100 GbE", 100, 17.4},
                                          {"horovod's README", 25, 14.6},
                                          {"horovod-test-data", 16, 10.2},
                                          {"horovod#2581", 100, 10},
                                          {"nccl#398", 100, 38},
                                          {"nccl#209", 32, 15.6},
                                          {"nccl#450", 100, 24},
                                          {"nccl-tests#83", 25, 13.6},
                                          {"bagua-net", 100, 30.6},
                                          {"tensorflow/benchmarks#29", 10, 9.3},
                                          {"fairseq#789", 1, 0.56},
                                          {"fairseq#277", 25, 2},
                                          {"transformers#3274", 40, 1.8},
                                          {"transformers#3707", 25, 5.2}};

TEST(Profile, TakesOfTcpWhatIsTypicalOfItsSources) {
  // Predictions widen what a profile leaves open by what rates of sockets may be off beside it (`kSocketsPrior`).
  constexpr double kSlower = 1.35, kFaster = 1.15;
  std::vector<double> shares, streams;
  int held = 0;
  for (const CarriedByTcp& each : kCarriedByTcp) {
    const Profile profile = parse(line_of(fmt::format("{}", each.line)));
    const double low = path_of(profile.at(End::worse)) / kSlower, high = path_of(profile.at(End::better)) * kFaster;
    held += low <= each.carried && each.carried <= high ? 1 : 0;
    (each.line < 25 ? shares : streams).push_back(each.carried / (each.line < 25 ? each.line : 1));
  }
  EXPECT_EQ(held, 14) << "of 15: 93 %, as of a band of nine in ten";
  // The median, also without any one of them: 14.1 to 15.1 Gbit/s of fast lines, 0.64 to 0.93 of slow ones.
  std::ranges::sort(streams);
  EXPECT_NEAR(streams[5], 15, 0.5);
  std::ranges::sort(shares);
  EXPECT_NEAR(std::sqrt(shares[1] * shares[2]), 0.8, 0.1);
}

TEST(Profile, HasSeveralRatesOfAWorkload) {
  const Profile profile = parse(with("{ value = 100, batch = 16, source = \"measured\" }",
                                     "[{ value = 900, batch = 8, software = \"tuned\", precision = \"fp16\" },\n"
                                     "  { value = 100, batch = 16, precision = \"tf32\", unlike = \"old\" },\n  200]"));
  EXPECT_EQ(profile.rates.at("mine").samples_per_second, 100) << "the first that stands for the workload";
  const std::vector<GpuRate>& stated = profile.stated_rates.at("mine");
  ASSERT_EQ(stated.size(), 3U);
  EXPECT_EQ(stated[0].software, "tuned");
  EXPECT_EQ(stated[1].precision, "tf32");
  EXPECT_EQ(stated[1].unlike, "old");
  EXPECT_EQ(stated[2].samples_per_second, 200);
  EXPECT_EQ(profile.stated_rates.at("resnet50").front().samples_per_second, 384) << "from the GPU's file";
  expect_refused(with("batch = 16", "batch = 16, precision = \"half\""),
                 "my.toml:32: rates.mine: 'half' is no precision", "float32, tf32, fp16, bf16");
}

TEST(ProfileLibrary, KnowsThePeaksOfEachGpu) {
  const std::vector<Profile> gpus = ProfileLibrary(kProfiles).gpus();
  EXPECT_GE(gpus.size(), 18U);
  for (const Profile& gpu : gpus) {
    EXPECT_GT(gpu.peaks.float32 + gpu.peaks.bf16, 0) << gpu.gpu;
    EXPECT_GT(gpu.memory_rate.value, 0) << gpu.gpu;
    EXPECT_GT(gpu.gpu_memory.value, 0) << gpu.gpu;
    EXPECT_GE(gpu.peaks.bf16, gpu.peaks.tf32) << gpu.gpu;
    EXPECT_GE(gpu.peaks.at("fp16"), gpu.peaks.fp16 > 0 ? gpu.peaks.float32 : 0) << gpu.gpu;
  }
}

TEST(Profile, SaysByWhatFactorRatesMayBeOff) {
  EXPECT_EQ(parse(with("\"1 GB/s\"", "\"1 GB/s\"\nfactor = 2.5")).server_factor, 2.5);
  expect_refused(with("\"1 GB/s\"", "\"1 GB/s\"\nfactor = 0.9"),
                 "my.toml:18: parameter_server.factor: 0.9 is out of range", "between 1 and 100");
  for (const int factor : {1, 3, 100})
    EXPECT_EQ(parse(with("streams = 4", "streams = 4\nstream_factor = " + std::to_string(factor))).stream_factor,
              factor);
  expect_refused(with("streams = 4", "stream_factor = 101\nstreams = 4"),
                 "my.toml:14: network.stream_factor: 101 is out of range", "between 1 and 100");
  expect_refused(with("stream_cap = \"10 Gbit/s\"", "stream_factor = 3"),
                 "my.toml:13: network.stream_factor is given without network.stream_cap", "state 'stream_cap'");
  expect_refused(with("rate = \"1 GB/s\"", "factor = { value = 3, source = \"x\" }"),
                 "my.toml:17: parameter_server.factor is given without parameter_server.rate", "state 'rate'");
}

TEST(Profile, AssumedFiguresMayBeOffByAFactor) {
  const Profile stated = parse(kProfileText);
  EXPECT_TRUE(stated.assumed().empty());
  const auto assume = [&](const std::string& key, const std::string& value, const char* by) {
    return parse(with(key + " = " + value, key + " = { value = " + value + ", assumed = " + by + " }"));
  };
  const Profile nics = assume("nics", "2", "true");
  ASSERT_EQ(nics.assumed().size(), 1U);
  EXPECT_EQ(nics.assumed()[0].key, "network.nics");
  EXPECT_EQ(nics.assumed()[0].place, "my.toml:12");
  EXPECT_DOUBLE_EQ(nics.at(End::better).line_rate / stated.line_rate, kAssumedFactor);
  EXPECT_DOUBLE_EQ(nics.at(End::worse).line_rate / stated.line_rate, 1 / kAssumedFactor);
  EXPECT_EQ(nics.at(End::worse).local_rate, stated.local_rate);
  EXPECT_EQ(nics.at(End::stated).line_rate, stated.line_rate);
  // Nodes of fewer GPUs have no links of their own between all of these.
  Profile fewer = stated;
  fewer.figures = {{.key = "gpus_per_node", .assumed = kAssumedFactor}};
  fewer.local_rate = stated.node_rate() * 8;
  EXPECT_EQ(fewer.at(End::worse).local_rate, stated.node_rate());
  EXPECT_EQ(fewer.at(End::better).local_rate, fewer.local_rate);
  EXPECT_DOUBLE_EQ(assume("line_rate", "\"25 Gbit/s\"", "3").at(End::worse).line_rate / stated.line_rate, 1 / 3.0);
  EXPECT_DOUBLE_EQ(assume("protocol_efficiency", "0.95", "3").at(End::worse).line_rate / stated.line_rate, 1 / 3.0);
  EXPECT_DOUBLE_EQ(assume("streams", "4", "3").at(End::worse).stream_cap / stated.stream_cap, 1 / 3.0);
  EXPECT_DOUBLE_EQ(assume("rate", "\"10 GB/s\"", "3").at(End::better).local_rate / stated.local_rate, 3);
  EXPECT_DOUBLE_EQ(assume("rate", "\"1 GB/s\"", "3").at(End::better).server_rate / stated.server_rate, 3);
  EXPECT_DOUBLE_EQ(assume("latency", "\"3 us\"", "3").at(End::worse).local_latency / stated.local_latency, 3);
  const Profile far = parse(with("value = \"15 us\", source", "value = \"15 us\", assumed = 3, source"));
  EXPECT_DOUBLE_EQ(far.at(End::worse).network_latency.value, 45e-6);
  EXPECT_DOUBLE_EQ(far.at(End::better).network_latency.value, 5e-6);
  const Profile local_flags = parse(with("low_latency = \"1 us\"", "low_latency = { value = \"1 us\", assumed = 3 }"));
  EXPECT_DOUBLE_EQ(local_flags.at(End::worse).local_low_latency.value, 3e-6);
  EXPECT_DOUBLE_EQ(
      assume("low_latency", "\"5 us\"", "3").at(End::worse).network_low_latency / stated.network_low_latency, 3);
  EXPECT_DOUBLE_EQ(assume("nics", "2", "100").at(End::better).line_rate / stated.line_rate, 100);
  Profile linked = assume("rate", "\"10 GB/s\"", "3");
  linked.gpu_link_rate = BytesPerSecond(25e9);
  EXPECT_DOUBLE_EQ(linked.at(End::better).local_rate.value, 25e9) << "what its links carry, and no more";
  linked.gpu_link_rate = BytesPerSecond(50e9);
  EXPECT_DOUBLE_EQ(linked.at(End::better).local_rate.value, 30e9);
  for (const char* wrong : {"1", "0.5", "101", "false", "\"yes\"", "nan"})
    expect_refused(with("nics = 2", std::string("nics = { value = 2, assumed = ") + wrong + " }"),
                   "my.toml:12: 'assumed' of 'nics' is neither true nor a factor above 1", "assumed = true");
}

TEST(Profile, MayJoinAFewNodesOnly) {
  EXPECT_EQ(parse(kProfileText).most_gpus(), 0) << "any number";
  const Profile profile = parse(with("gpus_per_node = 2", "gpus_per_node = 2\nmost_nodes = 3"));
  EXPECT_EQ(profile.most_nodes, 3);
  EXPECT_EQ(profile.most_gpus(), 6);
  EXPECT_THROW(parse(with("gpus_per_node = 2", "gpus_per_node = 2\nmost_nodes = 0")), Error);
}

TEST(Profile, HasFiguresWithAFactorAtEitherEnd) {
  Profile profile = parse(kProfileText);
  profile.stream_factor = 2;
  profile.server_factor = 4;
  const Profile better = profile.at(End::better), worse = profile.at(End::worse), stated = profile.at(End::stated);
  EXPECT_DOUBLE_EQ(better.stream_cap / profile.stream_cap, 2);
  EXPECT_DOUBLE_EQ(worse.stream_cap / profile.stream_cap, 0.5);
  EXPECT_DOUBLE_EQ(better.server_rate / profile.server_rate, 4);
  EXPECT_DOUBLE_EQ(worse.server_rate / profile.server_rate, 0.25);
  EXPECT_EQ(stated.stream_cap.value, profile.stream_cap.value);
  EXPECT_EQ(stated.server_rate.value, profile.server_rate.value);
  EXPECT_EQ(better.line_rate.value, profile.line_rate.value);
}

TEST(Profile, OfGpusWithoutPeerAccessPassesTheHostsMemory) {
  const Profile without = parse(with("rate = \"10 GB/s\"", "rate = \"10 GB/s\"\npeer_access = false"));
  EXPECT_FALSE(without.peer_access);
  EXPECT_DOUBLE_EQ(without.local_rate.value, 5.7e9);
  EXPECT_DOUBLE_EQ(without.local_link_rate().value, 1e10);
  EXPECT_DOUBLE_EQ(without.at(End::better).local_rate.value, 1.3 * 5.7e9);
  EXPECT_DOUBLE_EQ(without.at(End::worse).local_rate.value, 5.7e9 / 3.5);
  const auto of_gpu = [](const std::string& more) {
    std::string text = with("\"10 GB/s\"", "\"10 GB/s\"" + more);
    return parse(text.replace(text.find("v100"), 4, "rtx-5090"));
  };
  EXPECT_EQ(of_gpu("").gpu, "rtx5090") << "as the catalogue writes it";
  EXPECT_FALSE(of_gpu("").peer_access) << "by the GPU's file";
  EXPECT_TRUE(of_gpu("\npeer_access = true").peer_access) << "the cluster's own word goes before it";
  const std::pair<std::string, std::string> wrong[] = {{"\"no\"", "no"}, {"0", "0"}, {"1.5", "1.5"}};
  for (const auto& [written, said] : wrong)
    expect_refused(with("\"10 GB/s\"", "\"10 GB/s\"\npeer_access = " + written),
                   "my.toml:8: local.peer_access: " + said + " is neither true nor false", "without quotes");
  expect_refused(with("\"Mine\"", "true"), "my.toml:1: title: true is no figure", "README");
}

TEST(Profile, KnowsWhereEachFigureComesFrom) {
  std::map<std::string, Figure> figures;
  const Profile profile = parse(kProfileText);
  for (const Figure& figure : profile.figures) figures[figure.key] = figure;
  EXPECT_EQ(figures.at("network.latency").text, "15 us");
  EXPECT_EQ(figures.at("network.latency").source, "ping");
  EXPECT_EQ(figures.at("network.line_rate").source, "stated in my.toml");
  EXPECT_EQ(figures.at("rates.mine").source, "measured");
}

TEST(Profile, DigestTellsItsContentsAndItsGpusApart) {
  EXPECT_EQ(parse(kProfileText).digest, parse(kProfileText).digest);
  EXPECT_NE(parse(kProfileText).digest, parse(with("15 us", "16 us")).digest);
  EXPECT_NE(parse(kProfileText).digest, parse(kProfileText + "\n").digest);
}

TEST(Profile, DividesAPathIntoLineStreamsAndEfficiency) {
  Profile profile = parse(kProfileText);
  EXPECT_DOUBLE_EQ(profile.node_rate().value, 0.95 * 2 * 25e9 / 8);
  EXPECT_DOUBLE_EQ(profile.path_rate().value, 0.95 * 4 * 10e9 / 8);
  profile.streams = 8;
  EXPECT_DOUBLE_EQ(profile.path_rate().value, profile.node_rate().value);
}

TEST(Profile, ReadsHowManyNodesShareASwitchForTheirGpus) {
  const std::string joined = with("gpus_per_node = 2", "gpus_per_node = 1\nnodes_per_domain = 9");
  EXPECT_EQ(parse(joined).gpus_per_domain(), 9);
  EXPECT_EQ(parse(joined).tree_rate.value, 0);
  EXPECT_EQ(parse(kProfileText).nodes_per_domain, 1);
  EXPECT_EQ(parse(with("nics = 2", "tree_rate = \"5 GB/s\"")).tree_rate.value, 5e9);
  // The links of one GPU per node join it to other nodes.
  EXPECT_THROW(
      parse("gpus_per_node = 1\nnodes_per_domain = 9\n[network]\nlatency = \"1 us\"\nline_rate = \"1 GB/s\"\n"), Error);
  expect_refused(with("gpus_per_node = 2", "gpus_per_node = 2\nnodes_per_domain = 0"),
                 "my.toml:4: nodes_per_domain: 0 is not a count", "at least 1");
}

TEST(Profile, ErrorsNameFileAndLine) {
  expect_refused(with("\"25 Gbit/s\"", "25"), "my.toml:10: network.line_rate: 25 has no unit", "25 Gbit/s");
  expect_refused(with("25 Gbit/s", "25"),
                 "my.toml:10: network.line_rate: invalid rate '25': it has no unit; expected a number and bit/s, "
                 "kbit/s, Mbit/s, Gbit/s, Tbit/s, B/s, kB/s, MB/s, GB/s or TB/s",
                 "Gbit/s");
  expect_refused(with("25 Gbit/s", "-25 Gbit/s"), "my.toml:10: network.line_rate: -25 Gbit/s is no bandwidth",
                 "at least 1 kbit/s");
  expect_refused(with("25 Gbit/s", "0 Gbit/s"), "my.toml:10: network.line_rate: 0 Gbit/s is no bandwidth",
                 "at least 1 kbit/s");
  expect_refused(with("25 Gbit/s", "1e308 TB/s"), "my.toml:10: network.line_rate: '1e308 TB/s' is out of range", "");
  expect_refused(with("15 us", "-1 us"), "my.toml:9: network.latency: -1 us is no latency", "between 0 and 1 minute");
  expect_refused(with("line_rate", "line_rat"), "my.toml:10: unknown key 'network.line_rat'",
                 "did you mean 'line_rate'?");
  expect_refused(with("[price]", "[prices]"), "my.toml:24: unknown key 'prices'", "did you mean 'price'?");
  expect_refused(with("= 0.95", "= \"much\""), "my.toml:15: network.protocol_efficiency: 'much' is not a number",
                 "without quotes");
  expect_refused(with("= 0.95", "= 1.5"), "my.toml:15: network.protocol_efficiency: 1.5 is out of range",
                 "between 0.01 and 1");
  expect_refused(with("= 0.95", "= nan"), "my.toml:15: network.protocol_efficiency: nan is out of range", "between");
  expect_refused(with("= 0.95", "= [1]"), "my.toml:15: 'protocol_efficiency' must be a figure", "a text with a unit");
  expect_refused(with("nics = 2", "nics = 1.5"), "my.toml:12: network.nics: 1.5 is not a count", "whole number");
  expect_refused(with("nics = 2", "nics = 0"), "my.toml:12: network.nics: 0 is not a count", "at least 1");
  expect_refused(with("\"ping\"", "7"), "my.toml:9: the source of 'latency' must be text", "leave 'source' out");
  expect_refused(with("\"ping\"", "\"\""), "my.toml:9: the source of 'latency' must be text", "where the figure");
  expect_refused(with("source = \"ping\"", "sauce = 1"), "my.toml:9: unknown key 'sauce' in 'latency'", "'source'");
  expect_refused(with("value = \"15 us\", ", ""), "my.toml:9: 'latency' has no value", "");
  expect_refused(with("\"Mine\"", "3"), "my.toml:1: title: 3 is not a text", "in quotes");
  expect_refused(with("\"v100\"", "1.5"), "my.toml:2: gpu: 1.5 is not a text", "in quotes");
  expect_refused(with("title", "title = 1\ntitle"),
                 "my.toml:2: Error while parsing key-value pair: cannot redefine "
                 "existing integer 'title'",
                 "toml.io");
}

TEST(Profile, SharesHaveInclusiveEnds) {
  EXPECT_EQ(parse(with("straggler = 0.01", "straggler = 1")).straggler, 1);
  EXPECT_EQ(parse(with("overlap_slowdown = 0.15", "overlap_slowdown = 10")).overlap_slowdown, 10);
  EXPECT_EQ(parse(with("uncertainty = 0.1", "uncertainty = 0.9")).uncertainty, 0.9);
  expect_refused(with("straggler = 0.01", "straggler = 1.01"), "my.toml:21: compute.straggler: 1.01 is out of range",
                 "between 0 and 1");
  expect_refused(with("overlap_slowdown = 0.15", "overlap_slowdown = 10.5"),
                 "my.toml:20: compute.overlap_slowdown: 10.5 is out of range", "between 0 and 10");
  expect_refused(with("uncertainty = 0.1", "uncertainty = 0.91"),
                 "my.toml:23: prediction.uncertainty: 0.91 is out of range", "between 0 and 0.9");
}

TEST(Profile, MissingKeysAreNamed) {
  expect_refused(with("gpus_per_node = 2\n", ""), "my.toml: 'gpus_per_node' is missing", "README.md lists every key");
  expect_refused(with("line_rate = \"25 Gbit/s\"\n", ""), "my.toml: 'network.line_rate' is missing", "every key");
  expect_refused(with("rate = \"10 GB/s\"\n", ""), "my.toml: 'local.rate' is missing", "every key");
  expect_refused("", "my.toml: 'gpus_per_node' is missing", "every key");
  EXPECT_NO_THROW(parse("gpus_per_node = 1\n[network]\nlatency = \"1 us\"\nline_rate = \"1 Gbit/s\"\n"))
      << "one GPU per node needs no links inside nodes";
}

TEST(Profile, SectionsMustBeSections) {
  expect_refused("gpus_per_node = 1\nnetwork = 3\n", "my.toml:2: 'network' must be a section [network]", "");
  expect_refused(with("[rates]", "[[rates]]"), "my.toml:31: 'rates' must be a section [rates]", "");
}

TEST(Profile, RatesHaveInclusiveEnds) {
  EXPECT_EQ(parse(with("50.5", "1e12")).rates.at("plain").samples_per_second, 1e12);
  EXPECT_EQ(parse(with("50.5", "1e-12")).rates.at("plain").samples_per_second, 1e-12);
  expect_refused(with("50.5", "1.1e12"), "my.toml:33: rates.plain must be samples/s of one GPU", "write a number");
  expect_refused(with("50.5", "0.9e-12"), "my.toml:33: rates.plain must be samples/s of one GPU", "write a number");
}

TEST(Profile, RatesAreChecked) {
  expect_refused(with("50.5", "-1"), "my.toml:33: rates.plain must be samples/s of one GPU", "write a number");
  expect_refused(with("50.5", "inf"), "my.toml:33: rates.plain must be samples/s of one GPU", "write a number");
  expect_refused(with("50.5", "\"fast\""), "my.toml:33: rates.plain must be samples/s of one GPU", "write a number");
  expect_refused(with("batch = 16", "batch = 0"), "my.toml:32: rates.mine: batch is not a count", "whole number");
  EXPECT_EQ(parse(kProfileText).rates.at("mine").factor, kUsualRateFactor);
  EXPECT_EQ(parse(with("batch = 16", "batch = 16, factor = 1")).rates.at("mine").factor, 1);
  EXPECT_EQ(parse(with("batch = 16", "batch = 16, factor = 100")).rates.at("mine").factor, 100);
  for (const char* factor : {"0.9", "101", "nan", "\"2\""})
    expect_refused(with("batch = 16", "batch = 16, factor = " + std::string(factor)),
                   "my.toml:32: rates.mine: factor is not between 1 and 100", "higher or lower by this factor");
  EXPECT_EQ(parse(with("batch = 16", "batch = 1")).rates.at("mine").batch, 1);
  EXPECT_EQ(parse(with("batch = 16", "batch = 16, others = [[8, 60], [64, 150.5]]")).rates.at("mine").others,
            (std::map<int, double>{{8, 60}, {64, 150.5}}));
  for (const char* broken : {"others = [8, 60]", "others = [[8]]", "others = [[8, 60, 1]]"})
    expect_refused(with("batch = 16", std::string("batch = 16, ") + broken),
                   "my.toml:32: others are [[batch, samples/s], ...]", "");
  for (const char* broken : {"batch = 16, others = [[16, 60]]", "others = [[8, 60]]"})
    expect_refused(with("batch = 16", broken),
                   "my.toml:32: rates.mine: others are of other batches than 'batch', which must be there", "");
  EXPECT_EQ(parse(with("batch = 16", "batch = 1000000")).rates.at("mine").batch, 1'000'000);
  expect_refused(with("batch = 16", "batch = 1000001"), "my.toml:32: rates.mine: batch is not a count", "whole number");
  expect_refused(with("batch = 16", "batch = \"16\""), "my.toml:32: rates.mine: batch is not a count", "whole");
  expect_refused(with("\"measured\"", "3"), "my.toml:32: the source of rates.mine must be text", "leave 'source' out");
  expect_refused(with("batch = 16", "bach = 16"), "my.toml:32: unknown key 'bach' in rates.mine", "'batch'");
}

TEST(Profile, QuotedLineBreaksStayOnOneLine) {
  expect_refused("\"a\\nb\" = 1\n", "my.toml:1: unknown key 'a b'", "known here");
}

TEST(ProfileLibrary, EveryShippedProfileIsSourcedAndKnowsResNet50) {
  const ProfileLibrary library(kProfiles);
  EXPECT_GE(library.names().size(), 24U);
  std::set<std::string> digests;
  for (const std::string& name : library.names()) {
    const Profile profile = library.load(name);
    EXPECT_EQ(profile.name, name);
    EXPECT_TRUE(profile.rates.contains("resnet50") || profile.peaks.bf16 + profile.peaks.float32 > 0)
        << name << " has neither a rate nor a peak, from which one is modelled";
    EXPECT_GT(profile.memory_rate.value, 0) << name;
    EXPECT_GT(profile.uncertainty, 0) << name;
    EXPECT_TRUE(digests.insert(profile.digest).second) << name << " is a copy of another";
    for (const auto& [workload, rate] : profile.rates) EXPECT_GT(rate.batch, 0) << name << ' ' << workload;
    for (const Figure& figure : profile.figures) {
      constexpr std::array<std::string_view, 5> kNames{"title", "provider", "instance_type", "gpu", "gpu.title"};
      if (std::ranges::find(kNames, figure.key) != kNames.end()) continue;
      EXPECT_FALSE(figure.source.empty() || figure.source.starts_with("stated in")) << name << ' ' << figure.key;
    }
  }
}

TEST(ProfileLibrary, UnknownNamesAndFilesAreSaidSo) {
  const ProfileLibrary library(kProfiles);
  expect_usage_error([&] { library.load("dgx-1-v10"); }, "no profile 'dgx-1-v10'; did you mean 'dgx-1-v100'?",
                     "known: dgx-1-v100, ");
  expect_usage_error([&] { library.load("absent/my.toml"); }, "cannot read absent/my.toml: No such file or directory",
                     "");
  expect_error([&] { const ProfileLibrary absent(kProfiles / "absent"); }, ExitCode::environment, ::testing::_,
               ::testing::_);
}

// The README's example of a profile of one's own: everything between the fence that names it and the next.
TEST(ProfileReadme, ItsMinimalExampleWorks) {
  const std::string readme = read_file(kProfiles / "README.md");
  const std::string fence = "```toml\n# my-cluster.toml\n";
  const std::size_t begin = readme.find(fence);
  ASSERT_NE(begin, std::string::npos);
  const std::size_t body = begin + std::string("```toml\n").size();
  const std::string example = readme.substr(body, readme.find("```", body) - body);
  const Profile profile = parse_profile(example, "my-cluster.toml", kProfiles / "gpus");
  EXPECT_TRUE(profile.rates.contains("resnet50"));
}

TEST(ProfileReadme, ListsEveryKey) {
  const std::string readme = read_file(kProfiles / "README.md");
  const Profile profile = parse(kProfileText);
  for (const Figure& figure : profile.figures) {
    if (figure.key.starts_with("rates.") || figure.key == "gpu.title") continue;
    EXPECT_NE(readme.find("`" + figure.key + "`"), std::string::npos) << figure.key;
  }
}

TEST(ProfileCoding, NamesCompressorsByTheirCanonicalText) {
  const Profile profile = parse(kProfileText + "[coding]\ntopk = { encode = \"2 ns\", decode = \"0.5 ns\" }\n");
  const StatedCoding& coding = profile.coding.at("topk:0.01");
  EXPECT_DOUBLE_EQ(coding.rate.encode, 2e-9);
  EXPECT_DOUBLE_EQ(coding.rate.decode, 5e-10);
  EXPECT_EQ(coding.rate.call, 0);
  EXPECT_EQ(coding.source, "stated in my.toml");
}

TEST(ProfileCoding, RefusesWhatItDoesNotKnow) {
  const auto refused = [](const std::string& line, const std::string& message) {
    expect_error([&] { parse(kProfileText + "[coding]\n" + line + "\n"); }, ExitCode::usage, HasSubstr(message),
                 ::testing::_);
  };
  refused("topk = 3", "coding.topk must be a table");
  refused("topq = { encode = \"2 ns\", decode = \"1 ns\" }", "topq");
  refused("fp16 = { encode = \"2 ns\" }", "decode");
  refused("fp16 = { encode = 2, decode = \"1 ns\" }", "coding.fp16.encode must be a time");
  refused("fp16 = { encode = \"2 miles\", decode = \"1 ns\" }", "coding.fp16.encode");
  refused("fp16 = { encode = \"2 ns\", decode = \"1 ns\", gain = 1 }", "gain");
}

}  // namespace
}  // namespace hbench::profile_test
