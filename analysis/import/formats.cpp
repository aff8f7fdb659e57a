#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "analysis/import/format.hpp"
#include "collectives/base/table.hpp"

namespace hbench {

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
