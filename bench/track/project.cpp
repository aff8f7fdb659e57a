#include "bench/track/project.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "analysis/track/check.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/file.hpp"
#include "collectives/base/table.hpp"
#include "collectives/base/toml_reader.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

constexpr std::array<std::string_view, 9> kRuleKeys{"database", "baseline", "launches", "max_launches", "least_effect",
                                                    "min_runs", "max_runs", "fail_on",  "experiments"};
constexpr std::array<std::string_view, 6> kLimitKeys{"case", "value", "worse", "better", "warn", "name"};

const toml::table& table_of(const TomlReader& read, const toml::node& node, std::string_view form) {
  return read.table(node, "this is no table", fmt::format("write {} on a line of its own", form));
}

std::vector<const toml::table*> tables_of(const TomlReader& read, const toml::node& node, std::string_view name) {
  const std::string form = fmt::format("[[{}]]", name);
  std::vector<const toml::table*> all;
  for (const toml::node& each : read.array(node, 0, "there may be several of these", fmt::format("write {}", form)))
    all.push_back(&table_of(read, each, form));
  return all;
}

std::string text_of(const TomlReader& read, const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto number = node.value_exact<std::int64_t>()) return fmt::format("{}", *number);
  if (const auto number = node.value_exact<double>()) return fmt::format("{}", *number);
  read.fail(node, "this is neither a text nor a number", "write a value in quotes");
}

std::vector<std::string> list_of(const TomlReader& read, const toml::node& node) {
  if (!node.is_array()) return {text_of(read, node)};
  std::vector<std::string> all;
  for (const toml::node& each : read.array(node, 1, "an empty list", "leave it out, or write what it lists"))
    all.push_back(text_of(read, each));
  return all;
}

double share_of(const TomlReader& read, const toml::node& node, std::string_view key) {
  return read.at(node, [&] { return parse_share(text_of(read, node), key); });
}

void check_key(const TomlReader& read, const toml::node& node, std::string_view key,
               std::span<const std::string_view> known) {
  if (std::ranges::find(known, key) == known.end()) read.at(node, [&] { throw unknown_name("key", key, known); });
}

void parse_limit_value(const std::string& text, TrackLimit& limit) {
  constexpr std::array kRate{Unit{"samples/s", 1}};
  if (text.ends_with(kRate[0].name)) {
    limit.metric = LimitMetric::samples_per_second;
    limit.value = parse_amount(text, kRate).value_or(0);
  } else if (text.ends_with("/s")) {
    limit.metric = LimitMetric::bus_bandwidth;
    limit.value = parse_rate(text).value;
  } else {
    limit.metric = LimitMetric::seconds;
    limit.value = parse_seconds(text).value;
  }
  if (!(limit.value > 0))
    throw Error(ExitCode::usage, fmt::format("'{}' is no value above 0", text),
                "write such as \"2.1 ms\", \"390 samples/s\" or \"11 GB/s\" (bus bandwidth)");
}

TrackLimit read_limit(const TomlReader& read, const toml::table& table) {
  TrackLimit limit;
  limit.place = read.place(table);
  for (const auto& [name, node] : table) {
    const std::string_view key = name.str();
    check_key(read, node, key, kLimitKeys);
    if (key == "case") limit.match = text_of(read, node);
    if (key == "value") read.at(node, [&] { parse_limit_value(text_of(read, node), limit); });
    if (key == "worse") limit.worse = share_of(read, node, key);
    if (key == "better") limit.better = share_of(read, node, key);
    if (key == "warn") limit.warn = share_of(read, node, key);
  }
  if (limit.match.empty()) read.fail(table, "a limit without a case", "add such as case = \"all-reduce of 16MiB\"");
  if (limit.value <= 0) read.fail(table, "a limit without a value", "add such as value = \"2.1 ms\"");
  if (limit.warn >= limit.worse)
    read.fail(
        table,
        fmt::format("it warns from {:g} % on, and {:g} % are beyond the limit", 100 * limit.warn, 100 * limit.worse),
        "give warn less than worse");
  return limit;
}

/// Adds a key of an experiment as a flag of the verb of the same name.
void add_argument(const TomlReader& read, ExperimentEntry& entry, const std::string& key, const toml::node& node) {
  const std::string flag = (key.size() == 1 ? "-" : "--") + key;
  entry.places[flag] = read.place(node);
  if (const auto given = node.value_exact<bool>()) {
    if (*given) entry.arguments.push_back(flag);
    return;
  }
  if (!entry.kind->takes_lists && node.is_array())
    read.fail(node, fmt::format("'{}' is one text", key), "write such as run = \"./my_benchmark --json\"");
  const std::vector<std::string> values = list_of(read, node);
  for (const std::string& each : values) entry.places["'" + each + "'"] = read.place(node);
  const std::string value = fmt::format("{}", fmt::join(values, ","));
  if (key == entry.kind->arguments)
    entry.arguments.insert(entry.arguments.begin(), value);
  else if (key.size() == 1)
    entry.arguments.insert(entry.arguments.end(), {flag, value});
  else
    entry.arguments.push_back(flag + "=" + value);
}

ExperimentEntry read_experiment(const TomlReader& read, const ExperimentKind& kind, const toml::table& table) {
  ExperimentEntry entry{.kind = &kind, .place = read.place(table), .line = table.source().begin.line};
  for (const auto& [name, node] : table) {
    std::string key(name.str());
    if (key == "name") {
      entry.name = text_of(read, node);
      continue;
    }
    std::ranges::replace(key, '_', '-');
    if (std::ranges::find(kind.refused, key) != kind.refused.end())
      read.fail(node, fmt::format("'{}' has no meaning here", name.str()),
                "launches, database and limits are in [track]; labels are given to hbench track run");
    add_argument(read, entry, key, node);
  }
  return entry;
}

/// Reads one file; every error has its line.
class ProjectReader {
 public:
  ProjectReader(std::string_view text, const std::filesystem::path& file)
      : read_(file.string()), table_(parse_toml(text, file.string())) {
    project_.file = file;
    project_.database = file.parent_path() / "hbench.db";
  }

  Project read() {
    for (const auto& [key, node] : table_) read_section(key.str(), node);
    if (project_.experiments.empty() && project_.limits.empty() && !table_.contains("track"))
      throw Error(ExitCode::usage, fmt::format("{}: it lists no experiment", read_.file()),
                  "add a [[command]], a [[sweep]] or a [[collective]], or write a new file with hbench track init");
    // As they stand in the file: TOML's tables are sorted by name.
    std::ranges::stable_sort(project_.experiments, {}, &ExperimentEntry::line);
    read_gates(names());
    return std::move(project_);
  }

 private:
  void read_section(std::string_view key, const toml::node& node) {
    if (key == "track") return read_rule(table_of(read_, node, "[track]"), project_.all, true);
    // Gates are read when the rule of [track] and all experiments are known.
    if (key == "gate") return;
    if (key == "limit") {
      for (const toml::table* each : tables_of(read_, node, key)) project_.limits.push_back(read_limit(read_, *each));
      return;
    }
    const auto kinds = experiment_kinds();
    const auto kind = std::ranges::find(kinds, key, [](const ExperimentKind* each) { return each->name; });
    if (kind == kinds.end()) {
      std::vector<std::string_view> known = names_of(kinds);
      known.insert(known.end(), {"track", "gate", "limit"});
      read_.at(node, [&] { throw unknown_name("section", key, known); });
    }
    int unnamed = 0;
    for (const toml::table* each : tables_of(read_, node, key)) {
      ExperimentEntry& entry = project_.experiments.emplace_back(read_experiment(read_, **kind, *each));
      if (entry.name.empty()) entry.name = fmt::format("{}-{}", key, ++unnamed);
    }
  }

  void read_rule(const toml::table& table, Gate& gate, bool of_project) {
    const auto count = [&](const toml::node& node) {
      return read_.whole(node, 1, 1000, "this is no number from 1 to 1000", "write such as 5");
    };
    std::optional<int> most;
    for (const auto& [name, node] : table) {
      const std::string_view key = name.str();
      check_key(read_, node, key, kRuleKeys);
      const bool misplaced = of_project ? key == "experiments" : key == "database" || key == "baseline";
      if (misplaced)
        read_.fail(node, fmt::format("'{}' belongs into {}", key, of_project ? "a [gate.NAME]" : "[track]"),
                   "move it there");
      if (key == "database") project_.database = project_.file.parent_path() / text_of(read_, node);
      if (key == "baseline") read_.at(node, [&] { return parse_baseline(project_.baseline = text_of(read_, node)); });
      if (key == "launches") gate.rule.launches = count(node);
      if (key == "max_launches") most = count(node);
      if (key == "least_effect") gate.rule.least_effect = share_of(read_, node, key);
      if (key == "min_runs") gate.rule.fewest_runs = count(node);
      if (key == "max_runs") gate.rule.most_runs = count(node);
      if (key == "experiments") gate.experiments = list_of(read_, node);
      if (key == "fail_on")
        gate.fail_on_inconclusive = read_.at(node, [&] { return parse_fail_on(text_of(read_, node)); });
    }
    if (!most) return;
    if (*most < gate.rule.launches)
      read_.fail(*table.get("max_launches"),
                 fmt::format("{} launches are fewer than the first {}", *most, gate.rule.launches),
                 "max_launches counts the first ones and those that confirm a regression");
    gate.rule.confirming = *most - gate.rule.launches;
  }

  /// Of the experiments, sorted, each of which must differ.
  std::vector<std::string_view> names() const {
    std::set<std::string_view> names;
    for (const ExperimentEntry& each : project_.experiments)
      if (!names.insert(each.name).second)
        throw Error(ExitCode::usage, fmt::format("{}: there is an experiment '{}' already", each.place, each.name),
                    "give each a name of its own");
    return {names.begin(), names.end()};
  }

  /// A gate takes what it does not say from [track], wherever that stands.
  void read_gates(const std::vector<std::string_view>& known) {
    const toml::node* gates = table_.get("gate");
    if (gates == nullptr) return;
    for (const auto& [name, node] : table_of(read_, *gates, "[gate.NAME]")) {
      Gate gate = project_.all;
      gate.name = name.str();
      read_rule(table_of(read_, node, "[gate.NAME]"), gate, false);
      for (const std::string& each : gate.experiments)
        if (std::ranges::find(known, each) == known.end())
          read_.at(node, [&] { throw unknown_name("experiment", each, known); });
      project_.gates.push_back(std::move(gate));
    }
  }

  TomlReader read_;
  toml::table table_;
  Project project_;
};

}  // namespace

ExperimentCall ExperimentEntry::call(const std::filesystem::path& folder) const {
  return {{arguments, fmt::format("hbench {}", kind->name)}, name, place, folder};
}

std::unique_ptr<Experiment> ExperimentEntry::plan(const std::filesystem::path& folder) const {
  try {
    std::unique_ptr<Experiment> planned = kind->plan(call(folder));
    if (planned == nullptr) throw Error(ExitCode::usage, "'help' is no flag of an experiment", "leave it out");
    return planned;
  } catch (const Error& error) {
    if (error.code() != ExitCode::usage) throw;
    std::string where = place;
    for (const auto& [text, known] : places)
      if (std::string_view(error.what()).find(text) != std::string_view::npos) where = known;
    throw Error(ExitCode::usage, fmt::format("{}: {}", where, error.what()), error.hint());
  }
}

const Gate& Project::gate(const std::string& name) const {
  if (name.empty()) return all;
  const auto found = std::ranges::find(gates, name, &Gate::name);
  if (found != gates.end()) return *found;
  std::vector<std::string_view> known;
  for (const Gate& each : gates) known.push_back(each.name);
  if (known.empty())
    throw Error(ExitCode::usage, fmt::format("{} has no gates, so none called '{}'", file.string(), name),
                fmt::format("add [gate.{}] with experiments = [\"...\"]", name));
  throw unknown_name("gate", name, known);
}

std::vector<const ExperimentEntry*> Project::experiments_of(const Gate& gate) const {
  std::vector<const ExperimentEntry*> chosen;
  for (const ExperimentEntry& each : experiments)
    if (gate.experiments.empty() || std::ranges::find(gate.experiments, each.name) != gate.experiments.end())
      chosen.push_back(&each);
  return chosen;
}

Project parse_project(std::string_view text, const std::filesystem::path& file) {
  return ProjectReader(text, file).read();
}

void add_no_confirm(Arguments& app, bool& unconfirmed) {
  app.add_flag("--no-confirm", unconfirmed, "say regressed or improved without further launches that show it again");
}

void add_project_options(Arguments& app, std::filesystem::path& file, std::filesystem::path& database,
                         std::string* gate) {
  add_project_file(app, file, "what is tracked (default: hbench.toml in this folder, where there is one)");
  add_database(app, database, "the database (default: the file's, or hbench.db)");
  if (gate != nullptr) app.add_option("--gate", *gate, "the experiments of this gate of the file, and its rule");
}

std::optional<Project> find_project(const std::filesystem::path& named) {
  std::error_code ignored;
  if (named.empty() && !std::filesystem::exists(kProjectFile, ignored)) return std::nullopt;
  const std::filesystem::path file = named.empty() ? std::filesystem::path(kProjectFile) : named;
  if (!std::filesystem::is_regular_file(file, ignored))
    throw Error(ExitCode::usage, fmt::format("there is no file '{}'", file.string()),
                "hbench track init writes one; --file names another");
  return parse_project(read_file(file), file);
}

std::filesystem::path database_of(const std::optional<Project>& project, const std::filesystem::path& named) {
  if (!named.empty()) return named;
  return project ? project->database : kUsualDatabase;
}

Store open_to_keep(const std::filesystem::path& database, std::string& read_only) {
  std::error_code ignored;
  try {
    if (std::filesystem::exists(database, ignored)) return Store(database);
  } catch (const Error& error) {
    if (error.code() != ExitCode::environment) throw;
    read_only = error.what();
  }
  return Store(database, Store::Mode::read_only);
}

std::string baseline_of(const std::optional<Project>& project, const std::string& named) {
  if (!named.empty()) return named;
  return project ? project->baseline : "main";
}

double parse_share(const std::string& text, std::string_view flag) {
  constexpr double kLeast = 0.001;
  constexpr std::array kNone{Unit{"", 1}}, kPercent{Unit{"%", 1}};
  const auto percent = parse_amount(text, kPercent);
  const double share = percent ? *percent / 100 : parse_amount(text, kNone).value_or(-1);
  if (!(share >= kLeast && share <= 1))
    throw Error(ExitCode::usage, fmt::format("{} {} is invalid", flag, text), "write a share such as 3% or 0.03");
  return share;
}

}  // namespace hbench
