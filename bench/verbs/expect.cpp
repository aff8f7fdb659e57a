#include <algorithm>
#include <iterator>

#include "analysis/import/collective_case.hpp"
#include "analysis/import/import.hpp"
#include "bench/command/arguments.hpp"
#include "bench/command/verb.hpp"
#include "bench/database/outputs.hpp"
#include "bench/doctor/available_memory.hpp"
#include "bench/launch/installation.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/document_output.hpp"
#include "bench/output/output_file.hpp"
#include "collectives/algorithms/algorithm.hpp"
#include "collectives/base/flag_values.hpp"
#include "reports/prediction/expectation.hpp"

namespace hbench {
namespace {

/// What is asked where nothing was measured.
struct Sizes {
  std::int64_t least = 0, most = 0;
};

std::vector<CaseResult> questions(const ImportHints& hints, const Sizes& sizes) {
  const CollectiveKind kind = parse_collective_kind(hints.collective.empty() ? "all-reduce" : hints.collective);
  std::vector<CaseResult> results;
  for (std::int64_t bytes = sizes.least; bytes <= sizes.most; bytes *= 4) {
    CaseResult result;
    result.asked = collective_case("expect", kind, bytes, "float32", "sum");
    result.asked.gpus = hints.ranks;
    result.asked.nodes = hints.nodes;
    results.push_back(std::move(result));
  }
  return results;
}

struct Measured {
  std::vector<CaseResult> results;
  std::string gpu;
};

Measured measured(const std::vector<std::string>& names, const ImportRequest& request) {
  Measured measured;
  for (std::vector<ReadFile>& run : read_files(read_outputs(names), request)) {
    ImportedRun imported = imported_run(std::move(run), request, now_utc());
    std::ranges::move(imported.cases, std::back_inserter(measured.results));
    measured.gpu = imported.run.environment["gpu"];
  }
  return measured;
}

ExitCode run_expect(const Call& call) {
  std::vector<std::string> files;
  std::string profile;
  ImportRequest request{.command = call.command, .version = HBENCH_VERSION};
  Sizes sizes;
  DocumentOutput output;
  Arguments app(
      "Says whether measured collectives are what their cluster lets expect, and what a slow one looks like. Files are "
      "those of hbench import; without one it says what to expect.",
      "hbench expect");
  app.footer(
      "Examples:\n  hbench expect all_reduce_perf.txt --profile dgx-a100\n"
      "  hbench expect --profile aws-p5 --ranks 16 -b 1G -e 1G\n"
      "  hbench expect table.txt --collective all-reduce --ranks 64 --nodes 8 --profile dgx-a100\n"
      "A size is normal in its 90 % band, slow above it, and faster than possible where\n"
      "the links cannot carry the bytes in that time.");
  app.add_option("FILE", files, "what nccl-tests, rccl-tests, OSU or IMB printed");
  app.add_option("--profile", profile, "the cluster it ran on: hbench list profiles, or a file");
  app.add_option("--collective", request.hints.collective,
                 "where the file does not name it (default: all-reduce): all-reduce, reduce-scatter, all-gather or "
                 "broadcast");
  app.add_option("--ranks", request.hints.ranks, "GPUs, where the file does not say it", in_range(1, 1'000'000));
  app.add_option("--nodes", request.hints.nodes, "where the file does not say it (default: full ones)",
                 in_range(1, 1'000'000));
  app.add_parsed("-b,--minbytes", sizes.least, parse_size, "smallest size, without a file", "1K");
  app.add_parsed("-e,--maxbytes", sizes.most, parse_size, "largest size, without a file", "1G");
  output.add_options(app);
  if (app.parse(call)) return ExitCode::good;
  if (profile.empty())
    throw Error(ExitCode::usage, "no cluster to expect something of", "add --profile NAME (hbench list profiles)");
  if (files.empty() && request.hints.ranks < 2)
    throw Error(ExitCode::usage, "no file, and no number of GPUs", "give what was measured, or --ranks 16");
  if (sizes.least < 4) throw Error(ExitCode::usage, "-b is less than one element of 4 bytes", "give -b 4");
  sizes.most = std::max(sizes.most, sizes.least);
  output.check();
  catch_interrupts();
  const Profile cluster = load_data().profiles.load(profile);
  const Measured given = files.empty() ? Measured{questions(request.hints, sizes), {}} : measured(files, request);
  const Expectation expectation = expect(given.results, given.gpu, cluster, available_memory(), interrupted);
  output.deliver(expectation_document(expectation), [&] { return expectation_json(expectation); });
  return ExitCode::good;
}

}  // namespace

extern const Verb kExpect;
constinit const Verb kExpect{
    .name = "expect", .summary = "say whether measured collectives are normal for a cluster", .run = run_expect};

}  // namespace hbench
