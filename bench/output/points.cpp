#include "bench/output/points.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "analysis/records/case_fields.hpp"
#include "analysis/records/words.hpp"
#include "bench/command/common_options.hpp"
#include "collectives/base/parameters.hpp"
#include "collectives/base/table.hpp"
#include "collectives/base/text.hpp"
#include "reports/rows/fields.hpp"

namespace hbench {
namespace {

bool has_strategy(const Case& asked, const std::string& wanted) {
  return asked.strategy.algorithm == wanted || asked.strategy_label().find(wanted) != std::string::npos;
}

/// \throws Error (usage) for a name of which `names` has nothing.
void check(std::string_view what, const std::vector<std::string>& wanted, const std::set<std::string>& names) {
  const std::vector<std::string_view> known(names.begin(), names.end());
  for (const std::string& name : wanted)
    if (!names.contains(name)) throw unknown_name(fmt::format("stored {}", what), name, known);
}

void check_strategies(const std::vector<Point>& points, const PointFilter& filter) {
  std::set<std::string> names;
  for (const Point& point : points) names.insert({point.asked.strategy.algorithm, point.asked.strategy_label()});
  std::vector<std::string> unknown = filter.strategies;
  std::erase_if(unknown, [&](const std::string& wanted) {
    return std::ranges::any_of(points, [&](const Point& point) { return has_strategy(point.asked, wanted); });
  });
  check("strategy", unknown, names);
}

void check_names(const std::vector<Point>& points, const PointFilter& filter) {
  std::set<std::string> workloads, profiles;
  for (const Point& point : points) {
    workloads.insert(point.asked.workload);
    profiles.insert(point.asked.profile);
  }
  check("workload", filter.workloads, workloads);
  check("profile", filter.profiles, profiles);
  check_strategies(points, filter);
}

void case_field(Row& row, const CaseField& field, const Case& asked) {
  const FieldValue value = field.get(asked);
  std::visit(
      [&]<class Held>(const Held& held) {
        // A choice between yes and no is always one.
        if constexpr (std::same_as<Held, bool>)
          row.field(field.name, held, field.text);
        else
          row.field(field.name, if_known(!is_unset(value), held), field.text);
      },
      value);
}

void point_fields(Row& row, const Point& point) {
  const auto stated = [](double value) { return if_positive(value); };
  row.field("evidence", to_string(point.asked.evidence), "measured, emulated, simulated or published");
  row.field("status", point.failed ? "failed" : "done");
  row.field("failure", if_stated(point.failure));
  for (const CaseField& field : case_fields())
    if (field.name != "evidence") case_field(row, field, point.asked);
  row.field("strategy", point.asked.strategy.label());
  row.field("throughput", stated(point.throughput), "of all GPUs");
  row.field("throughput_per_gpu", stated(point.throughput_per_gpu));
  row.field("throughput_unit", "samples/s");
  row.field("efficiency", point.efficiency);
  row.field("efficiency_low", point.efficiency_low);
  row.field("efficiency_high", point.efficiency_high);
  row.field("interval", if_stated(point.interval), "what low and high are");
  const auto& narrowed = point.narrowed;
  const Narrowed known = narrowed.value_or(Narrowed());
  row.field("narrowed_condition", if_stated(std::string(known.condition())),
            "under which what makes most of a wide band costs nothing: for you to know");
  row.field("narrowed_efficiency", if_known(narrowed.has_value(), known.band.stated), "under it");
  row.field("narrowed_efficiency_low", if_known(narrowed.has_value(), known.band.low));
  row.field("narrowed_efficiency_high", if_known(narrowed.has_value(), known.band.high));
  row.field("warnings", if_stated(fmt::format("{}", fmt::join(point.warnings, "; "))));
  row.field("emulation", if_stated(point.emulation));
  row.field("baseline", if_stated(point.baseline), "in words");
  row.field("no_baseline", if_stated(point.no_baseline), "why there is none");
  row.field("step_seconds", stated(point.step_seconds));
  const auto part_of = [](const std::map<std::string, double>& parts, const std::string& name) {
    const auto found = parts.find(name);
    return if_known(found != parts.end(), found == parts.end() ? 0 : found->second);
  };
  row.field("memory_bytes", point.whole_memory(),
            "of a prediction: what a step keeps on each GPU, the sum of these four");
  row.field("weight_bytes", part_of(point.memory, "weights"));
  row.field("gradient_bytes", part_of(point.memory, "gradients"));
  row.field("optimizer_bytes", part_of(point.memory, "optimizer"), "its state");
  row.field("activation_bytes", part_of(point.memory, "activations"));
  row.field("staleness", part_of(point.staleness, "mean"),
            "gradients of others that servers have applied and a rank has not seen, mean");
  row.field("staleness_p95", part_of(point.staleness, "p95"));
  row.field("staleness_largest", part_of(point.staleness, "largest"));
  row.field(
      "consensus_distance", point.consensus_distance,
      "root mean square of the distance of a parameter from the mean of all ranks', where they average with some");
  row.field("sent_within_bytes", part_of(point.sent, "within"),
            "of a prediction: what all send inside nodes in a step, for each GPU");
  row.field("sent_between_bytes", part_of(point.sent, "between"), "the same between nodes");
  row.field("idle_share", point.idle_share, "of a predicted step, for which stages of a pipeline wait for others");
  row.field("throttled", share_of(point.throttled.throttled, point.throttled), "share of the iterations");
  row.field("power_capped", share_of(point.throttled.power_capped, point.throttled), "share of the iterations");
  row.field("throttling", if_stated(throttling_text(point.throttled.reasons)));
  row.field("samples", point.samples);
  row.field("machine_in_words", if_stated(point.machine_in_words));
  row.field("version", if_stated(point.producer.version), "of hbench");
  row.field("run", if_positive(point.producer.run), "in its database");
  row.field("labels", if_known(!point.producer.labels.empty(), point.producer.labels));
}

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

bool PointFilter::accepts(const Case& asked) const {
  return (workloads.empty() || contains(workloads, asked.workload)) &&
         (profiles.empty() || contains(profiles, asked.profile)) &&
         (evidence.empty() || evidence.contains(asked.evidence)) &&
         (strategies.empty() ||
          std::ranges::any_of(strategies, [&](const std::string& wanted) { return has_strategy(asked, wanted); }));
}

std::vector<Point> select_points(std::vector<Point> points, const PointFilter& filter) {
  check_names(points, filter);
  const bool any = !points.empty();
  std::erase_if(points, [&](const Point& point) { return !filter.accepts(point.asked); });
  if (any && points.empty())
    throw Error(ExitCode::usage, "no stored point has all that was asked for",
                "leave out one of --workload, --profile, --evidence, --strategy, --run, --label");
  return points;
}

void add_evidence(Arguments& app, std::set<Evidence>& evidence, std::string help, std::string standard) {
  const auto parse = [](const std::string& text, const std::string& flag) {
    std::set<Evidence> all;
    for (const std::string& name : split_list(text, flag)) all.insert(parse_evidence(name));
    return all;
  };
  app.add_parsed("--evidence", evidence, parse, std::move(help), std::move(standard));
}

std::string points_json(const std::vector<Point>& points, Form form) {
  return rows_text(form, "hbench export --json and hbench sweep --json", points, point_fields);
}

std::string points_csv(const std::vector<Point>& points) {
  if (points.empty()) {
    const std::string header = points_csv({Point{}});
    return header.substr(0, header.find('\n') + 1);
  }
  std::vector<Json> objects;
  for (const Point& point : points) objects.push_back(json_of(Form::values, point, point_fields));
  return csv_lines(objects);
}

void add_filter_options(Arguments& app, StoredFilter& filter) {
  add_workloads(app, filter.points.workloads, "only these workloads (comma list)");
  add_profiles(app, filter.points.profiles, "only these cluster profiles; 'local' is this machine (comma list)");
  add_evidence(app, filter.points.evidence, "only measured, emulated, simulated, published (comma list)");
  app.add_parsed("--strategy", filter.points.strategies, strategy_list,
                 "only these algorithms, or strategies whose label has this part: ps, sliced, fp16 (comma list)");
  add_run(app, filter.run, "only results of this run: the number that `hbench export` calls run");
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
