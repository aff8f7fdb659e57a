#include "analysis/records/evidence.hpp"

#include <string_view>
#include <vector>

#include "tests/support/matchers.hpp"

namespace hbench::evidence_test {
namespace {

/// The names of the kinds with a property, in the order of the table.
std::vector<std::string_view> kinds_that(bool (*property)(Evidence)) {
  std::vector<std::string_view> names;
  for (const EvidenceKind& kind : kEvidenceKinds)
    if (property(kind.evidence)) names.push_back(kind.name);
  return names;
}

TEST(KindsOfEvidence, HasARowForEachKindAtItsPlace) {
  for (std::size_t i = 0; i < std::size(kEvidenceKinds); ++i) {
    EXPECT_EQ(kEvidenceKinds[i].evidence, static_cast<Evidence>(i));
    EXPECT_EQ(&kind_of(static_cast<Evidence>(i)), &kEvidenceKinds[i]);
    EXPECT_EQ(parse_evidence(kEvidenceKinds[i].name), static_cast<Evidence>(i));
  }
}

TEST(KindsOfEvidence, HasTheProperties) {
  EXPECT_THAT(kinds_that(is_timed), ElementsAre("measured", "emulated"));
  EXPECT_THAT(kinds_that(is_of_cluster), ElementsAre("emulated", "simulated"));
  EXPECT_THAT(kinds_that(is_predicted), ElementsAre("simulated"));
  EXPECT_THAT(kinds_that(is_of_machine), ElementsAre("measured"));
  EXPECT_THAT(kinds_that(is_of_others), ElementsAre("published"));
}

}  // namespace
}  // namespace hbench::evidence_test
