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

std::vector<std::string> list(const std::optional<std::string>& text, std::string_view flag) {
  return text ? split_list(*text, flag) : std::vector<std::string>();
}

/// A label such as `ps (sliced, dedicated)` has commas of its own: only those outside parentheses separate items.
std::vector<std::string> list_of_labels(const std::optional<std::string>& text, std::string_view flag) {
  std::vector<std::string> items;
  for (const std::string& part : list(text, flag)) {
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

void add_filter_options(Arguments& app, FilterTexts& texts) {
  app.add_option("--workload", texts.workload, "only these workloads (comma list)");
  app.add_option("--profile", texts.profile, "only these cluster profiles; 'local' is this machine (comma list)");
  app.add_option("--evidence", texts.evidence, "only measured, emulated, simulated, published (comma list)");
  app.add_option("--strategy", texts.strategy,
                 "only these algorithms, or strategies whose label has this part: ps, sliced, fp16 (comma list)");
  app.add_option("--run", texts.run, "only results of this run: the number that `hbench export` calls run",
                 in_range(1, INT_MAX));
  app.add_option("--label", texts.labels,
                 "KEY=VALUE: only results of runs with this label (repeatable: with all of them)");
}

PointFilter parse_filter(const FilterTexts& texts) {
  PointFilter filter;
  filter.workloads = list(texts.workload, "--workload");
  filter.profiles = list(texts.profile, "--profile");
  filter.strategies = list_of_labels(texts.strategy, "--strategy");
  for (const std::string& name : list(texts.evidence, "--evidence")) filter.evidence.insert(parse_evidence(name));
  return filter;
}

RunFilter parse_run_filter(const FilterTexts& texts, const std::vector<Run>& runs) {
  RunFilter filter{.run = texts.run, .labels = parse_labels(texts.labels)};
  if (filter.is_empty() || std::ranges::any_of(runs, [&](const Run& run) { return filter.accepts(run); }))
    return filter;
  std::vector<std::string> wanted = texts.labels;
  if (texts.run > 0) wanted.insert(wanted.begin(), fmt::format("the number {}", texts.run));
  throw Error(ExitCode::usage, fmt::format("no stored run has {}", fmt::join(wanted, " and ")), newest_in_words(runs));
}

}  // namespace hbench
