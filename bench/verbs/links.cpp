#include <fmt/format.h>

#include <string>
#include <vector>

#include "bench/command/arguments.hpp"
#include "bench/command/verb.hpp"
#include "bench/launch/installation.hpp"
#include "bench/output/document_output.hpp"
#include "collectives/base/flag_values.hpp"
#include "collectives/base/units_text.hpp"
#include "reports/rows/row.hpp"

namespace hbench {
namespace {

/// One way between two ranks of a cluster.
struct Link {
  std::string profile;
  std::string_view where;
  Seconds latency;
  BytesPerSecond rate;
  Bytes message;

  Seconds time() const { return latency + message / rate; }
  /// The size of a message that takes as long as its latency alone: half of the rate is reached there.
  Bytes half_rate() const { return rate * latency; }
};

std::vector<Link> links_of(const Profile& profile, Bytes message) {
  std::vector<Link> links;
  if (profile.gpus_per_domain() > 1)
    links.push_back({profile.name, "within a node", profile.local_latency, profile.local_rate, message});
  if (profile.most_nodes != 1)
    links.push_back({profile.name, "between nodes", profile.network_latency, profile.path_rate(), message});
  return links;
}

void link_fields(Row& row, const Link& link) {
  const auto rate = [](double value) { return format(BytesPerSecond(value)); };
  const auto time = [](double value) { return format(Seconds(value)); };
  const auto size = [](double value) { return format(Bytes(value)); };
  row.field("profile", link.profile).in("profile");
  row.field("where", link.where).in("where");
  row.field("latency_seconds", link.latency.value, "of a message").in("latency", time);
  row.field("bytes_per_second", link.rate.value, "from one rank to another").in("rate", rate);
  row.field("half_rate_bytes", link.half_rate().value, "message that gets half of the rate").in("half rate at", size);
  row.field("message_bytes", link.message.value);
  row.field("message_seconds", link.time().value, "of that message").in("time of " + format(link.message), time);
}

ExitCode run_links(const Call& call) {
  std::vector<std::string> names;
  std::int64_t bytes = 1 << 20;
  DocumentOutput output;
  Arguments app("Prints what a message between two ranks takes on each cluster.", "hbench links");
  app.footer(
      "Examples:\n  hbench links\n  hbench links --profile hkbu-10gbe,dgx-a100 --size 64KiB\n"
      "  hbench links --format csv");
  app.add_list("--profile", names, "only these clusters (comma list)");
  app.add_parsed(
      "--size", bytes, [](std::string_view text) { return parse_size(text, "--size"); }, "size of the message", "1MiB");
  output.add_options(app);
  if (app.parse(call)) return ExitCode::good;
  output.check();
  const Data data = load_data();
  if (names.empty()) names = data.profiles.names();
  std::vector<Link> links;
  for (const std::string& name : names)
    for (Link& link : links_of(data.profiles.load(name), Bytes(static_cast<double>(bytes))))
      links.push_back(std::move(link));
  output.deliver({.title = "Links", .blocks = {table_of(links, link_fields, {.caption = "One message at a time"})}},
                 [&] { return rows_text(Form::values, "hbench links --json", links, link_fields); });
  return ExitCode::good;
}

}  // namespace

extern const Verb kLinks;
constinit const Verb kLinks{.name = "links", .summary = "print what messages take on clusters", .run = run_links};

}  // namespace hbench
