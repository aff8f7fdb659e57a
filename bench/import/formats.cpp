#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "bench/import/format.hpp"
#include "collectives/base/table.hpp"

namespace hbench {

extern const ImportFormat kHbenchCollectiveFormat, kNcclTestsJsonFormat, kNcclTestsFormat, kOsuFormat,
    kGoogleBenchmarkFormat, kNvbenchFormat, kJsonLineFormat;

namespace {
constexpr std::array kFormats{&kHbenchCollectiveFormat, &kNcclTestsJsonFormat, &kNcclTestsFormat, &kOsuFormat,
                              &kGoogleBenchmarkFormat,  &kNvbenchFormat,       &kJsonLineFormat};
}

std::span<const ImportFormat* const> import_formats() { return kFormats; }

const ImportFormat& find_import_format(std::string_view name) {
  return find_entry(import_formats(), name, "import format");
}

const ImportFormat& recognise(std::string_view text, std::string_view file_name) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    throw Error(ExitCode::usage, fmt::format("{}: it is empty", file_name), "did the program that wrote it fail?");
  for (const ImportFormat* format : import_formats())
    if (format->recognises(text)) return *format;
  throw Error(ExitCode::usage, fmt::format("{}: nothing known has this format", file_name),
              fmt::format("known are {}; --format names one", fmt::join(names_of(import_formats()), ", ")));
}

}  // namespace hbench
