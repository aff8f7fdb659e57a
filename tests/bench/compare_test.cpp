// hbench compare: comparisons that are data, answered by simulation beside what was published.

#include "analysis/compare/compare.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "bench/launch/installation.hpp"
#include "collectives/base/file.hpp"
#include "collectives/base/table.hpp"
#include "reports/compare/comparison.hpp"
#include "reports/formats/formats.hpp"
#include "tests/bench/run_verb.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::compare_test {
namespace {

std::string compare_by(std::vector<std::string> arguments) {
  arguments.emplace_back("--quiet");
  return printed_by("compare", std::move(arguments));
}

/// The comparison that most tests ask, simulated once.
const ComparisonAnswer& horovod_or_servers() {
  static const ComparisonAnswer kAnswer = compare(find_comparison("horovod-tensorflow"), load_data());
  return kAnswer;
}

TEST(NetworkOf, BringsAllThatBelongsToANetworkAndNothingElse) {
  const Data data = load_data();
  const Profile nodes = data.profiles.load("azure-nd96asr-v4"), network = data.profiles.load("aws-p3dn-tcp");
  const Profile both = with_network_of(nodes, network);
  EXPECT_EQ(both.path_rate(), network.path_rate());
  EXPECT_EQ(both.node_rate(), network.node_rate());
  EXPECT_EQ(both.at(End::better).path_rate(), network.at(End::better).path_rate());
  EXPECT_EQ(both.at(End::worse).server_rate, network.at(End::worse).server_rate);
  EXPECT_EQ(both.network_latency, network.network_latency);
  EXPECT_EQ(both.network_low_latency, network.network_low_latency);
  EXPECT_EQ(both.uncertainty, std::max(nodes.uncertainty, network.uncertainty));
  EXPECT_EQ(both.local_rate, nodes.local_rate);
  EXPECT_EQ(both.memory_rate, nodes.memory_rate);
  EXPECT_EQ(both.gpus_per_node, nodes.gpus_per_node);
}

/// Every entry of the table, simulated.
class ReadyComparisons : public ::testing::TestWithParam<const ReadyComparison*> {};

TEST_P(ReadyComparisons, HaveAPointForEachWorkloadFrameworkPlaceAndCount) {
  const ReadyComparison& asked = *GetParam();
  const ComparisonAnswer answer = compare(asked, load_data());
  EXPECT_THAT(reasons(answer.refused), IsEmpty()) << "a comparison has no holes";
  std::set<std::string> places, labels;
  for (const ComparedPlace& place : asked.places) {
    labels.insert(std::string(place.label));
    const std::string rate = place.gbit_per_second > 0 ? fmt::format("{} Gbit/s", place.gbit_per_second) : "";
    EXPECT_THAT(std::string(place.label), StartsWith(rate));
  }
  EXPECT_EQ(labels.size(), asked.places.size());
  for (const Block& block : comparison_document(answer).blocks)
    if (const auto* table = std::get_if<Table>(&block); table != nullptr) {
      for (const auto& row : table->rows) EXPECT_EQ(row.size(), table->columns.size()) << table->caption;
    }
  std::set<std::tuple<std::string, std::string, std::string, int>> points;
  for (const Point& point : answer.points) {
    if (point.asked.evidence != Evidence::simulated) continue;
    places.insert(answer.labels.at(point.asked.profile));
    points.emplace(point.asked.profile, point.asked.workload, point.asked.strategy.preset, point.asked.gpus);
    ASSERT_TRUE(point.efficiency);
    EXPECT_LE(*point.efficiency_low, *point.efficiency);
    EXPECT_GE(*point.efficiency_high, *point.efficiency);
  }
  EXPECT_EQ(places, labels);
  const auto items = [](std::string_view list) { return 1 + std::ranges::count(list, ','); };
  EXPECT_GE(std::ssize(points),
            std::ssize(asked.places) * items(asked.workloads) * items(asked.presets) * items(asked.gpus));
  EXPECT_THAT(comparison_document(answer).title, HasSubstr(std::string(asked.summary)));
}

std::vector<const ReadyComparison*> all_comparisons() {
  std::vector<const ReadyComparison*> all;
  for (const ReadyComparison& each : ready_comparisons())
    if (all.empty() || !hbench::support::kSanitized) all.push_back(&each);
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, ReadyComparisons, ::testing::ValuesIn(all_comparisons()), [](const auto& each) {
  std::string name(each.param->name);
  std::erase(name, '-');
  return name;
});

// Horovod's documentation: 90 % for Inception V3 and 68 % for VGG-16 on 512 GPUs, 79 % for VGG-16 on 128 (in
// analysis/published/published.csv with their sources).
TEST(CompareVerb, ShowsPublishedClaimsBesideTheSimulationOfTheSame) {
  const auto json = nlohmann::json::parse(comparison_json(horovod_or_servers()));
  const auto point = [&](const char* evidence, const char* workload, const char* framework, int gpus) {
    for (const auto& each : json.at("points"))
      if (each.at("evidence") == evidence && each.at("workload") == workload && each.at("framework") == framework &&
          each.at("gpus") == gpus && each.at("where") == "25 Gbit/s RDMA")
        return each;
    ADD_FAILURE() << evidence << ' ' << workload << ' ' << framework << ' ' << gpus;
    return nlohmann::json();
  };
  const std::vector<std::tuple<const char*, int, double>> claims{
      {"inception_v3", 512, 0.9}, {"vgg16", 512, 0.68}, {"vgg16", 128, 0.79}};
  for (const auto& [workload, gpus, efficiency] : claims) {
    EXPECT_NEAR(point("published", workload, "horovod-2018", gpus).at("efficiency").get<double>(), efficiency, 1e-9);
    const auto simulated = point("simulated", workload, "horovod-2018", gpus);
    EXPECT_LE(simulated.at("efficiency_low"), efficiency);
    EXPECT_GE(simulated.at("efficiency_high"), efficiency);
  }
  EXPECT_LT(point("simulated", "vgg16", "tf-ps", 512).at("efficiency_high"),
            point("simulated", "vgg16", "horovod-2018", 512).at("efficiency_low"));
}

// As the built-in table says of these rows, and their profiles of themselves.
TEST(CompareVerb, KnowsThatFiguresOfItsProfilesWereChosenWithWhatWasPublished) {
  const std::vector<Comparison> pairs = compare_with_published(horovod_or_servers().points);
  EXPECT_GT(pairs.size(), 13u);
  for (const Comparison& pair : pairs) EXPECT_EQ(pair.chosen, pair.published.asked.gpus == 512 ? "profile" : "range");
}

TEST(CompareVerb, PrintsTheAnswerAndWritesAPage) {
  EXPECT_THAT(kTextFormat.render(comparison_document(horovod_or_servers())),
              AllOf(HasSubstr("Simulated efficiency on 512 GPUs, best and worst"), HasSubstr("tf-ps"),
                    HasSubstr("What was published, beside the simulation")));
  const TemporaryFolder folder;
  const std::string file = (folder / "page.html").string();
  EXPECT_EQ(compare_by({"v100-25-100", "--out", file}), file + "\n");
  EXPECT_THAT(read_file(file), HasSubstr("p3dn.24xlarge, 100 Gbit/s, byteps"));
}

TEST(CompareVerb, MeasuresOnlyWhatCanBeAndIsToldSo) {
  expect_refused("compare", {"v100-25-100", "--measured"}, "v100-25-100 is simulated alone",
                 "leave out --measured; hbench compare horovod-tensorflow --measured measures frameworks");
  expect_refused("compare", {"horovod-tensorflow", "--gpus", "4"},
                 "--gpus says how frameworks are measured, and nothing is", "add --measured, or leave it out");
}

TEST(CompareVerb, SuggestsTheNearestName) {
  expect_refused("compare", {"v100-25-10"}, "no comparison 'v100-25-10'; did you mean 'v100-25-100'?",
                 HasSubstr("v100-25-100"));
  EXPECT_THAT(compare_by({}), HasSubstr("ethernet-infiniband"));
}

}  // namespace
}  // namespace hbench::compare_test
