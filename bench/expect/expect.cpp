#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>

#include "analysis/import/format.hpp"
#include "analysis/import/import.hpp"
#include "bench/command/common_options.hpp"
#include "bench/database/database.hpp"
#include "bench/launch/host.hpp"
#include "bench/output/document_output.hpp"
#include "bench/output/feature.hpp"
#include "bench/sweep/prediction_options.hpp"
#include "collectives/algorithms/algorithm.hpp"
#include "reports/expect/expectation.hpp"

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
  std::vector<std::string> left_out = {};  ///< what could not be read, and why, with its file
};

Measured measured(const std::vector<std::string>& names, ImportRequest request) {
  Measured measured;
  request.machine = request.program = "any";  // those of benchmarks, which are not judged
  for (std::vector<ReadFile>& run : read_files(read_outputs(names), request)) {
    ImportedRun imported = imported_run(std::move(run), request, now_utc());
    std::ranges::move(imported.cases, std::back_inserter(measured.results));
    std::ranges::move(imported.left_out, std::back_inserter(measured.left_out));
    measured.gpu = imported.run.environment["gpu"];
  }
  std::erase_if(measured.results, [](const CaseResult& each) { return each.asked.is_benchmark(); });
  if (measured.results.empty())
    refuse_file(names.front(), "there is no collective in it",
                "of a training give its speed: hbench expect --measured 1531 --workload vgg16 --gpus 8 --profile NAME");
  return measured;
}

/// What was typed.
struct Asked {
  std::vector<std::string> files;
  std::string profile;
  ImportRequest request;
  Sizes sizes;
  double rate = 0;  ///< of a training; 0: it is about collectives
  PredictionRequest training;
  bool gate = false;
  Verbosity verbosity = Verbosity::usual;
};

/// `complete`: all of what was measured has been judged.
ExitCode code_of(const Asked& asked, std::optional<Normality> found, bool complete = true) {
  if (!asked.gate) return ExitCode::good;
  if (found == Normality::slow) return ExitCode::regressed;
  const bool known = complete && (found == Normality::pass || found == Normality::fast);
  return known ? ExitCode::good : ExitCode::inconclusive;
}

ExitCode expect_of_training(Asked asked, const DocumentOutput& output) {
  PredictionRequest& request = asked.training;
  if (request.workloads.size() != 1 || request.gpus.size() != 1)
    throw Error(ExitCode::usage, "--measured is of one workload and number of GPUs", "add --workload vgg16 --gpus 8");
  request.profiles = {asked.profile};
  const auto found = predicted(asked.verbosity, [&](const Data& data, const SimulationMeans& means) {
    return expect_training(request, asked.rate, data, means);
  });
  output.deliver(training_expectation_document(found), [&] { return training_expectation_json(found); });
  return code_of(asked, found.normality());
}

ExitCode expect_of_collectives(const Asked& asked, const DocumentOutput& output) {
  if (asked.files.empty() && asked.request.hints.ranks < 2)
    throw Error(ExitCode::usage, "no file, and no number of GPUs",
                "give what was measured, --ranks 16, or a training's --measured 1531");
  if (asked.gate && asked.files.empty())
    throw Error(ExitCode::usage, "--gate judges what was measured, and nothing is given",
                "give what nccl-tests printed, or a training's --measured 1531");
  if (asked.sizes.least < 4) throw Error(ExitCode::usage, "-b is less than one element of 4 bytes", "give -b 4");
  catch_interrupts();
  const Profile cluster = load_data().profiles.load(asked.profile);
  const Measured given = asked.files.empty() ? Measured{questions(asked.request.hints, asked.sizes), {}}
                                             : measured(asked.files, asked.request);
  Expectation expectation = expect(given.results, given.gpu, cluster, available_memory(), interrupted);
  for (const std::string& what : given.left_out) expectation.notes.push_back(fmt::format("Left out: {}.", what));
  if (!asked.files.empty() &&
      std::ranges::any_of(given.results, [](const CaseResult& each) { return each.asked.nodes == 0; }))
    expectation.notes.push_back(fmt::format(
        "Nothing says on how many nodes it ran: as many as the ranks fill on {} are assumed; --nodes says it.",
        cluster.name));
  output.deliver(expectation_document(expectation), [&] { return expectation_json(expectation); });
  if (asked.gate && !expectation.failures.empty()) return ExitCode::wrong_data;
  return code_of(asked, expectation.normality(), std::ranges::all_of(given.left_out, [](const std::string& what) {
                   return what.ends_with(kOfNoBytes);
                 }));
}

void add_options(Arguments& app, Asked& asked) {
  app.add_option("FILE", asked.files, "what nccl-tests, rccl-tests, OSU or IMB printed");
  add_profile(app, asked.profile, "the cluster it ran on: hbench list profiles, or a file");
  add_import_hints(app, asked.request.hints);
  add_sizes(app, asked.sizes.least, asked.sizes.most, ", without a file", "1K", "1G");
  app.add_option("--measured", asked.rate, "samples/s of all GPUs of a training, in the place of collectives",
                 positive_rate());
  add_workloads(app, asked.training.workloads);
  add_strategy_options(app, asked.training, "8");
  app.add_flag("--gate", asked.gate,
               "exit code 4 where data were wrong, 10 where it is slow and 11 where it is inconclusive, for the check "
               "before a job");
  add_verbosity(app, asked.verbosity);
}

/// Refuses what belongs to the other of the two questions, which would be taken without a word.
void check_flags(const Arguments& app, bool of_training) {
  constexpr std::array kOfTraining{
      "--workload",         "--gpus",  "--algorithm",  "--compressor",   "--method",
      "--preset",           "--batch", "--accumulate", "--global-batch", "--single-gpu-rate",
      "--single-node-rate", "--rate",  "--recompute",  "--optimizer",    "--precision"};
  constexpr std::array kOfCollectives{"FILE", "--collective", "--ranks", "--nodes", "--minbytes", "--maxbytes"};
  const auto refuse = [&](const auto& flags, const char* why, const char* cure) {
    for (const char* flag : flags)
      if (app.count(flag) > 0) throw Error(ExitCode::usage, fmt::format("{} {}", flag, why), cure);
  };
  if (of_training)
    refuse(kOfCollectives, "is of collectives, and --measured of a training", "leave one of the two out");
  else
    refuse(kOfTraining, "is of a training, and there is no --measured", "add --measured, samples/s of all GPUs");
}

ExitCode run_expect(const Call& call) {
  Asked asked{.request = {.command = call.command, .version = HBENCH_VERSION}};
  asked.training.compressors = {std::string(kUncompressed)};
  DocumentOutput output;
  Arguments app(
      "Says whether measured collectives, or a measured training, are what their cluster lets expect, and what a slow "
      "one looks like. Files are those of hbench import; without one it says what to expect.",
      "hbench expect");
  app.footer(
      "Examples:\n  hbench expect all_reduce_perf.txt --profile dgx-h100\n"
      "  hbench expect --profile aws-p5 --ranks 16 -b 1G -e 1G\n"
      "  hbench expect table.txt --collective all-reduce --ranks 64 --nodes 8 --profile dgx-a100\n"
      "  hbench expect --measured 1531 --workload vgg16 --gpus 8 --profile dgx-1-v100 --preset ddp\n"
      "  hbench expect all_reduce_perf.txt --profile dgx-h100 --gate\n"
      "Normal is what lies in the 90 % band, unless that holds what is twice too slow; faster\n"
      "than possible, what the links cannot carry or the GPUs' arithmetic cannot compute.");
  add_options(app, asked);
  output.add_options(app);
  if (app.parse(call)) return ExitCode::good;
  check_flags(app, asked.rate > 0);
  if (asked.profile.empty())
    throw Error(ExitCode::usage, "no cluster to expect something of", "add --profile NAME (hbench list profiles)");
  asked.sizes.most = std::max(asked.sizes.most, asked.sizes.least);
  output.check();
  return asked.rate > 0 ? expect_of_training(asked, output) : expect_of_collectives(asked, output);
}

constexpr Verb kExpect{.name = "expect",
                       .summary = "say whether what was measured is normal for a cluster",
                       .place = 9,
                       .run = run_expect};
constexpr std::array kExpectVerbs{&kExpect};
constexpr std::array kExpectSchemas{
    PublishedSchema{"expect-1", [] { return expectation_json({}, Form::schema); }},
    PublishedSchema{"expect-training-1", [] { return training_expectation_json({}, Form::schema); }},
};

}  // namespace

extern const Feature kExpectFeature;
constinit const Feature kExpectFeature{.verbs = kExpectVerbs, .schemas = kExpectSchemas};

}  // namespace hbench
