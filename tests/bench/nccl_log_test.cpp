// Which transports NCCL uses, from lines in the form in which its versions print them.

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "analysis/points/collectives.hpp"
#include "bench/collective/run.hpp"
#include "bench/collective/summary.hpp"
#include "bench/collective/table.hpp"
#include "bench/launch/nccl_log.hpp"
#include "reports/formats/formats.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/mutate.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::nccl_log_test {
namespace {

namespace fs = std::filesystem;

std::string line(const std::string& words) { return "node-1:123:456 [0] NCCL INFO " + words + "\n"; }

TEST(NcclTransports, AreCountedByConnection) {
  const std::string log = line("Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read") +
                          line("Channel 01/0 : 0[0] -> 1[1] via P2P/CUMEM/read") +
                          line("Channel 00/0 : 1[1] -> 2[2] via SHM/direct/direct") +
                          line("Channel 00 : 0[1b000] -> 1[43000] via P2P/direct pointer");
  EXPECT_THAT(observed_transports(log),
              ElementsAre(Pair("P2P/CUMEM/read", 2), Pair("P2P/direct pointer", 1), Pair("SHM/direct/direct", 1)));
}

TEST(NcclTransports, OfNetworksAreNamedWithoutTheirCardsAndCountedAtOneEnd) {
  const std::string log = line("Channel 00/0 : 8[0] -> 0[0] [receive] via NET/IB/0/GDRDMA") +
                          line("Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0/GDRDMA") +
                          line("Channel 01/0 : 0[0] -> 8[0] [send] via NET/IB/3/GDRDMA") +
                          line("Channel 02/0 : 0[0] -> 8[0] [send] via NET/IBext_v8/1(5)/GDRDMA/Shared") +
                          line("Channel 00/0 : 0[0] -> 1[0] [send] via NET/Socket/0") +
                          line("CollNet 00/0 : 0 [send] via COLLNET/SHARP/0/GDRDMA");
  EXPECT_THAT(observed_transports(log), ElementsAre(Pair("COLLNET/SHARP/GDRDMA", 1), Pair("NET/IB/GDRDMA", 2),
                                                    Pair("NET/IBext_v8/GDRDMA/Shared", 1), Pair("NET/Socket", 1)));
}

TEST(NcclTransports, AreReadInTheFormsOfOtherVersions) {
  const std::string log = line("Channel 00 : 0[1b000] -> 1[43000] via P2P/IPC comm 0x7f1234 nRanks 02") +
                          line("Channel 00/0 : 0[0] -> 3[3] via P2P/indirect/1[1]") +
                          line("Ring 00 : 0 -> 1 [send] via NET/Socket/0");
  EXPECT_THAT(observed_transports(log),
              ElementsAre(Pair("NET/Socket", 1), Pair("P2P/IPC", 1), Pair("P2P/indirect", 1)));
}

TEST(NcclTransports, OfNvlinkSharpAreThoseThatAreSetUp) {
  const std::string log = line("NVLS multicast support is available on dev 0 (NVLS_NCHANNELS 16)") +
                          line("NVLS comm 0x7f00 headRank 0 nHeads 8 nvlsRanks 8 buffSize 1048576 memSize 2097152") +
                          line("Connected NVLS tree");
  EXPECT_THAT(observed_transports(log), ElementsAre(Pair("NVLS", 1), Pair("NVLS tree", 1)))
      << "what is available may not be used";
}

TEST(NcclTransports, AreNotMadeUpFromOtherLines) {
  EXPECT_THAT(observed_transports(""), IsEmpty());
  EXPECT_THAT(observed_transports(line("Connected all rings") + line("NET/Plugin: no plugin found via path") +
                                  line("Bootstrap: Using eth0 via NET") + "we go via P2P/CUMEM\n" +
                                  "node:1:1 [0] graph.cc:7 NCCL WARN lost via NET/IB/0\n"),
              IsEmpty());
  EXPECT_THAT(observed_transports("node:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM"),
              ElementsAre(Pair("P2P/CUMEM", 1)))
      << "a last line without its end";
}

TEST(NcclLog, IsAPrivateFolderThatGoesWithIt) {
  fs::path folder;
  {
    const NcclLog log(true, nullptr);
    const auto environment = log.environment();
    EXPECT_EQ(environment.at("NCCL_DEBUG"), "INFO");
    const fs::path file = environment.at("NCCL_DEBUG_FILE");
    folder = file.parent_path();
    EXPECT_EQ(fs::status(folder).permissions(), fs::perms::owner_all);
    EXPECT_THAT(log.transports(), IsEmpty()) << "NCCL has not written yet";
    std::ofstream(folder / "host.1") << line("Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM");
    std::ofstream(folder / "host.2") << line("Channel 00/0 : 1[1] -> 0[0] via P2P/CUMEM");
    EXPECT_THAT(log.transports(), ElementsAre(Pair("P2P/CUMEM", 2)));
  }
  EXPECT_FALSE(fs::exists(folder));
}

TEST(NcclLog, LeavesUsersAndOthersAlone) {
  EXPECT_THAT(NcclLog(false, nullptr).environment(), IsEmpty());
  EXPECT_THAT(NcclLog(true, "WARN").environment(), ElementsAre(Pair("NCCL_MULTI_RANK_GPU_ENABLE", "1")))
      << "the user has asked NCCL for something else";
  EXPECT_THAT(NcclLog(true, "WARN").transports(), IsEmpty());
}

/// A rank that says what NCCL would, between its words to the parent.
constexpr const char* kRank = R"(#!/bin/sh
[ -n "$NCCL_DEBUG_FILE" ] && echo 'h:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM' > "$NCCL_DEBUG_FILE"
echo '{"hello":{"rank":0,"pid":1}}'
echo '{"size":{"rank":0,"cases":[0]}}'
echo '{"samples":{"rank":0,"case":0,"metric":"in_place_seconds","unit":"s","warmup":false,"first":0,"values":[1e-6]}}'
echo '{"case":{"rank":0,"case":0,"refusal":""}}'
echo '{"done":{"rank":0,"digest":""}}'
)";

/// The results of one case of an executor, measured by such ranks.
std::vector<CaseResult> measured_by(const std::string& executor) {
  const TemporaryFolder folder;
  write_program(folder / "rank", kRank);
  Case asked;
  asked.evidence = Evidence::measured;
  asked.gpus = 1;
  asked.strategy.algorithm = "vendor";
  asked.strategy.compressor = "none";
  asked.collective = {
      .name = "all-reduce", .bytes = 1024, .data_type = "float32", .operation = "sum", .executor = executor};
  CollectivePlan plan;
  plan.sets.push_back({.threads = true, .cases = {{0, asked, {256}}}});
  plan.cases = 1;
  RunOptions options;
  options.programs[""] = {.path = (folder / "rank").string()};
  return run_collectives(plan, options, {.doing = [](const std::string&) {}, .done = [](const CaseResult&) {}});
}

TEST(NcclLog, IsReadWhenACaseHasEnded) {
  if (std::getenv("NCCL_DEBUG") != nullptr) GTEST_SKIP() << "NCCL_DEBUG is set here";
  const std::vector<CaseResult> results = measured_by("nccl");
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].status, CaseStatus::done) << results[0].failure;
  const std::vector<CollectiveRow> rows = collective_rows(results);
  EXPECT_THAT(rows[0].figures.transports, ElementsAre(Pair("P2P/CUMEM", 1)));
  EXPECT_THAT(kTextFormat.render(collective_document(rows, {})), HasSubstr("NCCL went by P2P/CUMEM (1 connection)\n"));
  const nlohmann::json json = nlohmann::json::parse(collective_json(rows, {}, {}));
  EXPECT_EQ(json["results"][0]["nccl_transports"], (nlohmann::json{{"P2P/CUMEM", 1}}));
  EXPECT_THAT(collective_csv(rows), HasSubstr(R"("{""P2P/CUMEM"":1}")"));
}

TEST(NcclLog, IsNotAskedForWithoutNccl) {
  const std::vector<CollectiveRow> rows = collective_rows(measured_by("threads"));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].result.status, CaseStatus::done) << rows[0].result.failure;
  EXPECT_THAT(rows[0].figures.transports, IsEmpty());
  EXPECT_TRUE(nlohmann::json::parse(collective_json(rows, {}, {}))["results"][0]["nccl_transports"].is_null());
}

TEST(NcclTransports, OfDamagedLogsAreNoMoreThanTheirLines) {
  const std::string log = line("Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0/GDRDMA") +
                          line("Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read") + line("Connected NVLS tree");
  std::mt19937 random(2211);
  for (int i = 0; i < 2000; ++i) {
    const std::string damaged = support::mutated(log, random);
    int connections = 0;
    for (const auto& [transport, count] : observed_transports(damaged)) {
      EXPECT_FALSE(transport.empty());
      connections += count;
    }
    EXPECT_LE(connections, 1 + std::ranges::count(damaged, '\n')) << damaged;
  }
}

}  // namespace
}  // namespace hbench::nccl_log_test
