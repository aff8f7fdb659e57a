#include "analysis/import/format.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>

#include "collectives/arithmetic/data_type.hpp"
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

}  // namespace

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

extern const ImportFormat kHbenchCollectiveFormat, kNcclTestsJsonFormat, kRcclTestsRecordsFormat, kNcclTestsFormat,
    kOsuFormat, kImbFormat, kGoogleBenchmarkFormat, kNvbenchFormat, kTfCnnBenchmarksFormat, kJsonLineFormat;

namespace {

constexpr std::array kFormats{&kHbenchCollectiveFormat, &kNcclTestsJsonFormat, &kRcclTestsRecordsFormat,
                              &kNcclTestsFormat,        &kOsuFormat,           &kImbFormat,
                              &kGoogleBenchmarkFormat,  &kNvbenchFormat,       &kTfCnnBenchmarksFormat,
                              &kJsonLineFormat};

/// Files of which people think that a benchmark may read them.
struct Stranger {
  std::string_view mark, also;  ///< both stand in it
  std::string_view what;
};
constexpr std::array kStrangers{
    Stranger{"\"traceEvents\"", "\"schemaVersion\"", "a torch.profiler trace (Kineto)"},
    Stranger{"\"traceEvents\"", "", "a trace of events (Chrome's format)"},
    Stranger{"NEGOTIATE_", "\"ph\"", "a Horovod timeline"},
};

/// Only a trace begins as one: a log may have any word.
void refuse_stranger(std::string_view text, std::string_view file_name) {
  const char first = text[text.find_first_not_of(" \t\r\n")];
  if (first != '{' && first != '[') return;
  for (const Stranger& stranger : kStrangers)
    if (text.find(stranger.mark) != text.npos && text.find(stranger.also) != text.npos)
      throw Error(ExitCode::usage,
                  fmt::format("{}: this is {}, and a trace is of a job, not of a benchmark", file_name, stranger.what),
                  fmt::format("make a workload of it: hbench import-job {}", file_name));
}

}  // namespace

std::span<const ImportFormat* const> import_formats() { return kFormats; }

const ImportFormat& find_import_format(std::string_view name) {
  return find_entry(import_formats(), name, "import format");
}

const ImportFormat* recognised(std::string_view text, std::string_view file_name) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    throw Error(ExitCode::usage, fmt::format("{}: it is empty", file_name), "did the program that wrote it fail?");
  refuse_stranger(text, file_name);
  for (const ImportFormat* format : import_formats())
    if (format->recognises(text)) return format;
  return nullptr;
}

const ImportFormat& recognise(std::string_view text, std::string_view file_name) {
  if (const ImportFormat* format = recognised(text, file_name)) return *format;
  throw Error(ExitCode::usage, fmt::format("{}: nothing known has this format", file_name),
              fmt::format("known are {}; --format names one", fmt::join(names_of(import_formats()), ", ")));
}

}  // namespace hbench
