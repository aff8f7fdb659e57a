#pragma once

/// Documents to render: a small one for golden files, a rich one to look at, a hostile one.

#include <string>

#include "reports/document/document.hpp"

namespace hbench {

/// Few points of every mark, each kind of block once.
Document small_document();

/// Four workloads, strategies and networks: as much as a real report holds. Figures come from a toy formula.
Document rich_document();

/// `text` in every place of a document that takes text.
Document document_saying(const std::string& text);

}  // namespace hbench
