#include "reports/formats/formats.hpp"

#include <array>

#include "collectives/base/table.hpp"

namespace hbench {
namespace {

constexpr std::array<const Format*, 4> kFormats{&kTextFormat, &kMarkdownFormat, &kHtmlFormat, &kCsvFormat};

}  // namespace

std::span<const Format* const> formats() { return kFormats; }

const Format& find_format(std::string_view name) { return find_entry(formats(), name, "format"); }

}  // namespace hbench
