#include "bench/verbs/collective_answer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/prediction/simulated_collective.hpp"
#include "bench/collective/json.hpp"
#include "bench/collective/summary.hpp"
#include "bench/collective/table.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/output_file.hpp"
#include "bench/output/terminal.hpp"

namespace hbench {
namespace {

std::vector<std::string> notes_of(const Run& run, bool peers) {
  std::vector<std::string> notes;
  // Peers are named with their versions, but the MPI that hbench was built with is not.
  if (const auto mpi = run.environment.find("mpi_library"); peers && mpi != run.environment.end())
    notes.push_back(fmt::format("mpi: {}", mpi->second));
  if (const auto delay = run.environment.find("test_delay"); delay != run.environment.end())
    notes.push_back(
        fmt::format("warning: no real figures: a test made a rank slower (HBENCH_TEST_DELAY={})", delay->second));
  return notes;
}

TableContext context_of(const CollectiveAnswer& answer) {
  if (answer.options.request.simulates())
    return {.machine = {},
            .comparison = answer.plan.comparison,
            .notes = curve_notes(answer.plan.simulated, answer.clusters)};
  const auto& facts = answer.run.environment;
  const std::string cores =
      fmt::format("{} core{} of {}", facts.at("cores"), facts.at("cores") == "1" ? "" : "s", facts.at("cpu"));
  return {.machine = facts.contains("gpu_uuid") ? facts.at("gpu") + " and " + cores : cores,
          .comparison = answer.plan.comparison,
          .launches = answer.options.launches,
          .link = answer.options.link,
          .notes = notes_of(answer.run, answer.options.request.peers)};
}

/// The worst: a lost rank before wrong data, before what could not be done at all.
ExitCode verdict(const std::vector<CaseResult>& results) {
  ExitCode worst = ExitCode::good;
  bool any = false;
  for (const CaseResult& result : results) {
    any = any || result.status == CaseStatus::done;
    if (result.status != CaseStatus::failed) continue;
    const auto code = static_cast<ExitCode>(result.exit_code);
    if (code != ExitCode::usage) worst = std::max(worst, code);
  }
  return worst == ExitCode::good && !any ? ExitCode::usage : worst;
}

}  // namespace

ExitCode publish(const CollectiveAnswer& answer, std::vector<CaseResult> results) {
  if (interrupted()) {
    std::erase_if(results, [](const CaseResult& result) {
      return result.status != CaseStatus::failed && result.samples.empty();
    });
    if (results.empty()) return ExitCode::interrupted;
  }
  const std::vector<CollectiveRow> rows = collective_rows(results);
  const std::string json = answer.options.json || !answer.options.output_file.empty()
                               ? collective_json(rows, answer.plan.refused, answer.run, answer.options.link)
                               : "";
  if (answer.options.json)
    fmt::print("{}", json);
  else if (answer.options.csv)
    fmt::print("{}", collective_csv(rows));
  else
    fmt::print("{}", terminal_text(collective_document(rows, context_of(answer)), answer.options.wide));
  // What cannot be written can still be read.
  if (!answer.options.output_file.empty()) write_whole(answer.options.output_file, json, "--output-file");
  return verdict(results);
}

std::string plan_in_words(const CollectivePlan& plan, double seconds) {
  std::string text;
  for (const ProcessSet& set : plan.sets) {
    text += fmt::format("{} rank{} {}\n", set.ranks, set.ranks == 1 ? "" : "s",
                        set.threads           ? "as threads of one process"
                        : set.program.empty() ? "under mpirun"
                                              : "under mpirun, with " + set.program);
    for (const LoopCase& each : set.cases)
      text += fmt::format("{:>14} B  {} {} {}, {}{}\n", each.asked.collective.bytes, each.asked.collective.name,
                          each.asked.collective.data_type, each.asked.collective.operation, candidate_label(each.asked),
                          each.tensors.size() > 1 ? fmt::format(", {} buffers", each.tensors.size()) : "");
  }
  for (const Case& asked : plan.simulated)
    text += fmt::format("{:>14} B  {} {} {}, {} ranks, {}\n", asked.collective.bytes, asked.collective.name,
                        asked.collective.data_type, asked.collective.operation, asked.gpus, candidate_label(asked));
  for (const Refusal& refusal : plan.refused) text += fmt::format("left out: {}: {}\n", refusal.what, refusal.why);
  text += fmt::format("{} cases, about {:.0f} s\n", plan.cases + std::ssize(plan.simulated), seconds);
  return text;
}

}  // namespace hbench
