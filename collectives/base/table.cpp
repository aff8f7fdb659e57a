#include "collectives/base/table.hpp"

#include <fmt/format.h>

#include <cctype>
#include <numeric>

namespace hbench {
namespace {

/// Levenshtein distance without regard to case.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same =
          std::tolower(static_cast<unsigned char>(a[i - 1])) == std::tolower(static_cast<unsigned char>(b[j - 1]));
      const std::size_t substituted = diagonal + (same ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_name(std::string_view word, std::span<const std::string_view> known) {
  std::string_view best;
  // More than a third of the letters wrong is another word, not a slip.
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (std::string_view name : known) {
    const bool beginning = word.size() >= 3 && name.starts_with(word);
    const std::size_t distance = beginning ? 1 : edit_distance(word, name);
    if (distance < best_distance && distance < std::max(word.size(), name.size())) {
      best = name;
      best_distance = distance;
    }
  }
  return std::string(best);
}

Error unknown_name(std::string_view what, std::string_view word, std::span<const std::string_view> known,
                   std::string_view listing) {
  constexpr std::size_t kMostNamed = 40, kNearest = 6;
  const std::string meant = nearest_name(word, known);
  std::string message = fmt::format("no {} '{}'", what, word);
  if (!meant.empty()) message += fmt::format("; did you mean '{}'?", meant);
  if (known.size() <= kMostNamed || listing.empty())
    return Error(ExitCode::usage, message, fmt::format("known: {}", fmt::join(known, ", ")));
  std::vector<std::string_view> near(known.begin(), known.end());
  std::ranges::stable_sort(near, {}, [&](std::string_view name) { return edit_distance(word, name); });
  near.resize(kNearest);
  return Error(ExitCode::usage, message,
               fmt::format("known: {} and {} more ({})", fmt::join(near, ", "), known.size() - kNearest, listing));
}

}  // namespace hbench
