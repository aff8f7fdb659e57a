#pragma once

#include <cstddef>
#include <string>

#include "reports/document/document.hpp"

namespace hbench {

struct Format;

/// `document` in `format` within `most_bytes`: long tables and lists of warnings lose their last rows, and say how many
/// of how many are shown. Charts are left out, since their pictures are files beside a report. Only texts that are too
/// long by themselves (a verdict, say) can make it longer.
std::string render_within(std::size_t most_bytes, const Document& document, const Format& format);

/// The whole of `document` where that is within `most_bytes`, else `render_within`.
std::string render_fitting(std::size_t most_bytes, const Document& document, const Format& format);

}  // namespace hbench
