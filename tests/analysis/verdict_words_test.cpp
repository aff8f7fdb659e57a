// The verdicts of all verbs are few, and the guide has each of them.

#include <gmock/gmock.h>

#include <set>
#include <sstream>
#include <stdexcept>

#include "analysis/choose/choice.hpp"
#include "analysis/expect/expectation.hpp"
#include "analysis/points/lead.hpp"
#include "analysis/track/judge.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/file.hpp"
#include "collectives/base/text.hpp"

namespace hbench::verdict_words_test {
namespace {

/// Adds the words of an enumeration: all that its table has.
template <class Enumeration>
void add(std::set<std::string>& words) {
  for (int i = 0;; ++i) try {
      words.emplace(to_string(static_cast<Enumeration>(i)));
    } catch (const std::out_of_range&) {
      return;
    }
}

std::set<std::string> words_of_the_guide() {
  const std::string page = read_file(HBENCH_SOURCE_DIR "/bench/guide/glossary.md");
  std::set<std::string> words;
  for (const std::string_view line : lines_of(std::string_view(page).substr(page.find("\n| verdict |") + 1))) {
    std::istringstream cell{std::string(line.substr(1, line.find(" |", 1) - 1))};
    for (std::string word; cell >> word;) words.insert(word.substr(0, word.find(',')));
  }
  words.erase("verdict");
  words.erase("---|---|---|");
  return words;
}

TEST(VerdictWords, AreThoseOfTheGlossaryAndSixteenAtMost) {
  std::set<std::string> words;
  add<LeadVerdict>(words);
  add<Certainty>(words);
  add<Normality>(words);
  add<TrackVerdict>(words);
  add<Severity>(words);
  EXPECT_EQ(words, words_of_the_guide());
  EXPECT_LE(words.size(), 16U);
}

}  // namespace
}  // namespace hbench::verdict_words_test
