#include "bench/verbs/filter_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <climits>

#include "analysis/records/words.hpp"
#include "bench/command/labels.hpp"
#include "collectives/base/flag_values.hpp"

namespace hbench {
namespace {

/// A label such as `ps (sliced, dedicated)` has commas of its own: only those outside parentheses separate items.
std::vector<std::string> strategy_list(std::string_view text, std::string_view flag) {
  std::vector<std::string> items;
  for (const std::string& part : split_list(text, flag)) {
    const bool inside = !items.empty() && items.back().rfind('(') != std::string::npos &&
                        items.back().find(')', items.back().rfind('(')) == std::string::npos;
    if (inside)
      items.back() += ',' + part;
    else
      items.push_back(part);
  }
  return items;
}

/// Enough to find the one that was meant.
constexpr std::size_t kRunsShown = 5;

/// `the newest runs: 7 of 2026-11-22T10:00:00Z (branch=main), 6 ...`.
std::string newest_in_words(const std::vector<Run>& runs) {
  std::vector<std::string> words;
  for (std::size_t i = runs.size(); i > 0 && words.size() < kRunsShown; --i) {
    const Run& run = runs[i - 1];
    words.push_back(fmt::format("{} of {}{}", run.id, run.started_at,
                                run.labels.empty() ? "" : fmt::format(" ({})", labels_text(run.labels))));
  }
  return fmt::format("the newest runs: {}", fmt::join(words, ", "));
}

}  // namespace

void add_filter_options(Arguments& app, StoredFilter& filter) {
  app.add_list("--workload", filter.points.workloads, "only these workloads (comma list)");
  app.add_list("--profile", filter.points.profiles,
               "only these cluster profiles; 'local' is this machine (comma list)");
  app.add_parsed("--evidence", filter.points.evidence, parse_evidence_list,
                 "only measured, emulated, simulated, published (comma list)");
  app.add_parsed("--strategy", filter.points.strategies, strategy_list,
                 "only these algorithms, or strategies whose label has this part: ps, sliced, fp16 (comma list)");
  app.add_option("--run", filter.run, "only results of this run: the number that `hbench export` calls run",
                 in_range(1, INT_MAX));
  add_labels(app, filter.labels, "KEY=VALUE: only results of runs with this label (repeatable: with all of them)");
}

RunFilter StoredFilter::of(const std::vector<Run>& runs) const {
  RunFilter filter{.run = run, .labels = labels};
  if (filter.is_empty() || std::ranges::any_of(runs, [&](const Run& each) { return filter.accepts(each); }))
    return filter;
  std::vector<std::string> wanted;
  if (run > 0) wanted.push_back(fmt::format("the number {}", run));
  for (const auto& [key, value] : labels) wanted.push_back(fmt::format("{}={}", key, value));
  throw Error(ExitCode::usage, fmt::format("no stored run has {}", fmt::join(wanted, " and ")), newest_in_words(runs));
}

}  // namespace hbench
