// A band that is mostly one thing that the user knows: the figure with and without it.

#include <gtest/gtest.h>

#include <cmath>

#include "analysis/points/points.hpp"
#include "analysis/points/unknowns.hpp"

namespace hbench::narrowed_test {
namespace {

using enum UnknownKind;

TEST(Narrowed, IsABandThatIsWideAndMostlyWhatItsUserKnows) {
  struct {
    const char* why;
    std::vector<Unknown> unknowns;
    std::optional<UnknownKind> kind;
  } const rows[] = {
      {"input makes most", {{links, 0.06, 0}, {input, 0.5, 0}, {source, 0.08, 0.08}}, input},
      {"the framework does", {{input, 0.3, 0}, {framework, 0.9, 0}, {source, 0.08, 0.08}}, framework},
      {"the compressor does", {{compressor, 0.9, 0}, {source, 0.08, 0.08}}, compressor},
      {"the network is the cluster's", {{network, 0.9, 0}, {source, 0.08, 0.08}}, std::nullopt},
      {"precision too", {{precision, 0.9, 0}, {source, 0.08, 0.08}}, std::nullopt},
      {"two make half each", {{input, 0.5, 0}, {framework, 0.45, 0}, {source, 0.08, 0.08}}, std::nullopt},
      {"the other side is wide", {{input, 0.5, 0}, {network, 0, 0.5}, {source, 0.08, 0.08}}, std::nullopt},
      {"it is narrow", {{input, 0.25, 0}, {source, 0.01, 0.01}}, std::nullopt},
      {"there is nothing else", {{input, 0.5, 0}}, input},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.why);
    for (const bool loses : {false, true}) {
      const ScheduledStep scheduled{.step = 0.1, .alone = 0.01, .loses = loses};
      const auto narrowed = scheduled.narrowed(row.unknowns);
      ASSERT_EQ(narrowed.has_value(), row.kind.has_value());
      if (!narrowed) continue;
      EXPECT_EQ(narrowed->kind, *row.kind);
      std::vector<Unknown> others = row.unknowns;
      std::erase_if(others, [&](const Unknown& each) { return each.kind == *row.kind; });
      const Band band = scheduled.band(others);
      EXPECT_EQ(narrowed->band.low, band.low) << "by the rule of the whole band";
      EXPECT_EQ(narrowed->band.stated, band.stated);
      EXPECT_EQ(narrowed->band.high, band.high);
      EXPECT_LE(narrowed->band.stated, scheduled.band(row.unknowns).stated);
    }
  }
}

TEST(Narrowed, IsNoBandBelowWhatOneGpuTakes) {
  const Band band = ScheduledStep{.step = 0.1, .alone = 0.09}.band({{source, 0.5, 0.5}});
  EXPECT_EQ(band.low, 0.09);
  EXPECT_EQ(band.stated, 0.1);
  EXPECT_DOUBLE_EQ(band.high, 0.1 * std::exp(0.5));
}

TEST(Narrowed, SaysItsConditionAndTheFarEndWithoutIt) {
  for (const UnknownKind kind : kUnknownKinds) {
    const std::string_view condition = kind == input        ? "input keeps up"
                                       : kind == framework  ? "the framework keeps up"
                                       : kind == compressor ? "the compressor costs nothing"
                                                            : "";
    EXPECT_EQ(Narrowed{.kind = kind}.condition(), condition) << name_of(kind);
  }
  EXPECT_EQ(Narrowed{.kind = input}.in_words("38 %"), " if input keeps up, else down to 38 %");
}

/// A step of 0.1 s, of which one GPU takes 0.09 alone.
CaseResult result_with(std::vector<std::pair<std::string, double>> samples) {
  CaseResult result;
  result.asked.workload = "resnet50";
  result.asked.gpus = 8;
  result.asked.batch_per_gpu = 90;
  result.asked.strategy = {.algorithm = "ring"};
  samples.insert(samples.end(), {{"step_seconds", 0.1},
                                 {"step_seconds_low", 0.09},
                                 {"step_seconds_high", 0.2},
                                 {"unknown/input", 0.6},
                                 {"unknown/source", 0.08},
                                 {"baseline_throughput", 1000}});
  for (const auto& [metric, value] : samples)
    result.samples.push_back({.metric = metric, .value = value, .unit = metric.ends_with("put") ? "1" : "s"});
  return result;
}

TEST(Narrowed, IsReadFromASimulatedStepWhereAllOfItIsThere) {
  const CaseResult whole =
      result_with({{"narrowed/input/low", 0.09}, {"narrowed/input/stated", 0.096}, {"narrowed/input/high", 0.12}});
  const Point point = make_points({whole}).front();
  ASSERT_TRUE(point.narrowed);
  EXPECT_EQ(point.narrowed->kind, input);
  EXPECT_DOUBLE_EQ(point.narrowed->band.low, 0.75);
  EXPECT_DOUBLE_EQ(point.narrowed->band.stated, 0.9375);
  EXPECT_DOUBLE_EQ(point.narrowed->band.high, 1);
  EXPECT_DOUBLE_EQ(*point.efficiency_low, 0.45) << "the band with it stays";
  for (const CaseResult& part :
       {result_with({}), result_with({{"narrowed/input/low", 0.09}, {"narrowed/input/high", 0.12}}),
        result_with({{"narrowed/input/low", 0}, {"narrowed/input/stated", 0}, {"narrowed/input/high", 0}})})
    EXPECT_FALSE(make_points({part}).front().narrowed) << "of an older hbench, or damaged";
}

}  // namespace
}  // namespace hbench::narrowed_test
