#include "reports/track/imported.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "collectives/base/text.hpp"
#include "reports/formats/plain_text.hpp"

namespace hbench {

std::string import_text(const ImportedRun& imported, std::int64_t run, bool is_new, const std::string& database) {
  std::string text;
  const std::string what = counted(static_cast<std::int64_t>(imported.files), "file");
  if (!is_new) {
    text = fmt::format("{}: {} {} there already, as run {}\n", clean_text(database), what,
                       imported.files == 1 ? "is" : "are", run);
  } else {
    const auto failed =
        static_cast<std::size_t>(std::ranges::count(imported.cases, CaseStatus::failed, &CaseResult::status));
    text = fmt::format("{}: run {} of {}: {}{}, from {} of {}\n", clean_text(database), run, imported.run.started_at,
                       counted(std::ssize(imported.cases), "case"),
                       failed > 0 ? fmt::format(" ({} failed)", failed) : "", what, fmt::join(imported.formats, ", "));
  }
  for (const CaseResult& each : imported.cases)
    if (each.status == CaseStatus::failed) text += fmt::format("failed: {}\n", clean_text(each.failure));
  for (const std::string& left : imported.left_out) text += fmt::format("left out: {}\n", clean_text(left));
  for (const std::string& note : imported.notes) text += fmt::format("note: {}\n", clean_text(note));
  return text;
}

}  // namespace hbench
