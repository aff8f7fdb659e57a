#include "bench/output/reporting.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "bench/command/program.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/document_output.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"
#include "reports/scaling/scaling.hpp"
#include "reports/write_report.hpp"

namespace hbench {
namespace {

constexpr std::string_view kProfile = "title of profile ", kGpu = "GPU of profile ", kWorkload = "title of workload ";

/// `V100 SXM2` of `NVIDIA V100 SXM2, fp32`; what the profile calls it where no file describes that GPU.
std::string gpu_in_words(const Profile& profile) {
  std::string text = profile.gpu_title.empty() ? profile.gpu : profile.gpu_title;
  text = text.substr(0, text.find_first_of(",("));
  const std::string_view maker = "NVIDIA ";
  if (text.starts_with(maker)) text.erase(0, maker.size());
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

void describe(ReportInput& input, const std::string& name, const Profile& profile) {
  input.profile_titles[name] = profile.title;
  input.profile_gpus[name] = gpu_in_words(profile);
}

std::string percent(const std::optional<double>& value) { return value ? fmt::format("{:.1f} %", 100 * *value) : "-"; }

std::string with_interval(const Point& point) {
  if (!point.efficiency) return "-";
  if (!point.efficiency_low || !point.efficiency_high) return percent(point.efficiency);
  return fmt::format("{:.1f} % [{:.1f}, {:.1f}]", 100 * *point.efficiency, 100 * *point.efficiency_low,
                     100 * *point.efficiency_high);
}

bool usable(const Point& point, Evidence evidence) { return point.asked.evidence == evidence && !point.failed; }

bool same_place(const Case& a, const Case& b) {
  return a.profile == b.profile && same_batch(a, b) && a.training == b.training;
}

/// The labels among `points` that every other network has at least: twins of published points have strategies of their
/// own.
std::vector<std::string> usual_labels(const Pointers& points, std::size_t networks) {
  std::vector<std::string> labels;
  std::map<std::string, std::size_t> uses;
  for (const Point* point : points)
    if (const std::string label = point->asked.strategy.label(); uses[label]++ == 0) labels.push_back(label);
  std::erase_if(labels, [&](const std::string& label) { return uses[label] * 2 < networks; });
  return labels;
}

/// Whether a narrow terminal shows the column of a strategy: of the ways that are compared, and of the same all-reduce
/// with fewer bytes. Of servers one column has the best of them.
bool comes_first(const Strategy& strategy, const Contest& contest, bool of_servers) {
  return std::ranges::any_of(contest.matches, [&](const Match& match) {
    return std::ranges::any_of(std::array{match.first, match.second}, [&](const Point* point) {
      if (point == nullptr || (of_servers && strategy.uses_servers())) return false;
      const Strategy& shown = point->asked.strategy;
      return shown.label() == strategy.label() || (!shown.uses_servers() && shown.algorithm == strategy.algorithm);
    });
  });
}

/// `ps` of `the best parameter servers`: a column of a narrow terminal has room for that.
std::string brief(std::string way) {
  constexpr std::string_view kBest = "the best ";
  if (way.starts_with(kBest)) way.erase(0, kBest.size());
  return way == "parameter servers" ? "ps" : way;
}

/// `39`, and `0.8` of what is little.
std::string whole(double efficiency) { return fmt::format("{:.{}f}", 100 * efficiency, efficiency < 0.095 ? 1 : 0); }

/// `39 (17-69)`: with the band, in the two cells that the comparison is about.
std::string with_band(const Point& point) {
  if (!point.efficiency) return "-";
  const std::string stated = whole(*point.efficiency);
  if (!point.efficiency_low || !point.efficiency_high) return stated;
  return fmt::format("{} ({}-{})", stated, whole(*point.efficiency_low), whole(*point.efficiency_high));
}

/// What was simulated of one workload on one number of GPUs.
struct MatrixGroup {
  MatrixGroup(const Subject& subject, Pointers given) : workload(subject.workload), points(std::move(given)) {
    if (points.empty()) return;
    workload += fmt::format(", {}", batch_in_words(points.front()->asked));
    contest = contest_of(points);
    labels = usual_labels(points, contest.matches.size());
    of_servers = std::ranges::any_of(contest.matches, [](const Match& match) {
      return match.both() && match.second->asked.strategy.uses_servers() && !match.first->asked.strategy.uses_servers();
    });
  }

  const Point* find(const std::string& label, const Case& place) const {
    const auto point = std::ranges::find_if(points, [&](const Point* each) {
      return each->asked.strategy.label() == label && same_place(each->asked, place);
    });
    return point == points.end() ? nullptr : *point;
  }

  /// Whether a narrow terminal shows the column of a strategy.
  bool needs(const std::string& label) const {
    return std::ranges::any_of(points, [&](const Point* point) {
      return point->asked.strategy.label() == label && comes_first(point->asked.strategy, contest, of_servers);
    });
  }

  std::string workload;  ///< with its batch
  Pointers points;
  Contest contest;
  std::vector<std::string> labels;
  bool of_servers = false;
};

/// What was simulated of each workload: on its most GPUs a row per network, the most efficient first; of one network a
/// row per number of GPUs.
Table matrix(const std::vector<Point>& all) {
  std::vector<MatrixGroup> groups;
  for (const Subject& subject : subjects_by_spread(all))
    for (Pointers& points : points_by_gpus(all, subject, Evidence::simulated))
      groups.emplace_back(subject, std::move(points));
  std::erase_if(groups, [](const MatrixGroup& group) { return group.points.empty(); });
  Table table{.grouped = true};
  if (groups.empty()) return table;

  std::set<int> gpus;
  std::vector<std::string> labels;
  for (const MatrixGroup& group : groups) {
    gpus.insert(group.points.front()->asked.gpus);
    for (const std::string& label : group.labels)
      if (std::ranges::find(labels, label) == labels.end()) labels.push_back(label);
  }
  const int global = groups.front().points.front()->asked.global_batch;
  table.caption = fmt::format("{}{}simulated: % of ideal speed{} (90 % band); times as fast, ?: likely",
                              gpus.size() == 1 ? fmt::format("{} GPUs, ", *gpus.begin()) : "",
                              global > 0 ? fmt::format("strong scaling of {} samples a step, ", global) : "",
                              global > 0 ? " at a row's batch" : "");
  const auto column = [&](const std::string& name, bool numeric, int priority) {
    table.columns.emplace_back(name, numeric, priority);
  };
  column("workload", false, 0);
  column("network", false, 0);
  if (gpus.size() > 1) column("GPUs", true, 0);
  for (const std::string& label : labels) {
    const bool needed = std::ranges::any_of(groups, [&](const MatrixGroup& group) { return group.needs(label); });
    column(label.starts_with(labels.front() + " + ") ? label.substr(labels.front().size() + 1) : label, true,
           needed ? 0 : 1);
  }
  const bool of_servers = std::ranges::any_of(groups, &MatrixGroup::of_servers);
  if (of_servers) column("best servers", true, 0);
  column("memory", true, 2);
  column("ahead", false, 0);
  for (const MatrixGroup& group : groups) {
    for (const Match& match : group.contest.matches) {
      const Case& asked = match.better().asked;
      std::vector<std::string>& row = table.rows.emplace_back(std::vector{group.workload, asked.profile});
      if (gpus.size() > 1) row.push_back(std::to_string(asked.gpus));
      for (const std::string& label : labels) {
        const Point* point = group.find(label, asked);
        const bool compared = point != nullptr && (point == match.first || point == match.second);
        row.push_back(point == nullptr ? "-" : compared ? with_band(*point) : whole(*point->efficiency));
      }
      if (of_servers) row.push_back(group.of_servers && match.second ? with_band(*match.second) : "-");
      row.push_back(memory_cell(match.better()));
      row.push_back(who_is_ahead(match, brief(group.contest.first), brief(group.contest.second)));
    }
  }
  for (const char* name : {"ahead", "memory"}) erase_if_empty(table, name);
  return table;
}

std::string on_what(const TrainingTask& task) {
  const std::string label = task.label();
  return (task.on_gpu() ? "GPU" : "CPU core") + (label.empty() ? "" : ": " + label);
}

std::string place_of(const Point& point) {
  return point.emulation.empty() ? on_what(point.asked.training) : "replay of a GPU of the cluster";
}

/// What was timed here: measured, or emulated on slowed links. What ranks were is a column where it differs; a
/// rank of an emulated cluster replays one of its GPUs.
Table timed_table(const std::vector<Point>& points, Evidence evidence) {
  std::set<std::string> places, networks;
  for (const Point& point : points) {
    if (!usable(point, evidence)) continue;
    places.insert(place_of(point));
    if (!point.asked.is_of_machine()) networks.insert(point.asked.profile);
  }
  const bool same = places.size() == 1;
  Table table;
  table.caption = fmt::format("{} on this machine{}{} (a rank is {})", capitalized(to_string(evidence)),
                              networks.empty() ? "" : ": ", fmt::join(networks, "; "),
                              same ? "one " + *places.begin() : std::string("what `on` says"));
  table.columns = {"workload",
                   numbers("ranks"),
                   "nodes x ranks",
                   "strategy",
                   "on",
                   numbers("samples/s", 2),
                   numbers("per rank", 1),
                   numbers("efficiency [95 %]"),
                   texts("baseline", 3)};
  for (const Point& point : points) {
    if (!usable(point, evidence)) continue;
    table.rows.push_back({point.asked.workload, std::to_string(point.asked.workers()), point.asked.nodes_label(),
                          point.asked.strategy.label(), place_of(point), fmt::format("{:.1f}", point.throughput),
                          fmt::format("{:.1f}", point.throughput_per_gpu), with_interval(point),
                          point.baseline_or_reason()});
  }
  if (same) erase_column(table, "on");
  erase_if_empty(table, "nodes x ranks");
  return table;
}

/// What an emulation of real processes says of the simulation of the same.
Table emulated_pairs_table(const std::vector<EmulatedPair>& pairs) {
  Table table;
  if (pairs.empty()) return table;
  const ComparisonSummary summary = summarize(pairs);
  table.caption = fmt::format("Simulated against emulated throughput: {:.1f} % apart on average, {:.1f} % at most",
                              100 * summary.mean, 100 * summary.maximum);
  table.columns = {"workload",          numbers("GPUs"),      "network",
                   "strategy",          numbers("published"), numbers("measured here"),
                   numbers("emulated"), numbers("simulated"), numbers("apart")};
  for (const EmulatedPair& pair : pairs)
    table.rows.push_back({pair.emulated.asked.workload, std::to_string(pair.emulated.asked.gpus),
                          pair.emulated.asked.profile, pair.emulated.asked.strategy.label(),
                          pair.published ? percent(pair.published->efficiency) : "",
                          pair.measured ? percent(pair.measured->efficiency) : "", percent(pair.emulated.efficiency),
                          percent(pair.simulated.efficiency), fmt::format("{:+.1f} %", 100 * pair.difference)});
  for (const char* column : {"published", "measured here"}) erase_if_empty(table, column);
  return table;
}

Table failed_table(const std::vector<Point>& points) {
  Table table;
  table.caption = "Failed";
  table.columns = {"evidence", "workload", numbers("GPUs"), "strategy", "reason"};
  for (const Point& point : points)
    if (point.failed)
      table.rows.push_back({std::string(to_string(point.asked.evidence)), point.asked.workload,
                            std::to_string(point.asked.gpus), point.asked.strategy.label(), point.failure});
  return table;
}

}  // namespace

void describe(ReportInput& input, const Data& data) {
  for (const std::string& name : data.profiles.names()) describe(input, name, data.profiles.load(name));
  for (const std::string& name : data.traces.names()) input.workload_titles[name] = data.traces.load(name).title;
}

void describe(ReportInput& input, const Catalog& catalog) {
  for (const auto& [name, profile] : catalog.profiles) describe(input, name, profile);
  for (const auto& [name, trace] : catalog.traces) input.workload_titles[name] = trace.title;
}

void describe(ReportInput& input, const std::vector<Run>& runs) {
  const std::pair<std::string_view, std::map<std::string, std::string>*> kinds[] = {
      {kProfile, &input.profile_titles}, {kGpu, &input.profile_gpus}, {kWorkload, &input.workload_titles}};
  for (const Run& run : runs)
    for (const auto& [fact, value] : run.environment)
      for (const auto& [kind, titles] : kinds)
        if (fact.starts_with(kind)) (*titles)[fact.substr(kind.size())] = value;
}

void remember_titles(Run& run, const Catalog& catalog, const Data& data) {
  const std::vector<std::string> profiles = data.profiles.names(), workloads = data.traces.names();
  for (const auto& [name, profile] : catalog.profiles) {
    if (contains(profiles, name)) continue;
    run.environment[fmt::format("{}{}", kProfile, name)] = profile.title;
    run.environment[fmt::format("{}{}", kGpu, name)] = gpu_in_words(profile);
  }
  for (const auto& [name, trace] : catalog.traces)
    if (!contains(workloads, name)) run.environment[fmt::format("{}{}", kWorkload, name)] = trace.title;
}

ReportInput report_input(const std::vector<CaseResult>& results, const std::vector<CaseResult>& baselines,
                         const std::vector<Run>& runs, const Data& data, const PointFilter& filter) {
  ReportInput input;
  input.points = select_points(make_points(results, baselines), filter);
  std::ranges::copy_if(results, std::back_inserter(input.alone), [&](const CaseResult& each) {
    return (each.asked.is_collective() || each.asked.is_benchmark()) && each.asked.is_timed() &&
           filter.accepts(each.asked);
  });
  input.comparisons = compare_with_published(input.points);
  input.predictions = compare_with_measured(input.points);
  input.emulations = compare_with_emulated(input.points);
  input.runs = runs;
  describe(input, data);
  describe(input, runs);
  return input;
}

Document summary(const std::vector<Point>& points, const Document& report) {
  Document document;
  for (const Block& block : report.blocks)
    if (std::holds_alternative<Verdict>(block) || std::holds_alternative<Warnings>(block))
      document.blocks.push_back(block);
  document.add_table(matrix(points));
  for (const EvidenceKind& kind : kEvidenceKinds)
    if (kind.timed) document.add_table(timed_table(points, kind.evidence));
  document.add_table(emulated_pairs_table(compare_with_emulated(points)));
  document.add_table(failed_table(points));
  return document;
}

void write_report_folder(const Document& document, const std::filesystem::path& folder) {
  catch_interrupts();                     // what is drawn is drawn in a folder that must be removed
  const bool to_the_end = interrupted();  // of a sweep that Ctrl-C has ended
  const std::string warning =
      write_report(document, folder, [&](const std::vector<std::string>& argv, const std::string& input) {
        return run_process({.argv = argv,
                            .on_line = {},
                            .input = input,
                            .output_timeout = Seconds(120),
                            .despite_interrupts = to_the_end})
            .code;
      });
  if (!warning.empty()) inform("hbench: {}\n", warning);
}

void check_report_folder(const std::filesystem::path& folder) {
  check_report_files(folder);
  const FolderTrial trial = try_folder(folder);
  std::error_code ignored;
  if (trial.made) std::filesystem::remove(folder, ignored);  // nothing is left behind when the work fails
  if (!trial.why_not.empty())
    throw Error(ExitCode::environment,
                fmt::format("cannot write the report into {}: {}", folder.string(), trial.why_not),
                "choose a folder that can be written with --report DIR");
}

}  // namespace hbench
