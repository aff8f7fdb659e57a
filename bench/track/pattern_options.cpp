#include "bench/track/pattern_options.hpp"

#include <fmt/format.h>

#include "bench/command/shell_word.hpp"

namespace hbench {
namespace {

constexpr const char *kOnly = "only", *kLast = "last", *kMedian = "median", *kLower = "lower", *kHigher = "higher";

}  // namespace

void PatternOptions::add_options(Arguments& app) {
  Option* pattern = app.add_option("--pattern", expression,
                                   "a regular expression whose first group is the number that counts, a second one its "
                                   "unit");
  app.add_option("--unit", unit, "of that number: ms, images/s, MiB")->needs(pattern);
  app.add_option("--better", better, "which numbers are better (default: lower times, higher rates)",
                 one_of({kLower, kHigher}))
      ->needs(pattern);
  app.add_option("--take", take, "which number counts where there are several: the only one, the last, the median",
                 one_of({kOnly, kLast, kMedian}))
      ->needs(pattern);
}

std::shared_ptr<const NumberPattern> PatternOptions::pattern(const std::string& name) const {
  if (expression.empty()) return nullptr;
  NumberPatternRequest request{.name = name, .expression = expression, .unit = unit};
  if (!better.empty()) request.better = better == kHigher ? BetterValue::higher : BetterValue::lower;
  if (take != kOnly) request.take = take == kLast ? TakeNumbers::last : TakeNumbers::median;
  return std::make_shared<const NumberPattern>(std::move(request));
}

std::string PatternOptions::in_shell() const {
  if (expression.empty()) return "";
  std::string text = fmt::format(" --pattern {}", shell_word(expression));
  if (!unit.empty()) text += fmt::format(" --unit {}", shell_word(unit));
  if (!better.empty()) text += fmt::format(" --better {}", better);
  if (take != kOnly) text += fmt::format(" --take {}", take);
  return text;
}

}  // namespace hbench
