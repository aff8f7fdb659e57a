#include "reports/import/imported.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "collectives/base/text.hpp"
#include "reports/formats/plain_text.hpp"

namespace hbench {

std::vector<std::string> left_out_lines(const std::vector<std::string>& left_out) {
  constexpr std::size_t kShown = 10;
  std::vector<std::string> lines;
  for (const std::string& what : left_out)
    if (lines.size() < kShown) lines.push_back("left out: " + clean_text(what));
  if (left_out.size() > kShown) lines.push_back(fmt::format("left out: and {} more", left_out.size() - kShown));
  return lines;
}

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
  for (const std::string& line : left_out_lines(imported.left_out)) text += line + '\n';
  for (const std::string& note : imported.notes) text += fmt::format("note: {}\n", clean_text(note));
  return text;
}

}  // namespace hbench
