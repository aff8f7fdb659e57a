#include <fmt/format.h>

#include <algorithm>

#include "bench/output/listing.hpp"
#include "bench/sweep/prediction_options.hpp"
#include "collectives/base/table.hpp"
#include "reports/catalogue/profiles.hpp"
#include "workloads/methods/method.hpp"
#include "workloads/simulation/method_drawing.hpp"

namespace hbench {
namespace {

/// What is explained when nothing else is said.
constexpr std::string_view kExplainedProfile = "aws-p3-25gbe";
constexpr int kExplainedRanks = 32;
/// Schedules of more ranks take minutes to simulate at every size.
constexpr int kMostExplained = 512;

/// What is kept, such as the README, says nothing of this machine.
Document document_of(const Listing& listing, Table table, const DocumentOutput& output) {
  if (!output.for_terminal()) erase_column(table, listing.machine_column);
  return {.blocks = {std::move(table)}};
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
  int ranks = kExplainedRanks;
  DocumentOutput output;
  Arguments app("Prints the names that the flags of the other verbs take.", "hbench list");
  std::string footer = "Lists:\n";
  for (const Listing& listing : listings()) footer += fmt::format("  {:12} {}\n", listing.name, listing.summary);
  app.footer(footer +
             "Examples:\n  hbench list profiles\n  hbench list profiles --gpu h100 --max-price 7usd --min-bandwidth "
             "100Gbit/s\n"
             "  hbench list algorithms --profile aws-p3-25gbe --ranks 32");
  app.add_option("list", name, "which list to print");
  add_catalogue_options(app, conditions, "with `profiles`: ");
  app.add_option("--draw", to_draw, "with `methods`: draws an iteration of this one, or of all: local-sgd:8");
  add_profile(app, profile, "with `algorithms`: which one `auto` takes for which size on this cluster, and why");
  app.add_option("--ranks", ranks, "with `algorithms`: among this number of ranks", in_range(1, kMostExplained));
  output.add_options(app);
  if (app.parse(call)) return ExitCode::good;
  const bool explain = app.count("--profile") + app.count("--ranks") > 0;
  if (name.empty()) {
    fmt::print("{}", app.help());
    return ExitCode::good;
  }
  const Listing& listing = find_entry(listings(), name, "list");
  if (explain && listing.name != "algorithms")
    throw Error(ExitCode::usage, fmt::format("--profile and --ranks say nothing about {}", name),
                "hbench list algorithms --ranks 32");
  output.check();
  if (!to_draw.empty() && listing.name != "methods")
    throw Error(ExitCode::usage, fmt::format("--draw draws no {}", name), "hbench list methods --draw " + to_draw);
  if (!to_draw.empty() && !output.for_terminal())
    throw Error(ExitCode::usage, "--draw draws on the terminal alone", "leave out --out, --format and --json");
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
    output.deliver(document_of(listing, profile_table(matching), output), [&] { return profiles_json(matching); });
    return ExitCode::good;
  }
  const Document document =
      explain ? explain_algorithms(data.profiles.load(profile), ranks) : Document{.blocks = {listing.table(data)}};
  output.deliver(explain ? document : document_of(listing, std::get<Table>(document.blocks.back()), output),
                 [&] { return listing_json(std::get<Table>(document.blocks.back())); });
  return ExitCode::good;
}

}  // namespace

extern const Verb kList;
constinit const Verb kList{
    .name = "list", .summary = "print algorithms, compressors, profiles, workloads ...", .place = 15, .run = run_list};

}  // namespace hbench
