#include "analysis/import/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/table.hpp"

namespace hbench {
namespace {

/// hbench's name of what `parse` knows, else the text itself.
template <class Parse>
std::string own_name(std::string_view text, Parse parse) {
  try {
    return std::string(entry_of(parse(text)).name);
  } catch (const Error&) {
    return std::string(text);
  }
}

/// Takes a number from the hints where the file leaves it open (0). \throws Error (usage) where both differ.
void complete_number(int& known, int given, std::string_view file, std::string_view what) {
  if (known > 0 && given > 0 && known != given)
    refuse_file(file, fmt::format("it says that it ran on {} {}, and {} are given", known, what, given),
                fmt::format("leave out --{}, or give the file of that run", what));
  if (known < 1) known = given;
}

}  // namespace

void refuse_file(std::string_view file_name, std::string_view what, std::string hint) {
  throw Error(ExitCode::usage, fmt::format("{}: {}", file_name, what), std::move(hint));
}

void complete_collectives(ImportedOutput& output, std::string_view file, const ImportHints& hints) {
  const std::string collective =
      hints.collective.empty() ? "" : std::string(to_string(parse_collective_kind(hints.collective)));
  for (CaseResult& result : output.cases) {
    Case& asked = result.asked;
    if (asked.is_benchmark()) continue;
    if (!collective.empty() && asked.collective.name != collective)
      refuse_file(file, fmt::format("it is of {}, and --collective says {}", asked.collective.name, collective),
                  "leave out --collective, or give the file of that one");
    complete_number(asked.gpus, hints.ranks, file, "ranks");
    complete_number(asked.nodes, hints.nodes, file, "nodes");
    if (asked.gpus < 1)
      refuse_file(file, "it does not say how many ranks it ran on", "add such as --ranks 16 --nodes 2");
    if (asked.nodes > asked.gpus)
      refuse_file(file, fmt::format("{} ranks are not on {} nodes", asked.gpus, asked.nodes),
                  "check --ranks and --nodes");
  }
}

Case imported_case(std::string_view implementation) {
  Case asked;
  asked.evidence = Evidence::measured;
  asked.profile = kLocalProfile;
  asked.implementation = implementation;
  return asked;
}

Case collective_case(std::string_view program, CollectiveKind kind, std::int64_t bytes, std::string_view type,
                     std::string_view operation) {
  Case asked = imported_case(program);
  asked.strategy.algorithm = kVendor;
  asked.strategy.compressor = kUncompressed;
  asked.collective.name = to_string(kind);
  asked.collective.bytes = bytes;
  asked.collective.data_type = own_name(type, parse_data_type);
  asked.collective.operation = own_name(operation, parse_reduce_op);
  asked.collective.executor = program;
  return asked;
}

Case imported_benchmark(std::string_view implementation, std::string name) {
  Case asked = imported_case(implementation);
  asked.benchmark = std::move(name);
  asked.strategy.overlap = false;  // it has no strategy
  return asked;
}

void ImportedCases::add(const Case& asked, std::string_view metric, std::span<const double> values,
                        std::string_view unit) {
  CaseResult& result = result_of(asked);
  if (result.status == CaseStatus::failed) return;
  int& iteration = iterations_[{result.asked.key(), std::string(metric)}];
  for (const double value : values)
    result.samples.push_back({.launch = 0,
                              .rank = 0,
                              .iteration = iteration++,
                              .warmup = false,
                              .metric = std::string(metric),
                              .value = value,
                              .unit = std::string(unit)});
}

void ImportedCases::fail(const Case& asked, std::string reason, int exit_code) {
  CaseResult& result = result_of(asked);
  if (result.status == CaseStatus::failed) return;
  result.status = CaseStatus::failed;
  result.failure = std::move(reason);
  result.exit_code = exit_code;
  result.samples.clear();
}

CaseResult& ImportedCases::result_of(const Case& asked) {
  const auto [known, is_new] = by_key_.try_emplace(asked.key(), results_.size());
  if (is_new) results_.push_back({.asked = asked, .failure = {}, .samples = {}});
  return results_[known->second];
}

ImportedOutput merged(std::vector<ImportedOutput> tests) {
  std::vector<ImportedOutput> runs;
  std::set<std::string> keys;  // of the last run
  for (ImportedOutput& test : tests) {
    const bool repeats =
        std::ranges::any_of(test.cases, [&](const CaseResult& each) { return keys.contains(each.asked.key()); });
    const bool begins = runs.empty() || repeats || test.environment != runs.back().environment;
    if (begins) keys.clear();
    for (const CaseResult& each : test.cases) keys.insert(each.asked.key());
    if (begins) {
      runs.push_back(std::move(test));
      continue;
    }
    ImportedOutput& run = runs.back();
    std::ranges::move(test.cases, std::back_inserter(run.cases));
    std::ranges::move(test.left_out, std::back_inserter(run.left_out));
  }
  ImportedOutput first = std::move(runs.front());
  first.later.assign(std::make_move_iterator(runs.begin() + 1), std::make_move_iterator(runs.end()));
  return first;
}

std::vector<CaseResult> ImportedCases::take() { return std::exchange(results_, {}); }

void ImportedTests::begin() {
  if (!cases_.empty()) tests_.push_back({.cases = cases_.take()});
  cases_ = {};
}

ImportedOutput ImportedTests::finish(std::string_view nothing, std::string_view hint) {
  begin();
  if (tests_.empty()) refuse_file(file_name_, left_out_.empty() ? nothing : left_out_.front(), std::string(hint));
  ImportedOutput output = merged(std::move(tests_));
  std::ranges::move(left_out_, std::back_inserter(output.left_out));
  return output;
}

extern const ImportFormat kHbenchCollectiveFormat, kNcclTestsJsonFormat, kRcclTestsRecordsFormat, kNcclTestsFormat,
    kOsuFormat, kImbFormat, kGoogleBenchmarkFormat, kNvbenchFormat, kTfCnnBenchmarksFormat, kHyperfineFormat,
    kPytestBenchmarkFormat, kJmhFormat, kLlamaBenchFormat, kCriterionFormat, kLibtestFormat, kCatch2Format,
    kNameUnitValueFormat, kBencherFormat, kJsonLineFormat;

namespace {

constexpr std::array kFormats{&kHbenchCollectiveFormat,
                              &kNcclTestsJsonFormat,
                              &kRcclTestsRecordsFormat,
                              &kNcclTestsFormat,
                              &kOsuFormat,
                              &kImbFormat,
                              &kGoogleBenchmarkFormat,
                              &kNvbenchFormat,
                              &kTfCnnBenchmarksFormat,
                              &kHyperfineFormat,
                              &kPytestBenchmarkFormat,
                              &kJmhFormat,
                              &kLlamaBenchFormat,
                              &kCriterionFormat,
                              &kLibtestFormat,
                              &kCatch2Format,
                              &kNameUnitValueFormat,
                              &kBencherFormat,
                              &kJsonLineFormat};

}  // namespace

std::span<const ImportFormat* const> import_formats() { return kFormats; }

const ImportFormat& find_import_format(std::string_view name) {
  return find_entry(import_formats(), name, "import format");
}

}  // namespace hbench
