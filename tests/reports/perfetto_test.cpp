// Traces against what the Trace Event Format says of them: complete events, metadata events, and nesting on a thread.

#include "reports/formats/perfetto.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/support/matchers.hpp"

namespace hbench::perfetto_test {
namespace {

using nlohmann::json;

Span span_of(Rank rank, SpanKind kind, double begin_us, double end_us, int bucket = -1) {
  return {.rank = rank,
          .lane = bucket < 0 ? Lane::compute : Lane::communication,
          .kind = kind,
          .begin = Seconds(begin_us * 1e-6),
          .end = Seconds(end_us * 1e-6),
          .bucket = bucket};
}

/// Two ranks; buckets 0 and 1 of rank 0 are in flight together, and bucket 2 after them.
TracedStep example_step(int launch = 0) {
  return {.launch = launch,
          .iteration = 20,
          .spans = {span_of(0, SpanKind::input, 0, 5), span_of(0, SpanKind::forward, 5, 30),
                    span_of(0, SpanKind::backward, 30, 80), span_of(0, SpanKind::step, 0, 100.25),
                    span_of(0, SpanKind::communication, 40, 60, 0), span_of(0, SpanKind::communication, 50, 90, 1),
                    span_of(0, SpanKind::communication, 60, 70, 2), span_of(0, SpanKind::coding, 41, 42, 0),
                    span_of(0, SpanKind::negotiation, 35, 40, 0), span_of(1, SpanKind::step, 0, 100)}};
}

json events_of(const std::vector<TracedStep>& steps, const char* phase) {
  const json file = json::parse(perfetto_json({.title = "a case", .evidence = "measured", .steps = steps}));
  json events = json::array();
  for (const json& event : file.at("traceEvents"))
    if (event.at("ph") == phase) events.push_back(event);
  return events;
}

TEST(Perfetto, IsTheJsonObjectFormat) {
  const std::string text = perfetto_json({.title = "a \"case\"\n</script>", .evidence = "measured", .steps = {}});
  const json file = json::parse(text);
  EXPECT_TRUE(file.at("traceEvents").is_array());
  EXPECT_EQ(file.at("displayTimeUnit"), "ms") << "the format knows ms and ns";
  EXPECT_EQ(file.at("otherData").at("case"), "a \"case\"\n</script>");
}

TEST(Perfetto, HasACompleteEventForEachSpanInMicroseconds) {
  const json events = events_of({example_step()}, "X");
  ASSERT_EQ(events.size(), 10U);
  for (const json& event : events) {
    EXPECT_TRUE(event.at("name").is_string());
    EXPECT_TRUE(event.at("cat").is_string());
    EXPECT_TRUE(event.at("pid").is_number_integer());
    EXPECT_TRUE(event.at("tid").is_number_integer());
    EXPECT_TRUE(event.at("ts").is_number());
    EXPECT_GE(event.at("dur").get<double>(), 0);
    EXPECT_EQ(event.at("args").at("step"), 20);
  }
  const json& step = events.front();
  EXPECT_EQ(step.at("name"), "step 20") << "what contains others comes before them";
  EXPECT_EQ(step.at("ts"), 0);
  EXPECT_EQ(step.at("dur"), 100.25);
  const auto bucket = std::ranges::find_if(events, [](const json& event) { return event.at("name") == "bucket 1"; });
  ASSERT_NE(bucket, events.end());
  EXPECT_EQ(bucket->at("ts"), 50);
  EXPECT_EQ(bucket->at("dur"), 40);
  EXPECT_EQ(bucket->at("cat"), "communication");
  EXPECT_EQ(bucket->at("args").at("bucket"), 1);
}

TEST(Perfetto, NamesProcessesAndThreads) {
  std::map<std::pair<int, std::string>, std::string> names;
  std::map<int, std::vector<std::string>> threads;
  for (const json& event : events_of({example_step(0), example_step(1)}, "M")) {
    if (event.at("name") == "process_name") names[{event.at("pid"), "name"}] = event.at("args").at("name");
    if (event.at("name") == "thread_name") threads[event.at("pid")].push_back(event.at("args").at("name"));
  }
  std::vector<std::string> processes;
  for (const auto& [key, name] : names) processes.push_back(name);
  EXPECT_THAT(processes, ElementsAre("launch 1 rank 0", "launch 1 rank 1", "launch 2 rank 0", "launch 2 rank 1"));
  EXPECT_THAT(threads.begin()->second,
              UnorderedElementsAre("compute", "input", "buckets", "buckets 2", "copies and coding", "negotiation"));
}

// "Events of one thread may be nested": those that overlap otherwise are drawn wrong.
TEST(Perfetto, LetsEventsOfAThreadOverlapOnlyWhereOneContainsTheOther) {
  const json events = events_of({example_step(0), example_step(1)}, "X");
  std::set<std::pair<int, int>> named;
  for (const json& event : events_of({example_step(0), example_step(1)}, "M"))
    if (event.at("name") == "thread_name") named.emplace(event.at("pid"), event.at("tid"));
  for (const json& a : events) {
    EXPECT_TRUE(named.contains({a.at("pid"), a.at("tid")})) << a << " is on a thread without a name";
    for (const json& b : events) {
      if (a.at("pid") != b.at("pid") || a.at("tid") != b.at("tid")) continue;
      const double a_begin = a.at("ts"), a_end = a_begin + a.at("dur").get<double>();
      const double b_begin = b.at("ts"), b_end = b_begin + b.at("dur").get<double>();
      const bool apart = a_end <= b_begin || b_end <= a_begin;
      const bool nested = (a_begin <= b_begin && b_end <= a_end) || (b_begin <= a_begin && a_end <= b_end);
      EXPECT_TRUE(apart || nested) << a << " and " << b;
    }
  }
}

}  // namespace
}  // namespace hbench::perfetto_test
