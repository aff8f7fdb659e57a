// Files that are no recording of a training job, or a damaged one: understood as far as they go, or refused in a line.

#include <fmt/format.h>
#include <zlib.h>

#include "analysis/job/text_source.hpp"
#include "tests/analysis/jobs_recording.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::jobs_broken_test {
namespace {

class BrokenJob : public ::testing::Test {
 protected:
  void expect_refused(const std::string& text, const std::string& why) {
    const std::string file = file_of(folder_, "broken.json", text);
    expect_error([&] { job_of({file}); }, ExitCode::usage, HasSubstr(why));
  }
  TemporaryFolder folder_;
};

std::string packed(const TemporaryFolder& folder, const std::string& text) {
  const std::string file = (folder.path() / "packed.json.gz").string();
  const gzFile out = gzopen(file.c_str(), "wb");
  gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
  gzclose(out);
  return file;
}

TEST_F(BrokenJob, IsNoJobWithoutAFileAndWithoutText) {
  expect_error([] { job_of({"nowhere.json"}); }, ExitCode::usage, "nowhere.json: there is no such file");
  expect_error([] { job_of({"/dev/null"}); }, ExitCode::usage, "/dev/null is no regular file");
  expect_refused("", "it is empty");
  expect_refused("  \n", "it is empty");
}

TEST_F(BrokenJob, MayBePackedButNotShortened) {
  const std::string file = packed(folder_, gloo_steps().text());
  EXPECT_EQ(job_of({file}).steps, 2);
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 20);
  expect_error([&] { job_of({file}); }, ExitCode::usage, HasSubstr("gzip data end too early"));
}

TEST_F(BrokenJob, HoldsOneRecordingAlone) {
  const std::string one = gloo_steps().text();
  expect_refused(one + one, "more comes behind its JSON: each recording is a file of its own");
  expect_refused(one + "}", "more comes behind its JSON");
  EXPECT_EQ(job_of({file_of(folder_, "whole.json", one + "\n\n")}).steps, 2);
}

TEST_F(BrokenJob, IsNotNestedDeep) {
  for (const int depth : {100, 200'000}) {
    const std::string nest =
        std::string(static_cast<std::size_t>(depth), '[') + std::string(static_cast<std::size_t>(depth), ']');
    for (
        const char* text :
        {R"({"schemaVersion": 1, "traceEvents": [{"ph":"X","cat":"cpu_op","name":"aten::mm","ts":1,"dur":2,"args":{"a":@}}]})",
         R"({"schemaVersion": 1, "x": @, "traceEvents": []})",
         R"({"header": {"id": "0x1", "rank": 0, "n_ranks": 2}, "metadata": {}, "coll_perf": {"coll": "AllReduce", "x": @}})",
         R"({"pg_status": {}, "entries": [{"profiling_name": "nccl:all_reduce", "x": @}]})",
         R"([{"name": "NEGOTIATE_ALLREDUCE", "ph": "B", "ts": 1, "pid": 1, "args": @},)"}) {
      std::string deep = text;
      deep.replace(deep.find('@'), 1, nest);
      expect_refused(deep, "nested more than 64 deep");
    }
  }
}

TEST_F(BrokenJob, OfAFewBytesTakesLittleMemory) {
  const auto refused = [&](const std::string& text, const std::string& why) {
    const std::string file = packed(folder_, text);
    expect_error([&] { job_of({file}); }, ExitCode::usage, HasSubstr(why));
  };
  const std::string head = R"({"schemaVersion": 1, "x": )";
  refused(head + '"' + std::string(17 << 20, 'A') + "\"}", "one of its values has more than 16 MiB");
  refused(head + std::string(17 << 20, '1') + "}", "one of its values has more than 16 MiB");
  refused(head + std::string(80 << 20, ' ') + "}", "it unpacks to more than 50 times its size");
  std::string values = head + "[0";
  for (int i = 0; i < 600'000; ++i) values += ",0";
  refused(values + "]}", "it has more than 500,000 values");
  const std::string file = file_of(folder_, "small.json", "{}");
  TextSource source(file);
  source.peek();
  std::vector<int> kept;
  EXPECT_NO_THROW(source.keep(kept, 1, 90 << 20));
  expect_error([&] { source.keep(kept, 1, 7 << 20); }, ExitCode::usage, HasSubstr("than fit its size"));
}

TEST_F(BrokenJob, WhoseStepsEndBeforeTheyBeginIsRefused) {
  std::string timeline = "[\n";
  for (const int at : {100, 50}) {
    timeline += fmt::format(R"({{"ph": "B", "name": "NEGOTIATE_ALLREDUCE", "ts": {}, "pid": 1}},)", at) + "\n";
    timeline += fmt::format(R"({{"ph": "E", "ts": {}, "pid": 1}},)", at + 1) + "\n";
    timeline += fmt::format(R"({{"ph": "B", "name": "ALLREDUCE", "ts": {}, "pid": 1}},)", at + 2) + "\n";
    timeline += fmt::format(R"({{"ph": "B", "name": "NCCL_ALLREDUCE", "ts": {}, "pid": 1}},)", at + 3) + "\n";
    timeline += fmt::format(R"({{"ph": "E", "ts": {}, "pid": 1}},)", at + 4) + "\n";
    timeline += fmt::format(R"({{"ph": "E", "ts": {}, "pid": 1, "args": {{"shape": "[2]"}}}},)", 130 - at) + "\n";
  }
  expect_refused(timeline, "its steps end before they begin");
}

TEST_F(BrokenJob, WhoseStepsTakeLongerThanAYearIsRefused) {
  for (const char* text :
       {R"({"schemaVersion": 1, "traceEvents": [{"name": "ProfilerStep#1", "ph": "X", "ts": 1e300, "dur": 1e300}]})",
        "elapsed time per iteration (ms): 1e308 |\nelapsed time per iteration (ms): 1e308 |\n"})
    expect_refused(text, "broken.json: a step of it takes longer than a year");
}

TEST_F(BrokenJob, OfAProgramThatWasStoppedIsReadAsFarAsItGoes) {
  const std::string text = gloo_steps().text();
  const TrainingJob job = job_of({file_of(folder_, "cut.json", text.substr(0, text.size() - 60))});
  EXPECT_EQ(job.steps, 2);
  EXPECT_THAT(job.unknown, Contains(HasSubstr("ends before its list of events does")));
}

TEST_F(BrokenJob, OfAnotherToolIsNoTraceOfTraining) {
  expect_refused(R"({"traceEvents": [{"name": "frame", "ph": "X", "ts": 1, "dur": 2, "pid": 1, "tid": 1}]})",
                 "a trace of another program, with events such as 'frame'");
  expect_refused(R"([{"name": "frame", "ph": "B", "ts": 1, "pid": 1, "tid": 1}])", "no recording of a training job");
  expect_refused(R"({"traceEvents": [{"name": "Convolution", "ph": "B", "ts": 1, "pid": 1, "tid": 1}]})",
                 "none of PyTorch's events is in it");
  expect_refused("Name    Self CPU %      Self CPU   CPU total %\n", "a table of torch.profiler (key_averages)");
  expect_refused("size time algbw\n", "no recording of a training job");
  expect_refused(R"({"$schema": "https://www.speedscope.app/file-format-schema.json"})", "a profile of samples");
  expect_refused("epoch 1, steps: 2 fwd_microstep: 3.1 | bwd_microstep: 5", "a log of DeepSpeed");
  const TraceText npu = TraceText().host("MatMulV2", 1, 2, 1, R"("Task Type": "AI_CORE")");
  expect_refused(npu.text(), "an Ascend NPU");
}

TEST_F(BrokenJob, MarksNoStepAndHasNoOptimizer) {
  expect_refused(TraceText().host("aten::conv2d", 1, 2).text(), "it is a recording of inference");
  expect_refused(R"({"schemaVersion": 1, "traceEvents": [{"name": "ProfilerStep#1", "ph": "X", "ts": NaN, "dur": 5}]})",
                 "the times of 1 event are no numbers");
}

TEST_F(BrokenJob, OfRanksThatDoNotDoTheSameIsRefused) {
  const std::string first = file_of(folder_, "a.json", gloo_steps().text(0));
  TraceText other = gloo_steps();
  other.gradient(35, 36, 99).gradient(135, 136, 99);
  const std::string second = file_of(folder_, "b.json", other.text(1));
  expect_error(
      [&] {
        job_of({first, second});
      },
      ExitCode::usage,
      HasSubstr("a step of the one has 4 gradients in 2 exchanges, of the other 3 gradients in 2 exchanges"));
  const auto resized = [](std::string text) {
    for (std::size_t at = 0; (at = text.find("[30]", at)) != std::string::npos;) text.replace(at, 4, "[31]");
    return text;
  };
  const std::string third = file_of(folder_, "c.json", resized(gloo_steps().text(1)));
  expect_error(
      [&] {
        job_of({first, third});
      },
      ExitCode::usage, HasSubstr("exchange 1 of gradients has size 31 in the one and 30 in the other"));
  expect_refused(gloo_steps().text(7), "it is of rank 7 of 2 ranks");
}

TEST_F(BrokenJob, OfSomeOfTheRanksSaysThatOthersMayBeSlower) {
  const TrainingJob job = job_of(
      {file_of(folder_, "a.json", gloo_steps().text(0, 4)), file_of(folder_, "b.json", gloo_steps().text(3, 4))});
  EXPECT_THAT(job.unknown, Contains(HasSubstr("2 of 4 ranks are here")));
}

TEST_F(BrokenJob, MayBeginWithTheMarkOfUtf8) {
  EXPECT_EQ(job_of({file_of(folder_, "bom.json", "\xEF\xBB\xBF" + gloo_steps().text())}).steps, 2);
}

TEST_F(BrokenJob, MayHaveItsTimesAsTexts) {
  std::string text = gloo_steps().text();
  for (std::size_t at = text.find("\"dur\": "); at != text.npos; at = text.find("\"dur\": ", at + 7)) {
    text.insert(at + 7, "\"");
    text.insert(text.find(',', at), "\"");
  }
  EXPECT_EQ(job_of({file_of(folder_, "texts.json", text)}).steps, 2);
}

TEST_F(BrokenJob, ThatIsNoJsonNamesTheFile) {
  expect_refused(R"({"schemaVersion": 1, "traceEvents": [{"name": "ProfilerStep#1", "dur": }]})", "broken.json");
  expect_refused(R"({"schemaVersion": 1, "traceEvents": ]})", "broken.json");
  expect_refused(R"({"schemaVersion" 1})", "no JSON");
  expect_refused(R"({"schemaVersion": 1, "traceEvents": [{"name": "k", "dur": 1e999}]})", "cannot be read");
}

TEST_F(BrokenJob, TakesNoTimesThatAreNoNumbers) {
  TraceText trace = gloo_steps();
  trace.raw(R"({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#9", "tid": 1, "ts": NaN, "dur": 5},)");
  trace.raw(R"({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#10", "tid": 1, "ts": 5, "dur": -5},)");
  trace.raw(R"({"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#11", "tid": 1, "ts": "soon", "dur": 5},)");
  trace.raw(R"({"ph": "X", "cat": "kernel", "name": "k", "tid": "stream", "ts": 5, "dur": null},)");
  const TrainingJob job = job_of({file_of(folder_, "nan.json", trace.text())});
  EXPECT_EQ(job.steps, 2);
  EXPECT_THAT(job.unknown, Contains(HasSubstr("4 events whose times are no numbers are left out")));
}

TEST_F(BrokenJob, NumbersFilesThatDoNotSayTheirRanks) {
  const std::string first = file_of(folder_, "a.json", gloo_steps(9).text(0, 0));
  const std::string second = file_of(folder_, "b.json", gloo_steps().text(0, 0));
  const TrainingJob job = job_of({first, second});
  EXPECT_EQ(job.straggler->rank, 1);
  EXPECT_THAT(job.unknown, Contains(HasSubstr("numbered in the order")));
}

}  // namespace
}  // namespace hbench::jobs_broken_test
