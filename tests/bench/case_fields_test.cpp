// What every field of a case goes through, by the list of fields: a new one is tested at once.

#include "analysis/records/case_fields.hpp"

#include <nlohmann/json.hpp>

#include "analysis/store/store.hpp"
#include "bench/output/points.hpp"
#include "bench/worker/protocol.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::case_fields_test {
namespace {

class AFieldOfACase : public testing::TestWithParam<CaseField> {
 protected:
  /// Answers to one question at one place, but for the field.
  static Case with(bool other) {
    Case asked;
    asked.evidence = Evidence::simulated;
    asked.workload = "resnet50";
    if (!other) return asked;
    FieldValue value = GetParam().get(asked);
    if (auto* text = std::get_if<std::string>(&value))
      *text = GetParam().name == "evidence" ? "published" : "a;b\n\"c\"";
    if (auto* whole = std::get_if<std::int64_t>(&value)) *whole += 7;
    if (auto* real = std::get_if<double>(&value)) *real += 0.1;
    if (auto* choice = std::get_if<bool>(&value)) *choice = !*choice;
    GetParam().set(asked, value);
    return asked;
  }
  static FieldValue value_in(const Case& asked) { return GetParam().get(asked); }
};

TEST_P(AFieldOfACase, IsReadFromTheStoreAsItWasWritten) {
  const TemporaryFolder folder;
  Store store(folder / "x.db");
  store.append(store.begin_run({.started_at = "2026-11-26T09:00:00Z"}), CaseResult{.asked = with(true)});
  ASSERT_EQ(store.results().size(), 1U);
  EXPECT_EQ(value_in(store.results().front().asked), value_in(with(true)));
}

TEST_P(AFieldOfACase, IsExported) {
  const nlohmann::json points = nlohmann::json::parse(points_json({Point{.asked = with(true)}}));
  std::visit([&](const auto& value) { EXPECT_EQ(points.at(0).at(std::string(GetParam().name)), value); },
             value_in(with(true)));
  EXPECT_THAT(points_csv({Point{.asked = with(true)}}), HasSubstr(std::string(GetParam().name)));
}

TEST_P(AFieldOfACase, ReachesTheRanks) {
  WorkOrder order;
  order.asked = with(true);
  EXPECT_EQ(value_in(parse_work_order(to_json(order)).asked), value_in(order.asked));
}

TEST_P(AFieldOfACase, KeepsAnswersApartAsItsPartSays) {
  const Case one = with(false), other = with(true);
  const Part part = GetParam().part;
  EXPECT_EQ(one.question() != other.question(), part == Part::work || part == Part::way);
  EXPECT_EQ(one.place() != other.place(), part == Part::place || part == Part::origin);
  EXPECT_EQ(one.baseline().question() != other.baseline().question(), part == Part::work);
  EXPECT_NE(answer_key(one, {}), answer_key(other, {}));
}

INSTANTIATE_TEST_SUITE_P(All, AFieldOfACase, testing::ValuesIn(case_fields().begin(), case_fields().end()),
                         [](const auto& field) { return std::string(field.param.name); });

}  // namespace
}  // namespace hbench::case_fields_test
