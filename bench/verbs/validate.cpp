#include "analysis/prediction/validate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "analysis/prediction/causes.hpp"
#include "analysis/prediction/validate_curves.hpp"
#include "analysis/published/published.hpp"
#include "bench/command/arguments.hpp"
#include "bench/command/verb.hpp"
#include "bench/doctor/available_memory.hpp"
#include "bench/launch/installation.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/console.hpp"
#include "collectives/base/flag_values.hpp"
#include "collectives/base/table.hpp"
#include "reports/prediction/validated_curves.hpp"
#include "reports/prediction/validation.hpp"

namespace hbench {
namespace {

std::vector<CaseResult> figures(const std::string& file, bool mlperf, bool sharded) {
  if (file.empty()) return mlperf ? mlperf_results() : sharded ? sharded_results() : published_results();
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

/// What the verb was asked for.
struct ValidationRequest {
  std::string from, profiles, workloads, without;
  bool collectives = false, rates = false, mlperf = false, methods = false;
  bool json = false, each = false, wide = false;
};

/// The causes with these names; none by default.
std::vector<const Cause*> causes_of(const std::string& names) {
  std::vector<const Cause*> some;
  if (names.empty()) return some;
  for (const std::string& name : split_list(names, "--without")) some.push_back(&find_cause(name));
  return some;
}

void remove(const std::vector<const Cause*>& without, Profile& cluster) {
  for (const Cause* cause : without)
    if (cause->remove_from_cluster != nullptr) cause->remove_from_cluster(cluster);
}

ExitCode validate_collectives(const ValidationRequest& request) {
  std::vector<Profile> chosen = clusters(request.profiles);
  for (Profile& cluster : chosen) remove(causes_of(request.without), cluster);
  const std::vector<CurveValidation> all = validate_curves(chosen);
  if (all.empty())
    throw Error(ExitCode::usage, fmt::format("no collective was measured on {}", request.profiles),
                "add [[collectives]] to its profile: cluster-profiles/README.md");
  fmt::print("{}", request.json ? curves_json(all) : terminal_text(curves_document(all, request.each), request.wide));
  return ExitCode::good;
}

ExitCode validate_gpu_rates(const ValidationRequest& request) {
  const Data data = load_data();
  const std::vector<RateValidation> all = validate_rates(RateModel(data.profiles.gpus()), data.traces);
  fmt::print("{}", request.json ? rates_json(all) : terminal_text(rates_document(all, request.each), request.wide));
  return ExitCode::good;
}

ExitCode validate_steps(const ValidationRequest& request) {
  const std::vector<const Cause*> without = causes_of(request.without);
  std::vector<CaseResult> published = figures(request.from, request.mlperf, request.methods);
  select(published, request.profiles, &Case::profile, "profile");
  select(published, request.workloads, &Case::workload, "workload");
  catch_interrupts();
  Catalog catalog = catalog_of(published, load_data());
  for (auto& [name, cluster] : catalog.profiles) remove(without, cluster);
  for (CaseResult& row : published)
    for (const Cause* cause : without)
      if (cause->remove_from_case != nullptr) cause->remove_from_case(row.asked);
  std::vector<Validation> all = validate(published, catalog, {.memory = available_memory(), .stop = interrupted},
                                         request.mlperf    ? RowStart::node
                                         : request.methods ? RowStart::job
                                                           : RowStart::profile);
  // Rows of one node are what the others start from.
  if (request.mlperf) std::erase_if(all, [](const Validation& figure) { return figure.chosen == kStart; });
  if (all.empty())
    throw Error(ExitCode::usage, "only rows of one node are left, from which others are predicted",
                "choose other clusters or workloads");
  fmt::print("{}",
             request.json ? validation_json(all) : terminal_text(validation_document(all, request.each), request.wide));
  return ExitCode::good;
}

ExitCode run_validate(const Call& call) {
  ValidationRequest request;
  Arguments app("Predicts published training throughputs and says how far the predictions are off.", "hbench validate");
  app.footer(
      "Examples:\n  hbench validate\n  hbench validate --profile hkbu-10gbe --each\n  hbench validate --from "
      "rows.csv --json\n  hbench validate --collectives\n  hbench validate --collectives --without call\n  hbench "
      "validate --mlperf\n  hbench validate --methods\n  hbench validate --rates");
  Option* table = app.add_option(
      "--from", request.from, "table of figures instead of the built-in one (columns: analysis/published/README.md)");
  Option* on = app.add_option("--profile", request.profiles, "only these clusters (comma list)");
  Option* of = app.add_option("--workload", request.workloads, "only these workloads (comma list)");
  Option* curves = app.add_flag("--collectives", request.collectives,
                                "single collectives instead, beside the curves of the profiles")
                       ->excludes(table)
                       ->excludes(of);
  Option* submissions =
      app.add_flag("--mlperf", request.mlperf, "MLPerf's ResNet-50 and BERT instead, from the rate of one node")
          ->excludes(table)
          ->excludes(curves);
  Option* methods = app.add_flag("--methods", request.methods, "steps with sharded or divided models instead")
                        ->excludes(table)
                        ->excludes(curves)
                        ->excludes(submissions);
  Option* without =
      app.add_option("--without", request.without,
                     fmt::format("as if these causes were none (comma list): {}", fmt::join(names_of(causes()), ", ")));
  Option* rates = app.add_flag("--rates", request.rates,
                               "rates of one GPU instead: modelled without the GPU, beside measured ones");
  for (Option* other : {table, on, of, curves, submissions, methods, without}) rates->excludes(other);
  app.add_flag("--each", request.each, "also print each figure with its prediction");
  app.add_flag("--json", request.json, "print each figure as JSON")
      ->excludes(app.add_flag("--wide", request.wide, kWideHelp));
  if (app.parse(call)) return ExitCode::good;
  if (request.rates) return validate_gpu_rates(request);
  return request.collectives ? validate_collectives(request) : validate_steps(request);
}

}  // namespace

extern const Verb kValidate;
constinit const Verb kValidate{
    .name = "validate",
    .summary = "compare predictions with published figures",
    .run = run_validate,
};

}  // namespace hbench
