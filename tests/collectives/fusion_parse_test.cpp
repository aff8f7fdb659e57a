#include <gtest/gtest.h>

#include <random>

#include "collectives/fusion/fusion.hpp"
#include "tests/support/expect_error.hpp"

namespace hbench::fusion_parse_test {
namespace {

TEST(ParseFusion, FillsInDefaultsAndKeepsTheNameOfTheRow) {
  EXPECT_EQ(parse_fusion("none").text(), "none");
  EXPECT_EQ(parse_fusion("threshold").text(), "threshold:25MiB");
  EXPECT_EQ(parse_fusion("horovod").text(), "horovod:128MiB:1ms");
  EXPECT_EQ(parse_fusion("horovod:64MiB").text(), "horovod:64MiB:1ms");
  EXPECT_EQ(parse_fusion("horovod-2018").text(), "horovod-2018:64MiB:5ms");
  EXPECT_EQ(parse_fusion("horovod-2018:1GiB").text(), "horovod-2018:1GiB:5ms");
  EXPECT_EQ(parse_fusion("ddp").text(), "ddp:25MiB:1MiB");
  EXPECT_EQ(parse_fusion("byteps").text(), "byteps:4000KiB:20000KiB");
  EXPECT_EQ(parse_fusion("mg-wfbp").text(), "mg-wfbp:523us:9334Mbit/s");
  EXPECT_EQ(parse_fusion("mg-wfbp:1ms").text(), "mg-wfbp:1ms:9334Mbit/s");
}

TEST(ParseFusion, WritesEqualChoicesAlike) {
  for (const char* text : {"horovod:64MiB:5ms", "horovod:65536KiB:5000us", "horovod: 67108864 B : 0.005 s"})
    EXPECT_EQ(parse_fusion(text).text(), "horovod:64MiB:5ms") << text;
  EXPECT_EQ(parse_fusion("byteps:4096000B:20480kB").text(), "byteps:4000KiB:20000KiB");
  EXPECT_EQ(parse_fusion("mg-wfbp:0.5ms:1.25 GB/s").text(), "mg-wfbp:500us:10Gbit/s");
}

TEST(ParseFusion, KeepsEveryDigit) {
  EXPECT_EQ(parse_fusion("horovod:64MB:3.5ms").text(), "horovod:62500KiB:3500us");
  EXPECT_EQ(parse_fusion("horovod:1000001B:123456789ns").text(), "horovod:1000001B:123456789ns");
  EXPECT_EQ(parse_fusion("horovod:0.1MiB:1.0000004us").text(), "horovod:104858B:1us");  // whole bytes, whole ns
}

TEST(ParseFusion, DefaultsAreCanonical) {
  for (const Fusion* fusion : fusions()) {
    EXPECT_EQ(parse_fusion(fusion->name).parameters, fusion->defaults) << fusion->name;
    EXPECT_EQ(parse_fusion(fusion->name).fusion, fusion);
  }
}

TEST(ParseFusion, ShortensAlikeNeighboursOfRecordedBuckets) {
  EXPECT_EQ(parse_fusion("recorded:2-15-15-15-1").text(), "recorded:2-3x15-1");
  EXPECT_EQ(parse_fusion("recorded:2x15-15").text(), "recorded:3x15");
  EXPECT_EQ(parse_fusion("recorded").text(), "recorded");
}

TEST(ParseFusion, RefusesRecordedBucketsThatAreNoNumbersOfTensors) {
  for (const char* text : {"recorded:0", "recorded:2-", "recorded:-2", "recorded:2--3", "recorded:2.5", "recorded:0x3",
                           "recorded:3x", "recorded:9999999x1", "recorded:two"})
    EXPECT_THROW(parse_fusion(text), Error) << text;
}

TEST(ParseFusion, GivesValuesInBytesAndSeconds) {
  const Fusion& horovod = *parse_fusion("horovod").fusion;
  EXPECT_EQ(read_parameters(horovod, "1KiB:5ms"), (std::vector<double>{1024, 0.005}));
  EXPECT_EQ(read_parameters(horovod, ""), (std::vector<double>{134217728, 0.001}));
  EXPECT_EQ(read_parameters(*parse_fusion("mg-wfbp").fusion, "1ms:8kbit/s"), (std::vector<double>{0.001, 1000}));
}

TEST(ParseFusion, NamesTheFieldAndTheRightForm) {
  const char* form = "write horovod:threshold:cycle, such as horovod:128MiB:1ms";
  expect_usage_error([] { parse_fusion("horovod:64MiB:5"); },
                     "cycle of fusion policy 'horovod': invalid duration '5': it has no unit; expected a number and s, "
                     "ms, us, ns or min",
                     form);
  expect_usage_error([] { parse_fusion("horovod:64:5ms"); },
                     "threshold of fusion policy 'horovod': invalid size '64': it has no unit; expected a number and "
                     "B, KiB, MiB, GiB, kB, MB or GB",
                     form);
  expect_usage_error(
      [] { parse_fusion("horovod:5ms"); },
      "threshold of fusion policy 'horovod': invalid size '5ms': expected a number and B, KiB, MiB, GiB, kB, MB or GB",
      form);
  expect_usage_error([] { parse_fusion("horovod::5ms"); }, "a parameter of fusion policy 'horovod' is empty in ':5ms'",
                     form);
  expect_usage_error([] { parse_fusion("horovod:64MiB:0ms"); },
                     "cycle of fusion policy 'horovod': '0ms' is out of range", form);
  expect_usage_error([] { parse_fusion("horovod:-1MiB"); },
                     "threshold of fusion policy 'horovod': '-1MiB' is out of range", form);
  expect_usage_error([] { parse_fusion("ddp:25MiB:1e300GiB"); },
                     "first of fusion policy 'ddp': '1e300GiB' is out of range",
                     "write ddp:bucket:first, such as ddp:25MiB:1MiB");
  const char* merging = "write mg-wfbp:startup:bandwidth, such as mg-wfbp:523us:9334Mbit/s";
  expect_usage_error([] { parse_fusion("mg-wfbp:1ms:5ms"); },
                     "bandwidth of fusion policy 'mg-wfbp': invalid rate '5ms': expected a number and bit/s, kbit/s, "
                     "Mbit/s, Gbit/s, Tbit/s, B/s, kB/s, MB/s, GB/s or TB/s",
                     merging);
  expect_usage_error([] { parse_fusion("mg-wfbp:1ms:0Gbit/s"); },
                     "bandwidth of fusion policy 'mg-wfbp': '0Gbit/s' is out of range", merging);
}

TEST(ParseFusion, RefusesTooManyParametersAndAnEmptyTail) {
  expect_usage_error([] { parse_fusion("horovod:1MiB:1ms:7"); },
                     "fusion policy 'horovod' takes 2 parameters, but '1MiB:1ms:7' has 3", "horovod:threshold:cycle");
  expect_usage_error([] { parse_fusion("threshold:1MiB:2MiB"); },
                     "fusion policy 'threshold' takes 1 parameter, but '1MiB:2MiB' has 2", "threshold:25MiB");
  expect_usage_error([] { parse_fusion("none:1MiB"); },
                     "fusion policy 'none' takes no parameters, but '1MiB' was given", "write none");
  expect_usage_error([] { parse_fusion("horovod:"); }, "nothing follows the colon of 'horovod:'",
                     "leave the colon out");
}

TEST(ParseFusion, SuggestsTheNameThatWasMeant) {
  expect_usage_error([] { parse_fusion("horowod:64MiB"); }, "no fusion policy 'horowod'; did you mean 'horovod'?",
                     "known: none, threshold, horovod, horovod-2018, ddp, byteps, mg-wfbp");
  expect_usage_error([] { parse_fusion(""); }, "no fusion policy ''", "known:");
}

TEST(ParseFusion, SurvivesRandomText) {
  const std::vector<std::string> pieces{"horovod", "ddp", "threshold", "none", "byteps", "mg-wfbp", "horovod-2018",
                                        ":",       ":",   ":",         "1",    "64",     "MiB",     "ms",
                                        "s",       "B",   "Gbit/s",    "e9",   "-",      ".",       " ",
                                        "inf",     "nan", "KiB",       "us",   "0",      "\xFF"};
  std::mt19937 random(5);
  std::uniform_int_distribution<std::size_t> length(0, 9);
  std::uniform_int_distribution<std::size_t> piece(0, pieces.size() - 1);
  int understood = 0;
  for (int i = 0; i < 50000; ++i) {
    // Half begin with a name, or hardly any would be understood.
    std::string text = i % 2 == 0 ? pieces[static_cast<std::size_t>(i / 2 % 7)] + ":" : "";
    for (std::size_t n = length(random); n > 0; --n) text += pieces[piece(random)];
    try {
      const FusionChoice choice = parse_fusion(text);
      ++understood;
      ASSERT_EQ(parse_fusion(choice.text()).text(), choice.text()) << text;
      ASSERT_NE(choice.make(std::vector<std::int64_t>{1, 2}), nullptr) << text;
    } catch (const Error& error) {
      ASSERT_EQ(error.code(), ExitCode::usage) << text;
    }
  }
  EXPECT_GT(understood, 100);
}

}  // namespace
}  // namespace hbench::fusion_parse_test
