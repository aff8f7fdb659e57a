#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <set>

#include "analysis/prediction/causes.hpp"
#include "analysis/prediction/validate.hpp"
#include "analysis/prediction/validate_curves.hpp"
#include "analysis/published/published.hpp"
#include "bench/command/common_options.hpp"
#include "bench/launch/host.hpp"
#include "bench/launch/installation.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/document_output.hpp"
#include "bench/output/feature.hpp"
#include "collectives/base/table.hpp"
#include "reports/validate/validated_curves.hpp"
#include "reports/validate/validation.hpp"

namespace hbench {
namespace {

/// What is compared with what was published.
constexpr const char *kTraining = "training", *kCollectives = "collectives", *kMlperf = "mlperf", *kMethods = "methods",
                     *kRates = "rates";

std::vector<CaseResult> figures(const std::string& file, std::string_view what) {
  if (file.empty())
    return what == kMlperf ? mlperf_results() : what == kMethods ? sharded_results() : published_results();
  std::vector<CaseResult> published = read_published(file);
  if (published.empty())
    throw Error(ExitCode::usage, fmt::format("{} has no figures", file), "guide/formats.md has the columns");
  return published;
}

/// Leaves the figures that have one of the names in a field; no names leave all.
void select(std::vector<CaseResult>& published, const std::vector<std::string>& names, std::string Case::*field,
            std::string_view what) {
  if (names.empty()) return;
  std::set<std::string> known, asked;
  for (const CaseResult& each : published) known.insert(each.asked.*field);
  for (const std::string& name : names) {
    if (!known.contains(name))
      throw unknown_name(what, name, std::vector<std::string_view>(known.begin(), known.end()),
                         fmt::format("hbench list {}s", what));
    asked.insert(name);
  }
  std::erase_if(published, [&](const CaseResult& each) { return !asked.contains(each.asked.*field); });
}

/// The clusters with these names, or all.
std::vector<Profile> clusters(const std::vector<std::string>& names) {
  const Data data = load_data();
  std::vector<Profile> all;
  for (const std::string& name : names.empty() ? data.profiles.names() : names) all.push_back(data.profiles.load(name));
  return all;
}

/// What the verb was asked for.
struct ValidationRequest {
  std::string what = kTraining, from;
  std::vector<std::string> profiles, workloads, without;
  bool all = false;
  DocumentOutput output;
};

/// The causes with these names; none by default.
std::vector<const Cause*> causes_of(const std::vector<std::string>& names) {
  std::vector<const Cause*> some;
  for (const std::string& name : names) some.push_back(&find_cause(name));
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
    throw Error(ExitCode::usage, fmt::format("no collective was measured on {}", fmt::join(request.profiles, ", ")),
                "hbench calibrate --from all_reduce_perf.txt adds them to a profile of your own");
  request.output.deliver(curves_document(all, request.all), [&] { return curves_json(all); });
  return ExitCode::good;
}

ExitCode validate_gpu_rates(const ValidationRequest& request) {
  const Data data = load_data();
  const std::vector<RateValidation> all = validate_rates(RateModel(data.profiles.gpus()), data.traces);
  request.output.deliver(rates_document(all, request.all), [&] { return rates_json(all); });
  return ExitCode::good;
}

ExitCode validate_steps(const ValidationRequest& request) {
  const std::vector<const Cause*> without = causes_of(request.without);
  std::vector<CaseResult> published = figures(request.from, request.what);
  select(published, request.profiles, &Case::profile, "profile");
  select(published, request.workloads, &Case::workload, "workload");
  catch_interrupts();
  Catalog catalog = catalog_of(published, load_data());
  for (auto& [name, cluster] : catalog.profiles) remove(without, cluster);
  for (CaseResult& row : published)
    for (const Cause* cause : without)
      if (cause->remove_from_case != nullptr) cause->remove_from_case(row.asked);
  const bool from_nodes = request.what == kMlperf || !request.from.empty();
  std::vector<Validation> all = validate(published, catalog, {.memory = available_memory(), .stop = interrupted},
                                         from_nodes                 ? RowStart::node
                                         : request.what == kMethods ? RowStart::job
                                                                    : RowStart::profile);
  // Rows of one node are what the others start from.
  if (from_nodes) std::erase_if(all, [](const Validation& figure) { return figure.chosen == kStart; });
  if (all.empty())
    throw Error(ExitCode::usage, "only rows of one node are left, from which others are predicted",
                "choose other clusters or workloads");
  request.output.deliver(validation_document(all, request.all), [&] { return validation_json(all); });
  return ExitCode::good;
}

/// What leaves nothing out of these figures is refused.
void refuse_idle_flags(const Arguments& app, const ValidationRequest& request) {
  std::vector<const char*> idle;
  if (request.what != kTraining) idle.push_back("--from");
  if (request.what == kCollectives || request.what == kRates) idle.push_back("--workload");
  if (request.what == kRates) idle.insert(idle.end(), {"--profile", "--without"});
  for (const char* flag : idle)
    if (app.count(flag) > 0)
      throw Error(ExitCode::usage, fmt::format("{} is of other figures than {}", flag, request.what),
                  "leave out one of the two");
}

ExitCode run_validate(const Call& call) {
  ValidationRequest request;
  Arguments app("Predicts published training throughputs and says how far the predictions are off.", "hbench validate");
  app.footer(
      "Examples:\n  hbench validate\n  hbench validate --profile hkbu-10gbe --all\n  hbench validate --from "
      "rows.csv --json\n  hbench validate collectives\n  hbench validate collectives --without call\n  hbench "
      "validate mlperf\n  hbench validate methods\n  hbench validate rates --out rates.html");
  app.add_option("what", request.what,
                 "training steps; collectives, beside the curves of the profiles; mlperf: MLPerf's ResNet-50 and BERT, "
                 "from the rate of one node; methods: steps with sharded or divided models; rates of one GPU, modelled "
                 "without it, beside measured ones",
                 one_of({kTraining, kCollectives, kMlperf, kMethods, kRates}));
  app.add_option("--from", request.from, "table of figures instead of the built-in one (columns: guide/formats.md)");
  add_profiles(app, request.profiles, "only these clusters (comma list)");
  add_workloads(app, request.workloads, "only these workloads (comma list)");
  app.add_list("--without", request.without,
               fmt::format("as if these causes were none (comma list): {}", fmt::join(names_of(causes()), ", ")));
  add_all(app, request.all, "also each figure with its prediction");
  request.output.add_options(app);
  if (app.parse(call)) return ExitCode::good;
  refuse_idle_flags(app, request);
  request.output.check();
  if (request.what == kRates) return validate_gpu_rates(request);
  return request.what == kCollectives ? validate_collectives(request) : validate_steps(request);
}

constexpr Verb kValidate{
    .name = "validate",
    .summary = "compare predictions with published figures",
    .place = 18,
    .run = run_validate,
};
constexpr std::array kValidateVerbs{&kValidate};
constexpr std::array kValidateSchemas{
    PublishedSchema{"validate-1", [] { return validation_json({}, Form::schema); }},
    PublishedSchema{"validate-collectives-1", [] { return curves_json({}, Form::schema); }},
    PublishedSchema{"validate-rates-1", [] { return rates_json({}, Form::schema); }},
};

}  // namespace

extern const Feature kValidateFeature;
constinit const Feature kValidateFeature{.verbs = kValidateVerbs, .schemas = kValidateSchemas};

}  // namespace hbench
