#pragma once

/// Seeded damage for parsers: whatever comes out, a parser accepts it or throws an Error of one line.

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>

#include "collectives/base/error.hpp"

namespace hbench::support {

/// `text` with one to four bytes changed, inserted, or runs removed or repeated.
inline std::string mutated(std::string text, std::mt19937& random) {
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  static constexpr std::string_view kLikely = "0123456789-.eEinfa[]{}\"'=,#_\n\\ +:/u\x00\x7f\xff";
  for (std::size_t changes = 1 + below(4); changes > 0 && !text.empty(); --changes) {
    const std::size_t at = below(text.size());
    const std::size_t length = std::min(text.size() - at, 1 + below(24));
    switch (below(5)) {
      case 0:
        text[at] = static_cast<char>(below(256));
        break;
      case 1:
        text[at] = kLikely[below(kLikely.size())];
        break;
      case 2:
        text.insert(at, 1, kLikely[below(kLikely.size())]);
        break;
      case 3:
        text.erase(at, length);
        break;
      default:
        text.insert(below(text.size()), text.substr(at, length));
    }
  }
  return text;
}

/// Runs `parse` on `count` mutants of `text`. Errors must be the user's, of one line, and name a file.
template <class Parse>
void survive_mutations(const std::string& text, int count, unsigned seed, Parse parse) {
  std::mt19937 random(seed);
  int accepted = 0;
  for (int i = 0; i < count; ++i) {
    const std::string mutant = mutated(text, random);
    try {
      parse(mutant);
      ++accepted;
    } catch (const Error& error) {
      const std::string_view what = error.what();
      ASSERT_EQ(error.code(), ExitCode::usage) << what;
      ASSERT_EQ(what.find('\n'), std::string_view::npos) << what;
      ASSERT_NE(what.find(".toml"), std::string_view::npos) << what;
    }
  }
  EXPECT_GT(accepted, 0);  // otherwise the damage is too great to test much
  EXPECT_LT(accepted, count);
}

}  // namespace hbench::support
