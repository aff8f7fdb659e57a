// A flat algorithm on many GPUs beside what a library would run in its place.

#include <gtest/gtest.h>

#include "collectives/base/text.hpp"
#include "tests/reports/scaling_points.hpp"

namespace hbench::flat_warning_test {
namespace {

std::vector<std::string> warnings_on(const Point& point) {
  std::vector<std::string> all;
  for (const Warnings& block : all_of<Warnings>(report_on({point})))
    for (const std::string& text : block.texts) all.push_back(plain(text));
  return all;
}

TEST(FlatWarning, NamesTheAlgorithmAndWhatWouldBeClearlyFaster) {
  Point point = simulated("vgg16", "slow", 1024, kRings, 0.5);
  struct {
    const char* why;
    double share;  ///< of the step that is left
    std::vector<std::string> warnings;
  } const rows[] = {{"clearly faster",
                     0.6,
                     {"VGG-16, ring on 1024 GPUs: one ring over all 1,024 GPUs is at fault: the GPUs' library "
                      "would choose better, and keep 83 % of ideal speed (--algorithm vendor)"}},
                    {"within what simulations may be off", 0.9, {}},
                    {"slower", 1.5, {}},
                    {"damaged", 0, {}}};
  for (const auto& row : rows) {
    point.by_library = row.share * point.step_seconds;
    EXPECT_EQ(warnings_on(point), row.warnings) << row.why;
  }
  point.by_library = 0;
  EXPECT_EQ(warnings_on(point), std::vector<std::string>()) << "nobody asked";
}

TEST(WithCommas, AreBetweenThousands) {
  for (const auto& [number, text] : std::vector<std::pair<std::int64_t, std::string>>{
           {0, "0"}, {999, "999"}, {1024, "1,024"}, {11'585, "11,585"}, {1'000'000, "1,000,000"}})
    EXPECT_EQ(with_commas(number), text);
}

}  // namespace
}  // namespace hbench::flat_warning_test
