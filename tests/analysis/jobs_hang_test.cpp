// Exchanges that had not completed when a job was dumped: which, and what each rank did.

#include "tests/analysis/jobs_examples.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::jobs_hang_test {
namespace {

using Json = nlohmann::json;

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

/// A dump of one rank of the job of `ranks`.
Json dump_of(const Json& entries, const char* ranks = "[0, 1]") {
  Json dump = flight_dump(entries);
  dump["pg_config"]["0"]["ranks"] = ranks;
  return dump;
}

/// The job of ranks that have completed three exchanges, and then did this.
TrainingJob job_of_two(const std::vector<std::vector<Json>>& ranks) {
  std::vector<Recording> recordings;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    Json entries = Json::array();
    for (int sequence = 1; sequence <= 3; ++sequence) entries.push_back(entry(sequence, State::completed));
    for (const Json& each : ranks[rank]) entries.push_back(each);
    recordings.push_back(RecordedFile("nccl_trace_rank_" + std::to_string(rank), dump_of(entries).dump()).read().at(0));
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

/// Steps of 100 ms with an exchange each, which completes within 10 ms, the last one perhaps; and an exchange of
/// another group `later` seconds after them.
std::string running_dump(int last, bool completed, double later = 0) {
  Json entries = Json::array();
  for (int sequence = 1; sequence <= last; ++sequence) {
    entries.push_back(entry(sequence, sequence < last || completed ? State::completed : State::scheduled));
    const std::int64_t created = 1'700'000'000'000'000'000 + 100'000'000LL * sequence;
    entries.back()["time_created_ns"] = created;
    if (sequence == last && !completed) continue;
    entries.back()["time_discovered_started_ns"] = created + 1'000'000;
    entries.back()["time_discovered_completed_ns"] = created + 10'000'000;
  }
  if (later > 0) {
    entries.push_back(flight_entry("nccl:broadcast", {{1}}, 0));
    entries.back()["process_group"] = {"1", "checkpoint"};
    entries.back()["time_created_ns"] = 1'700'000'000'000'000'000 + static_cast<std::int64_t>(later * 1e9);
    entries.back()["time_discovered_completed_ns"] = nullptr;
  }
  return dump_of(entries).dump();
}

TEST(Hang, IsNotTakenFromARunningJobWhoseRanksAreDumpedOneAfterTheOther) {
  const std::string lag = "all_reduce 8 of default_pg (16 MiB), which rank 0 completed: the others lag behind.";
  const std::string later_dump = " A later dump with the same ones would be one of a hang.";
  struct Case {
    std::string first, second, hang, note;
  };
  for (const Case& each : std::vector<Case>{
           {running_dump(8, true), running_dump(8, false), "",
            "1 collective of 1 rank had not completed yet when dumped: " + lag + later_dump},
           {running_dump(8, true, 60.8), running_dump(8, false),
            "1 collective of 1 rank had not completed after 60 s: " + lag, ""},
           // All ranks of a job that hangs stop: this may be one.
           {running_dump(8, false), running_dump(8, false),
            "1 collective of 2 ranks had not completed: all_reduce 8 of default_pg (16 MiB), which no rank started: "
            "see what the GPU ran before.",
            "A running job has exchanges on their way too, and the newest event is 0.0 ms after the first of these was "
            "launched." +
                later_dump},
       }) {
    std::vector<Recording> recordings = RecordedFile("rank_0", each.first).read();
    recordings.push_back(RecordedFile("rank_1", each.second).read().at(0));
    const TrainingJob job = make_job(std::move(recordings), {});
    EXPECT_EQ(job.hang, each.hang);
    EXPECT_NEAR(job.step.value, 0.1, 1e-9);
    if (each.note.empty())
      EXPECT_THAT(job.unknown, Not(Contains(HasSubstr("later dump"))));
    else
      EXPECT_THAT(job.unknown, Contains(each.note));
  }
}

TEST(Hang, IsNotLaidToARankWhoseDumpIsCutOff) {
  Json entries = Json::array({entry(1, State::completed), entry(2, State::completed), entry(3, State::scheduled)});
  const Json dump = dump_of(entries);
  // Else JSON has its members in the order of their names: what is cut off is the end of the entries.
  const std::string whole = R"({"pg_config": )" + dump["pg_config"].dump() + R"(, "entries": )" + entries.dump() + "}";
  std::vector<Recording> recordings = RecordedFile("rank_0", whole).read();
  recordings.push_back(RecordedFile("rank_1", whole.substr(0, whole.size() - 20)).read().at(0));
  EXPECT_EQ(make_job(std::move(recordings), {}).hang,
            "1 collective of 1 rank had not completed: all_reduce 3 of default_pg (16 MiB); the dump of rank 1 is cut "
            "off: give it whole.");
}

TEST(Hang, OfASendOutlivesWhatElseCompletesInItsGroup) {
  const auto between = [](const char* name, State state) {
    Json each = entry(0, state, name);
    each["is_p2p"] = true;
    return each;
  };
  const Json sent = between("nccl:send 0->1", State::started);
  const std::string hang = "1 collective of 1 rank had not completed: send 0->1 of default_pg (16 MiB).";
  for (const auto& [after, said] : std::vector<std::pair<Json, std::string>>{
           {between("nccl:recv 0<-1", State::completed), hang},
           {entry(4, State::completed), hang},
           {between("nccl:send 0->1", State::completed), ""},
           {entry(4, State::completed, "nccl:coalesced", 0), ""},
       })
    EXPECT_EQ(job_of_two({{sent, after}}).hang, said) << after;
  EXPECT_NE(job_of_two({{entry(4, State::started), between("nccl:recv 0<-1", State::completed)}}).hang, "");
}

TEST(Hang, SaysNothingOfStartsThatAreNotRecorded) {
  Json entries = Json::array({flight_entry("nccl:all_reduce", {{1000}}, 1), entry(4, State::scheduled)});
  EXPECT_EQ(make_job(RecordedFile("nccl_trace_rank_0", dump_of(entries, "[0]").dump()).read(), {}).hang,
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
