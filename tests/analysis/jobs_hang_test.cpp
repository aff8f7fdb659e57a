// Exchanges that had not completed when a job was dumped: which, and what each rank did.

#include <gmock/gmock.h>

#include "tests/analysis/jobs_examples.hpp"

namespace hbench::jobs_hang_test {
namespace {

using Json = nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;

enum class State { completed, scheduled, started };

Json entry(int sequence, State state, const std::string& name = "nccl:all_reduce", int elements = 4 << 20) {
  Json entry = flight_entry(name, {{elements}}, 10.0 * sequence, state == State::completed ? 1 : 0);
  entry["collective_seq_id"] = sequence;
  if (state == State::completed) return entry;
  entry["state"] = state == State::started ? "started" : "scheduled";
  entry["retired"] = false;
  entry["time_discovered_completed_ns"] = nullptr;
  entry["time_discovered_started_ns"] = nullptr;
  return entry;
}

/// The job of ranks that have completed three exchanges, and then did this.
TrainingJob job_of_two(const std::vector<std::vector<Json>>& ranks) {
  std::vector<Recording> recordings;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    Json entries = Json::array();
    for (int sequence = 1; sequence <= 3; ++sequence) entries.push_back(entry(sequence, State::completed));
    for (const Json& each : ranks[rank]) entries.push_back(each);
    Json dump = flight_dump(entries);
    dump["pg_config"]["0"]["ranks"] = "[0, 1]";
    recordings.push_back(RecordedFile("nccl_trace_rank_" + std::to_string(rank), dump.dump()).read().at(0));
  }
  return make_job(std::move(recordings), {});
}

TEST(Hang, NamesTheFirstExchangeAndWhatTheRanksDid) {
  const Json scheduled = entry(4, State::scheduled), started = entry(4, State::started);
  const std::string one = "1 collective of 2 ranks had not completed: all_reduce 4 of default_pg (16 MiB)";
  for (const auto& [ranks, said] : std::vector<std::pair<std::vector<std::vector<Json>>, std::string>>{
           {{{scheduled}, {scheduled}}, one + ", which no rank started: see what the GPU ran before."},
           {{{started}, {scheduled}}, one + ", which rank 1 never started: see what the GPU ran before."},
           {{{started}, {started}}, one + ", which all ranks started: check their network (NCCL_DEBUG=INFO)."},
           {{{started, entry(5, State::scheduled)}, {}},
            "2 collectives of 1 rank had not completed: the first is all_reduce 4 of default_pg (16 MiB), which rank 1 "
            "never called: see what it did instead."},
           {{{started}, {entry(4, State::completed)}},
            "1 collective of 1 rank had not completed: all_reduce 4 of default_pg (16 MiB), which rank 1 completed: "
            "the "
            "others lag behind."},
           {{{started}, {entry(4, State::scheduled, "nccl:_all_gather_base")}},
            one + ", but rank 1 called _all_gather_base (16 MiB): ranks must call the same."},
           {{{started}, {entry(4, State::scheduled, "nccl:all_reduce", 1 << 20)}},
            one + ", but rank 1 called all_reduce (4 MiB): ranks must call the same."},
           {{{started}},
            "1 collective of 1 rank had not completed: all_reduce 4 of default_pg (16 MiB); give the dumps of all 2 "
            "ranks."},
           {{{entry(4, State::scheduled, "nccl:all_reduce_barrier", 1)}, {}},
            "1 collective of 1 rank had not completed: all_reduce_barrier 4 of default_pg (4 B), which rank 1 never "
            "called: see what it did instead."},
           {{{}, {}}, ""},
       })
    EXPECT_EQ(job_of_two(ranks).hang, said);
}

TEST(Hang, SaysNothingOfStartsThatAreNotRecorded) {
  Json entries = Json::array({flight_entry("nccl:all_reduce", {{1000}}, 1), entry(4, State::scheduled)});
  Json dump = flight_dump(entries);
  dump["pg_config"]["0"]["ranks"] = "[0]";
  EXPECT_EQ(make_job(RecordedFile("nccl_trace_rank_0", dump.dump()).read(), {}).hang,
            "1 collective of 1 rank had not completed: all_reduce 4 of default_pg (16 MiB).");
}

// Gloo's exchanges stay scheduled, and are retired; so do those of a batch of two ranks, which has an entry of its own.
TEST(Hang, IsNoneWhereExchangesHaveCompletedWithoutSayingSo) {
  Json retired = entry(4, State::scheduled, "gloo:all_reduce");
  retired["retired"] = true;
  EXPECT_EQ(job_of_two({{retired}, {retired}}).hang, "");
  Json sent = entry(0, State::scheduled, "nccl:send 0->1");
  sent["is_p2p"] = true;
  EXPECT_EQ(job_of_two({{sent, entry(4, State::completed, "nccl:coalesced", 0)}}).hang, "");
}

TEST(Hang, OfTheFirstStepIsSaidWithoutAStep) {
  const TrainingJob first = make_job(
      RecordedFile("nccl_trace_rank_0", flight_dump(Json::array({entry(1, State::started)})).dump()).read(), {});
  EXPECT_EQ(first.hang,
            "1 collective of 1 rank had not completed: all_reduce 1 of default_pg (16 MiB); give the dumps of all 4 "
            "ranks.");
  EXPECT_EQ(first.steps, 0);
  EXPECT_THAT(first.unknown, Contains(HasSubstr("The steps before are not shown")));
}

TEST(Hang, LeavesTheStepsBeforeItAsTheyAre) {
  Json entries = ddp_entries(7, 1);
  for (int step = 0; step < static_cast<int>(entries.size()); ++step) entries[step]["collective_seq_id"] = step + 1;
  entries.push_back(entry(400, State::scheduled));
  const TrainingJob job = RecordedFile("nccl_trace_rank_2", flight_dump(entries).dump()).job();
  EXPECT_NEAR(job.step.value, 0.220, 1e-9);
  EXPECT_NE(job.hang, "");
}

}  // namespace
}  // namespace hbench::jobs_hang_test
