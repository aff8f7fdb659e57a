#include <gtest/gtest.h>

#include <set>

#include "analysis/store/uuid.hpp"

namespace hbench::store::store_uuid_test {
namespace {

TEST(Uuid, OfRandomBitsIsOfVersion4AndNeverTheSame) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) {
    const std::string uuid = random_uuid();
    EXPECT_TRUE(is_uuid(uuid)) << uuid;
    EXPECT_EQ(uuid[14], '4');
    EXPECT_NE(std::string("89ab").find(uuid[19]), std::string::npos) << "the variant of RFC 9562: " << uuid;
    seen.insert(uuid);
  }
  EXPECT_EQ(seen.size(), 1000u);
}

// FNV-1a of nothing is its offset basis cbf29ce484222325; the version replaces the 2 of 2325 and the variant's two bits
// stand first in the other half.
TEST(Uuid, OfContentsHasTheirDigestsAndTheVersion8) {
  EXPECT_EQ(uuid_of("").substr(0, 18), "cbf29ce4-8422-8325");
  EXPECT_EQ(uuid_of("some run"), uuid_of("some run"));
  EXPECT_NE(uuid_of("some run"), uuid_of("some ruN"));
  EXPECT_NE(uuid_of("some run").substr(19), uuid_of("some ruN").substr(19)) << "both digests tell them apart";
  EXPECT_TRUE(is_uuid(uuid_of("some run")));
}

TEST(Uuid, IsRecognised) {
  EXPECT_TRUE(is_uuid("01234567-89ab-4cde-8f01-23456789abcd"));
  for (const char* text : {"", "01234567-89ab-4cde-8f01-23456789abc", "01234567-89ab-4cde-8f01-23456789abcde",
                           "01234567-89AB-4cde-8f01-23456789abcd", "01234567089ab-4cde-8f01-23456789abcd",
                           "01234567-89ab-4cde-8f01-23456789abcg", "0123456-789ab-4cde-8f01-23456789abcd"})
    EXPECT_FALSE(is_uuid(text)) << text;
}

}  // namespace
}  // namespace hbench::store::store_uuid_test
