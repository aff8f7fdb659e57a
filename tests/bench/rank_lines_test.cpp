#include "bench/launch/job_outcome.hpp"

#include <string>
#include <vector>

#include "tests/support/matchers.hpp"

namespace hbench::rank_lines_test {
namespace {

std::vector<std::string> whole_lines(const std::vector<std::string>& written) {
  std::vector<std::string> lines;
  RankLines ranks([&](std::string_view line) { lines.emplace_back(line); });
  for (const std::string& text : written) ranks.add(text);
  return lines;
}

TEST(RankLines, WithoutTagsPassAsTheyAre) {
  EXPECT_THAT(whole_lines({"{\"hello\":1}", "", "a [1] list", "[1,2]<stdnull>:x", "[,2]<stdout>:", "[1,]<stdout>:"}),
              ElementsAre("{\"hello\":1}", "", "a [1] list", "[1,2]<stdnull>:x", "[,2]<stdout>:", "[1,]<stdout>:"));
}

TEST(RankLines, LoseTheirTags) {
  EXPECT_THAT(whole_lines({"[1,0]<stdout>:first", "[12345,17]<stdout>:", "[1,0]<stdout>:[1,2]"}),
              ElementsAre("first", "", "[1,2]"));
}

TEST(RankLines, AreJoinedWhereOthersCameBetweenTheirPieces) {
  EXPECT_THAT(whole_lines({"[1,0]<stdout>:one [1,3]<stdout>:done 3",
                           "[1,0]<stdout>:two [1,0]<stdout>:three "
                           "[1,12]<stdout>:twelve [1,1]<stdout>:done 1",
                           "[1,12]<stdout>:done 12", "[1,0]<stdout>:four"}),
              ElementsAre("done 3", "done 1", "twelve done 12", "one two three four"));
}

TEST(RankLines, AreNotMixedWithWhatTheLauncherSaysInFrontOfThem) {
  EXPECT_THAT(whole_lines({"a warning[1,1]<stdout>:done"}), ElementsAre("a warning", "done"));
}

TEST(WithoutRankTags, LeavesAllElse) {
  EXPECT_EQ(without_rank_tags("[1,0]<stderr>:no such file\n[1,10]<stderr>:[a] b\n[1,2]<stddiag>:c"),
            "no such file\n[a] b\nc");
  EXPECT_EQ(without_rank_tags("[n1:12] plain"), "[n1:12] plain");
  EXPECT_EQ(without_rank_tags(""), "");
}

}  // namespace
}  // namespace hbench::rank_lines_test
