#pragma once

/// A number that a program prints in words of its own: `epoch 3: 812.4 images/s`. Pure.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/import/format.hpp"
#include "analysis/import/words.hpp"

namespace re2 {
class RE2;
}

namespace hbench {

/// Which number counts where a text has several: none, so that the text is refused; the last one; or all, as iterations
/// of one launch, of which the median counts.
enum class TakeNumbers : std::uint8_t { only, last, median };

/// What is asked of a pattern, as people write it.
struct NumberPatternRequest {
  std::string name;  ///< of the benchmark that the number is of
  /// Of RE2; its first group is the number, a second one the unit. It is of one line, but where it has (?s) or a \n.
  std::string expression;
  std::string unit = {};                   ///< `ms`, `images/s`, `MiB`; empty where the second group has it
  std::optional<BetterValue> better = {};  ///< none: of times the lower one, of rates (`.../s`) the higher one
  TakeNumbers take = TakeNumbers::only;
};

/// A match of an expression of RE2, and its groups.
using TextMatch = std::vector<std::string_view>;

class NumberPattern {
 public:
  /// \throws Error (usage) for an expression that is none, is too long or has another number of groups, for a unit that
  /// is missing or stands in both places, and where nothing says which value is better.
  explicit NumberPattern(NumberPatternRequest request);

  /// Returns the one case of a text, with its numbers as samples of launch 0. \throws Error (usage) that names the text
  /// as `file_name`: for no number, several where one is taken, a piece of a number, what is not above 0, and a unit
  /// that is none.
  ImportedOutput read(std::string_view text, std::string_view file_name) const;

 private:
  struct Found;
  std::vector<Found> find(std::string_view text) const;
  static void add_headings(std::vector<Found>& found);
  std::string_view whole_number(std::string_view text, const TextMatch& match, const std::string& unit) const;

  NumberPatternRequest request_;
  std::shared_ptr<const re2::RE2> regex_;
};

/// The first `most` places of a text where an expression stands.
std::vector<TextMatch> matches_of(std::string_view expression, std::string_view text,
                                  std::size_t most = std::string_view::npos);

}  // namespace hbench
