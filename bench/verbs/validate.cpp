#include "analysis/prediction/validate.hpp"

#include <fmt/format.h>

#include <set>

#include "analysis/prediction/validate_curves.hpp"
#include "analysis/published/published.hpp"
#include "bench/command/arguments.hpp"
#include "bench/command/verb.hpp"
#include "bench/doctor/available_memory.hpp"
#include "bench/launch/installation.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/terminal.hpp"
#include "collectives/base/flag_values.hpp"
#include "collectives/base/table.hpp"
#include "reports/prediction/validated_curves.hpp"
#include "reports/prediction/validated_rates.hpp"
#include "reports/prediction/validation.hpp"

namespace hbench {
namespace {

std::vector<CaseResult> figures(const std::string& file) {
  if (file.empty()) return published_results();
  std::vector<CaseResult> published = read_published(file);
  if (published.empty())
    throw Error(ExitCode::usage, fmt::format("{} has no figures", file), "see analysis/published/README.md");
  return published;
}

/// Leaves the figures that have one of the names in a field; a text without names leaves all.
void select(std::vector<CaseResult>& published, const std::string& names, std::string Case::*field,
            std::string_view what) {
  if (names.empty()) return;
  std::set<std::string> known, asked;
  for (const CaseResult& each : published) known.insert(each.asked.*field);
  for (const std::string& name : split_list(names, fmt::format("--{}", what))) {
    if (!known.contains(name))
      throw unknown_name(what, name, std::vector<std::string_view>(known.begin(), known.end()));
    asked.insert(name);
  }
  std::erase_if(published, [&](const CaseResult& each) { return !asked.contains(each.asked.*field); });
}

/// The clusters with these names, or all.
std::vector<Profile> clusters(const std::string& names) {
  const Data data = load_data();
  std::vector<Profile> all;
  for (const std::string& name : names.empty() ? data.profiles.names() : split_list(names, "--profile"))
    all.push_back(data.profiles.load(name));
  return all;
}

ExitCode validate_collectives(const std::string& profiles, bool each, bool json, bool wide) {
  const std::vector<CurveValidation> all = validate_curves(clusters(profiles));
  if (all.empty())
    throw Error(ExitCode::usage, fmt::format("no collective was measured on {}", profiles),
                "add [[collectives]] to its profile: cluster-profiles/README.md");
  fmt::print("{}", json ? curves_json(all) : terminal_text(curves_document(all, each), wide));
  return ExitCode::good;
}

ExitCode validate_gpu_rates(bool each, bool json, bool wide) {
  const Data data = load_data();
  const std::vector<RateValidation> all = validate_rates(RateModel(data.profiles.gpus()), data.traces);
  fmt::print("{}", json ? rates_json(all) : terminal_text(rates_document(all, each), wide));
  return ExitCode::good;
}

ExitCode run_validate(const Call& call) {
  std::string from, profiles, workloads;
  bool json = false, each = false, wide = false, collectives = false, rates = false;
  Arguments app("Predicts published training throughputs and says how far the predictions are off.", "hbench validate");
  app.footer(
      "Examples:\n  hbench validate\n  hbench validate --profile hkbu-10gbe --each\n  hbench validate --from "
      "rows.csv --json\n  hbench validate --collectives\n  hbench validate --rates");
  Option* table = app.add_option(
      "--from", from, "table of figures instead of the built-in one (columns: analysis/published/README.md)");
  Option* on = app.add_option("--profile", profiles, "only these clusters (comma list)");
  Option* of = app.add_option("--workload", workloads, "only these workloads (comma list)");
  Option* curves =
      app.add_flag("--collectives", collectives, "single collectives instead, beside the curves of the profiles")
          ->excludes(table)
          ->excludes(of);
  app.add_flag("--rates", rates, "rates of one GPU instead: modelled without the GPU, beside measured ones")
      ->excludes(table)
      ->excludes(on)
      ->excludes(of)
      ->excludes(curves);
  app.add_flag("--each", each, "also print each figure with its prediction");
  app.add_flag("--json", json, "print each figure as JSON")->excludes(app.add_flag("--wide", wide, kWideHelp));
  if (app.parse(call)) return ExitCode::good;
  if (rates) return validate_gpu_rates(each, json, wide);
  if (collectives) return validate_collectives(profiles, each, json, wide);
  std::vector<CaseResult> published = figures(from);
  select(published, profiles, &Case::profile, "profile");
  select(published, workloads, &Case::workload, "workload");
  catch_interrupts();
  const std::vector<Validation> all =
      validate(published, load_data(), {.memory = available_memory(), .stop = interrupted});
  if (json)
    fmt::print("{}", validation_json(all));
  else
    fmt::print("{}", terminal_text(validation_document(all, each), wide));
  return ExitCode::good;
}

}  // namespace

extern const Verb kValidate;
constinit const Verb kValidate{
    .name = "validate",
    .summary = "compare predictions with published figures",
    .run = run_validate,
};

}  // namespace hbench
