
#include "analysis/job/job.hpp"
#include "tests/analysis/jobs_files.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::jobs_formats_test {
namespace {

TEST(JobFormats, DoNotTakeTheFilesOfOtherPrograms) {
  for (const std::string text : {
           R"({"benchmarks": [{"name": "BM_Sort/8", "real_time": 1.5}]})",
           R"([{"ph": "X", "name": "compile main.cpp", "ts": 1, "dur": 5, "pid": 1, "tid": 1}])",  // ninja, clang
           R"({"nodes": [{"id": "a"}], "edges": []})",                                             // a graph
           R"({"schema": "1.0", "tables": []})",
           "step,seconds\n1,0.5\n",
           "#!/bin/sh\necho elapsed time\n",
           "\x7f"
           "ELF\x02\x01\x01",
           "\x89PNG\r\n\x1a\n",
       })
    expect_error([&] { recordings_of(text, "b.json"); }, ExitCode::usage, HasSubstr("b.json: no recording"),
                 HasSubstr("kineto, "));
}

TEST(JobFormats, WithoutStepsOrTimesAreNamed) {
  for (const auto& [text, name, what, cure] :
       {std::tuple{R"({"schema": "1.1.1-chakra.0.0.4", "nodes": []})", "et.json", "it has sizes and no times",
                   "exchanges alone with NCCL Inspector"},
        {"\x0a\x05", "rank0.et", "it has no steps", "follow a number of it: hbench track init --pattern REGEX"}})
    expect_error([&, text = text, name = name] { recordings_of(text, name); }, ExitCode::usage, HasSubstr(what),
                 fmt::format("record some steps with torch.profiler, or {}", cure));
}

}  // namespace
}  // namespace hbench::jobs_formats_test
