// `hbench learn`: trains a model to an accuracy by each strategy, and says what the quick ones cost of it.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "analysis/learn/learning.hpp"
#include "bench/command/arguments.hpp"
#include "bench/command/common_options.hpp"
#include "bench/command/program.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/document_output.hpp"
#include "bench/output/feature.hpp"
#include "bench/sweep/measured_cases.hpp"
#include "bench/verbs/sweep_execution.hpp"
#include "reports/learn/learning.hpp"
#include "workloads/data/dataset.hpp"

namespace hbench {
namespace {

/// Those of the sweep that trains: what was asked for, and what is usual here where that says nothing. \throws Error
/// (usage) for several networks.
std::vector<std::string> learning_arguments(std::vector<std::string> flags) {
  const bool has_optimizer = passed_value(flags, "--optimizer") || passed_value(flags, "--learning-rate");
  if (!has_optimizer) add_usual(flags, {{"--optimizer", "momentum"}, {"--learning-rate", "0.05"}});
  add_usual(flags, {{"--data", "mnist1d"},
                    {"--epochs", "40"},
                    {"--gpus", "2"},
                    {"--algorithm", "ring"},
                    {"--batch", "50"},
                    {"--compressor", "none"},
                    {"--launches", "5"},
                    {"--more-launches", "0"},
                    {"--device", "cpu"},
                    {"--servers", "colocated"}});
  const std::optional<std::string> network = passed_value(flags, "--profile");
  if (network && network->find(',') != network->npos)
    throw Error(ExitCode::usage, fmt::format("--profile {}: one other network at a time", *network),
                "name one of them");
  const std::string model(usual_model(*passed_value(flags, "--data")));
  if (network) add_usual(flags, {{"--workload", model.c_str()}});
  // Steps on another network are those of nodes like this machine there.
  flags.insert(flags.end(),
               {"--evidence", network ? "measured,simulated" : "measured", network ? "--calibrate" : "--no-calibrate"});
  return flags;
}

std::vector<std::string> failures(const std::vector<CaseResult>& results) {
  std::vector<std::string> texts;
  for (const CaseResult& result : results)
    if (result.status == CaseStatus::failed)
      texts.push_back(fmt::format("{} failed: {}", case_name(result.asked), result.failure));
  return texts;
}

Error nothing_learned(const std::vector<CaseResult>& results, ExitCode worst) {
  const std::vector<std::string> why = failures(results);
  return Error(worst == ExitCode::good ? ExitCode::usage : worst, why.empty() ? "nothing was learned" : why.front(),
               "hbench learn --help has examples that do");
}

ExitCode run_learn(const Call& call) {
  std::string until;
  std::vector<std::string> sweep_flags;
  DocumentOutput output;
  Verbosity verbosity = Verbosity::usual;
  Arguments app(
      "Trains a model on real data by each strategy, in turn, and compares how accurate it becomes, after how much "
      "time "
      "and how many bytes.",
      "hbench learn");
  app.footer(
      "Flags of hbench sweep go along: --method, --compressor, --gpus, --workload, --batch, --launches (seeds) ...\n"
      "Examples:\n  hbench learn --until accuracy=0.9 --compressor none,topk:0.01,ef:topk:0.01 --launches 2\n"
      "  hbench learn --method synchronous,local-sgd:8 --epochs 20 --launches 1 --out learn.html\n"
      "  hbench learn --until accuracy=0.9 --compressor none,topk:0.01 --launches 2 --profile hkbu-10gbe\n"
      "Data: mnist1d, fashion-mnist, or a folder: the files of MNIST or of CIFAR-10, or pictures (JPEG, PNG) in "
      "train/CLASS and val/CLASS, scaled to --image-size. hbench list data");
  app.add_option("--until", until, "accuracy to reach, such as accuracy=0.9: time, epochs and bytes until then");
  app.pass_on(sweep_flags);
  output.take_tools();
  output.add_options(app);
  add_verbosity(app, verbosity);
  if (app.parse(call)) return ExitCode::good;
  const double wanted = until.empty() ? 0 : parse_wanted_accuracy(until);
  output.check();
  const Call sweep_call{learning_arguments(std::move(sweep_flags)), call.command};
  SweepOptions options = parse_sweep_options(sweep_call).value();
  options.verbosity = verbosity;
  SweepPreparation sweep = plan_sweep(sweep_call, std::move(options));
  if (sweep.options.dry_run) {
    fmt::print("{}", plan_in_words(sweep));
    return ExitCode::good;
  }
  Store store(sweep.options.database);
  catch_interrupts();
  const ExitCode worst = run_cases(sweep, store, {});
  const std::vector<CaseResult> results = planned_results(sweep, store);
  const Learning learning = learning_of(results, wanted);
  if (learning.cases.empty() && interrupted()) {
    inform("hbench: interrupted; nothing was learned yet\n");
    return ExitCode::interrupted;
  }
  if (learning.cases.empty()) throw nothing_learned(results, worst);
  Document answer = learning_document(learning);
  if (std::vector<std::string> texts = failures(results); !texts.empty())
    answer.blocks.emplace(answer.blocks.begin() + 1, Warnings{std::move(texts)});
  if (!sweep.plan.refused.empty())
    answer.blocks.emplace_back(Paragraph{fmt::format("Left out: {}.", reasons(sweep.plan.refused))});
  if (output.for_terminal()) answer.title.clear();  // the first line answers
  const ToolFormat* tool = output.tool();
  output.deliver(answer, [&] {
    return tool != nullptr ? tool_output(*tool, learned_figures(learning)) : learning_json(learning);
  });
  return interrupted() ? ExitCode::interrupted : worst;
}

Table data_table(const Data&) {
  return table_of(data_sources(), [](Row& row, const DataSource& source) {
    const Availability state = source.state();
    row.words("data", source.name);
    row.words("what", source.summary);
    row.words("here", state.available ? "yes" : "no: " + state.cure);
    row.words("source", source.citation);
  });
}

Learning described_learning() { return {.cases = {LearnedCase()}}; }

constexpr Verb kLearn{.name = "learn",
                      .summary = "train on real data: accuracy beside speed, of each strategy",
                      .place = 20,
                      .starts_ranks = true,
                      .run = run_learn};
constexpr std::array kLearnVerbs{&kLearn};
constexpr std::array kLearnSchemas{
    PublishedSchema{"learn-1", [] { return learning_json(described_learning(), Form::schema); }},
};
constexpr std::array kLearnListings{Listing{"data", "what trainings learn, and where it is from", data_table}};

}  // namespace

extern const Feature kLearnFeature;
constinit const Feature kLearnFeature{.verbs = kLearnVerbs, .schemas = kLearnSchemas, .listings = kLearnListings};

}  // namespace hbench
