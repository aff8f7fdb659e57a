#include <fmt/format.h>

#include "reports/rows/fields.hpp"
#include "tests/support/json_schema.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::rows_test {
namespace {

struct Ends {
  double low = 0, stated = 0, high = 0;
};

struct Step {
  std::string name;
  std::optional<double> seconds;
  std::vector<Ends> bands;
};

void step_fields(Row& row, const Step& step) {
  row.field("name", step.name).in("step");
  row.field("seconds", step.seconds, "as measured")
      .in(
          "time", [](double s) { return fmt::format("{} s", s); }, 2, "lost");
  row.number("bands", std::to_string(step.bands.size()));
  row.rows("bands", step.bands, band_fields<Ends>);
  row.may_lack(step.bands.empty());
}

TEST(Rows, GiveJsonSchemaTableAndCsvOfOneDescription) {
  const std::vector<Step> steps{{"a,b", 1.5, {{1, 2, 3}}}, {"=c", std::nullopt, {}}};
  const std::string json = rows_text(Form::values, "", steps, step_fields);
  EXPECT_EQ(nlohmann::json::parse(json),
            nlohmann::json::parse(R"([{"name": "a,b", "seconds": 1.5, "bands": [{"low": 1, "stated": 2, "high": 3}]},
                                      {"name": "=c", "seconds": null}])"));
  const std::string schema = rows_text(Form::schema, "steps", std::vector<Step>(), step_fields);
  EXPECT_EQ(broken_by(json, schema), "");
  EXPECT_EQ(broken_by(R"([{"name": 3, "seconds": 1}])", schema), R"($[0].name: 3 breaks type "string")");
  EXPECT_EQ(broken_by(R"([{"name": "a"}])", schema), R"($[0] lacks "seconds")");
  EXPECT_EQ(broken_by(R"([{"name": "a", "seconds": null, "late": 1}])", schema), "$[0].late is in no schema");
  const Table table = table_of(steps, step_fields, {.caption = "Steps"});
  EXPECT_THAT(titles_of(table), ElementsAre("step", "time", "bands"));
  EXPECT_THAT(table.columns,
              ElementsAre(testing::Field(&TableColumn::numeric, false), testing::Field(&TableColumn::numeric, true),
                          testing::Field(&TableColumn::numeric, true)));
  EXPECT_THAT(table.columns,
              ElementsAre(testing::Field(&TableColumn::priority, 0), testing::Field(&TableColumn::priority, 2),
                          testing::Field(&TableColumn::priority, 0)));
  EXPECT_THAT(table.rows, ElementsAre(ElementsAre("a,b", "1.5 s", "1"), ElementsAre("=c", "lost", "0")));
  EXPECT_EQ(csv_lines({json_of(Form::values, steps[1], step_fields)}), "name,seconds\n\"'=c\",\n");
}

}  // namespace
}  // namespace hbench::rows_test
