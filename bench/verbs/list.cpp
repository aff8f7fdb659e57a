#include <fmt/format.h>

#include <algorithm>

#include "bench/output/console.hpp"
#include "bench/output/listing.hpp"
#include "bench/verbs/prediction_options.hpp"
#include "collectives/base/table.hpp"
#include "reports/formats/formats.hpp"
#include "reports/prediction/profiles.hpp"
#include "workloads/methods/method.hpp"
#include "workloads/simulation/method_drawing.hpp"

namespace hbench {
namespace {

/// What `--explain` explains when nothing else is said.
constexpr std::string_view kExplainedProfile = "aws-p3-25gbe";
constexpr int kExplainedWorkers = 32;
/// Schedules of more workers take minutes to simulate at every size.
constexpr int kMostExplained = 512;

Table without(Table table, std::string_view column) {
  erase_column(table, column);
  return table;
}

std::string rendered(const Listing& listing, const Table& table, bool json, bool markdown, bool wide) {
  if (json) return listing_json(table);
  if (markdown) return kMarkdownFormat.render({.blocks = {without(table, listing.machine_column)}});
  return terminal_text({.blocks = {table}}, wide);
}

std::string picture(const MethodChoice& method) {
  std::string text;
  for (const Lanes& lanes : drawn(method)) text += to_text(lanes);
  return text;
}

/// The iteration of a method, or of all one below the other.
std::string pictures(std::string_view method) {
  if (method != "all") return picture(parse_method(method));
  std::string all;
  for (const Method* entry : methods())
    all += fmt::format("{}{}: {}\n{}", all.empty() ? "" : "\n", parse_method(entry->name).text(), entry->summary,
                       picture(parse_method(entry->name)));
  return all;
}

ExitCode run_list(const Call& call) {
  CatalogueTexts conditions;
  std::string name, to_draw, profile = std::string(kExplainedProfile);
  int workers = kExplainedWorkers;
  bool json = false, markdown = false, explain = false, wide = false;
  Arguments app("Prints the names that the flags of the other verbs take.", "hbench list");
  std::string footer = "Lists:\n";
  for (const Listing& listing : listings()) footer += fmt::format("  {:12} {}\n", listing.name, listing.summary);
  app.footer(footer +
             "Examples:\n  hbench list profiles\n  hbench list profiles --gpu h100 --max-price 7usd --min-bandwidth "
             "100Gbit/s\n"
             "  hbench list algorithms --explain --profile aws-p3-25gbe --workers 32");
  app.add_option("list", name, "which list to print");
  Option* as_json = app.add_flag("--json", json, "as JSON");
  app.add_flag("--markdown", markdown, "as a Markdown table")->excludes(as_json);
  app.add_flag("--wide", wide, kWideHelp);
  add_catalogue_options(app, conditions, "with `profiles`: ");
  Option* explained =
      app.add_flag("--explain", explain, "with `algorithms`: which one `auto` takes for which size, and why");
  app.add_option("--draw", to_draw, "with `methods`: draws an iteration of this one, or of all: local-sgd:8");
  app.add_option("--profile", profile, "the cluster to explain for: a name or a TOML file")->needs(explained);
  app.add_option("--workers", workers, "how many workers to explain for", in_range(1, kMostExplained))
      ->needs(explained);
  if (app.parse(call)) return ExitCode::good;
  if (name.empty()) {
    fmt::print("{}", app.help());
    return ExitCode::good;
  }
  const Listing& listing = find_entry(listings(), name, "list");
  if (explain && listing.name != "algorithms")
    throw Error(ExitCode::usage, fmt::format("--explain says nothing about {}", name),
                "hbench list algorithms --explain");
  if (!to_draw.empty() && listing.name != "methods")
    throw Error(ExitCode::usage, fmt::format("--draw draws no {}", name), "hbench list methods --draw " + to_draw);
  if (!to_draw.empty()) {
    fmt::print("{}", pictures(to_draw));
    return ExitCode::good;
  }
  const bool profiles = listing.name == "profiles";
  if (!profiles && !conditions.none())
    throw Error(ExitCode::usage, fmt::format("the conditions on a cluster say nothing about {}", name),
                "hbench list profiles --gpu h100");
  const CatalogueFilter filter = parse_catalogue_filter(conditions);
  const Data data = load_data();
  if (profiles) {
    const std::vector<Profile> matching = matching_profiles(all_profiles(data.profiles), filter);
    fmt::print("{}", json ? profiles_json(matching) : rendered(listing, profile_table(matching), json, markdown, wide));
    return ExitCode::good;
  }
  if (!explain) {
    fmt::print("{}", rendered(listing, listing.table(data), json, markdown, wide));
    return ExitCode::good;
  }
  const Document document = explain_algorithms(data.profiles.load(profile), workers);
  if (json)
    fmt::print("{}", listing_json(std::get<Table>(document.blocks.back())));
  else
    fmt::print("{}", markdown ? kMarkdownFormat.render(document) : terminal_text(document, wide));
  return ExitCode::good;
}

}  // namespace

extern const Verb kList;
constinit const Verb kList{
    .name = "list", .summary = "print algorithms, compressors, profiles, workloads ...", .run = run_list};

}  // namespace hbench
