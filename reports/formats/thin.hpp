#pragma once

/// What a page, a picture or a file for people can show of very many points and rows.

#include "reports/document/document.hpp"

namespace hbench {

/// The same document with at most as many points and rows as anybody can see: of each series the lowest and the highest
/// point of each of 200 stretches, of each chart the shown series and then the others up to 6,000 points (fewer of a
/// document with many charts), of each table the first 1,000 rows. Captions name what was left out, and where all of it
/// is. Idempotent.
/// \param document prepared with `drawable()`.
Document thinned(Document document);

}  // namespace hbench
