#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/arguments.hpp"
#include "bench/listing.hpp"
#include "collectives/base/table.hpp"
#include "reports/formats.hpp"

namespace hbench {
namespace {

const Listing& find_listing(std::string_view name) {
  const auto found = std::ranges::find(listings(), name, &Listing::name);
  if (found != listings().end()) return *found;
  std::vector<std::string_view> known;
  for (const Listing& listing : listings()) known.push_back(listing.name);
  throw unknown_name("list", name, known);
}

std::string table_json(const Table& table) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& row : table.rows) {
    nlohmann::ordered_json object;
    for (std::size_t i = 0; i < row.size(); ++i) object[table.columns[i]] = row[i];
    rows.push_back(object);
  }
  return rows.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

ExitCode run_list(const Call& call) {
  std::string name;
  bool json = false, markdown = false;
  CLI::App app("Prints what hbench knows: names for the flags of the other verbs.", "hbench list");
  std::string footer = "Lists:\n";
  for (const Listing& listing : listings()) footer += fmt::format("  {:12} {}\n", listing.name, listing.summary);
  app.footer(footer + "Example:\n  hbench list profiles");
  app.add_option("list", name, "which list");
  CLI::Option* as_json = app.add_flag("--json", json, "as JSON");
  app.add_flag("--markdown", markdown, "as a Markdown table")->excludes(as_json);
  if (parse_arguments(app, call)) return ExitCode::good;
  if (name.empty()) {
    fmt::print("{}", app.help());
    return ExitCode::good;
  }
  const Table table = find_listing(name).table(load_data());
  if (json)
    fmt::print("{}", table_json(table));
  else
    fmt::print("{}", (markdown ? kMarkdownFormat : kTextFormat).render(Document{.title = "", .blocks = {table}}));
  return ExitCode::good;
}

}  // namespace

extern const Verb kList;
constinit const Verb kList{
    .name = "list", .summary = "print algorithms, compressors, profiles, workloads ...", .run = run_list};

}  // namespace hbench
