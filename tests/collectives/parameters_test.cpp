#include "collectives/base/parameters.hpp"

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/units_text.hpp"
#include "collectives/compressors/compressor.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::parameters_test {
namespace {

/// The message of the usage error that `function` must throw.
template <class Function>
std::string refusal(Function function) {
  try {
    function();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_NE(error.hint(), "");
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return "";
}

TEST(Parameters, LeftOutAtTheEndTakeTheirDefaults) {
  EXPECT_EQ(complete_parameters("thing", "t", "a:b:c", "1:2:3", ""), "1:2:3");
  EXPECT_EQ(complete_parameters("thing", "t", "a:b:c", "1:2:3", "7"), "7:2:3");
  EXPECT_EQ(complete_parameters("thing", "t", "a:b:c", "1:2:3", "7:8:9"), "7:8:9");
  EXPECT_EQ(complete_parameters("thing", "t", "", "", ""), "");
}

TEST(Parameters, ThatAreTooManyOrEmptyAreRefusedWithTheRightForm) {
  EXPECT_EQ(refusal([] { complete_parameters("thing", "t", "a", "1", "2:3"); }),
            "thing 't' takes 1 parameter, but '2:3' has 2");
  EXPECT_EQ(refusal([] { complete_parameters("thing", "t", "", "", "2"); }),
            "thing 't' takes no parameters, but '2' was given");
  EXPECT_EQ(refusal([] { complete_parameters("thing", "t", "a:b", "1:2", ":3"); }),
            "a parameter of thing 't' is empty in ':3'");
  EXPECT_EQ(refusal([] { split_name("ring:"); }), "nothing follows the colon of 'ring:'");
}

TEST(ExactText, GivesTheSameSizeBack) {
  for (const double size : {0.0, 1.0, 1023.0, 1024.0, 1025.0, 1536.0, 16384.0, 0x1p20, 3 * 0x1p30, 0x1p40 + 1}) {
    EXPECT_EQ(parse_bytes(exact_text(Bytes(size))).value, size);
  }
  EXPECT_EQ(exact_text(Bytes(16384)), "16KiB");
  EXPECT_EQ(exact_text(Bytes(16385)), "16385B");
}

TEST(AlgorithmRule, OfOneAlgorithmServesEverySize) {
  const AlgorithmRule rule = parse_algorithm_rule("ring");
  EXPECT_EQ(rule.text(), "ring");
  EXPECT_EQ(rule.at(0).text(), "ring");
  EXPECT_EQ(rule.at(std::int64_t{1} << 60).text(), "ring");
  EXPECT_FALSE(rule.empty());
  EXPECT_TRUE(AlgorithmRule().empty());
}

TEST(AlgorithmRule, TakesTheFirstRangeThatASizeIsBelow) {
  // The same algorithm twice is enough: which range serves is seen in the text.
  const AlgorithmRule rule = parse_algorithm_rule("ring@4096B/ring@1MiB/ring");
  EXPECT_EQ(rule.text(), "ring@4KiB/ring@1MiB/ring");
  EXPECT_NE(&rule.at(4095), &rule.at(4096));
  EXPECT_EQ(&rule.at(4096), &rule.at((1 << 20) - 1));
  EXPECT_NE(&rule.at(4096), &rule.at(1 << 20));
}

TEST(AlgorithmRule, ThatMakesNoSenseIsRefusedInWords) {
  EXPECT_THAT(refusal([] { parse_algorithm_rule("rng"); }), HasSubstr("did you mean 'ring'?"));
  EXPECT_THAT(refusal([] { parse_algorithm_rule("ring/ring"); }), HasSubstr("which algorithm serves which size"));
  EXPECT_THAT(refusal([] { parse_algorithm_rule("ring@1MiB"); }), HasSubstr("which algorithm serves which size"));
  EXPECT_THAT(refusal([] { parse_algorithm_rule("ring@1MiB/ring@1KiB/ring"); }), HasSubstr("do not ascend"));
  EXPECT_THAT(refusal([] { parse_algorithm_rule("ring@1MiB/direct@1MiB/ring"); }), HasSubstr("do not ascend"));
  EXPECT_THAT(refusal([] { parse_algorithm_rule("ring@64/ring"); }), HasSubstr("has no unit"));
  EXPECT_THAT(refusal([] { parse_algorithm_rule("ps@1MiB/ring"); }), HasSubstr("cannot be one of several"));
  EXPECT_THAT(refusal([] { parse_algorithm_rule("ring@1MiB/vendor"); }), HasSubstr("cannot be one of several"));
  EXPECT_THAT(refusal([] { parse_algorithm_rule("ring:4:5:6:7"); }), HasSubstr("parameter"));
  EXPECT_THAT(refusal([] { parse_algorithm_rule(""); }), HasSubstr("no algorithm ''"));
}

TEST(CollectiveKinds, AreReadAsTheyAreWritten) {
  for (const CollectiveKind collective : {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
                                          CollectiveKind::all_gather, CollectiveKind::broadcast})
    EXPECT_EQ(parse_collective_kind(to_string(collective)), collective);
  EXPECT_EQ(parse_collective_kind("all_reduce"), CollectiveKind::all_reduce) << "as others write it";
  EXPECT_THAT(refusal([] { parse_collective_kind("all-reduse"); }), HasSubstr("did you mean 'all-reduce'?"));
}

TEST(DataTypes, AreReadAsTheyAreWrittenAndByTheNamesOfNcclTests) {
  for (const DataTypeEntry* entry : data_types()) {
    EXPECT_EQ(parse_data_type(entry->name), entry->type);
    EXPECT_EQ(&entry_of(entry->type), entry);
  }
  EXPECT_EQ(parse_data_type("float"), DataType::float32);
  EXPECT_EQ(parse_data_type("half"), DataType::float16);
  EXPECT_EQ(parse_data_type("double"), DataType::float64);
  EXPECT_THAT(refusal([] { parse_data_type("float23"); }), HasSubstr("did you mean 'float32'?"));
  for (const ReduceOpEntry* entry : reduce_ops()) {
    EXPECT_EQ(parse_reduce_op(entry->name), entry->op);
    EXPECT_EQ(&entry_of(entry->op), entry);
  }
  EXPECT_EQ(parse_reduce_op("prod"), ReduceOp::product);
  EXPECT_EQ(parse_reduce_op("avg"), ReduceOp::average);
}

TEST(CompressorChoice, IsReadAsItIsWritten) {
  for (const Compressor* entry : compressors()) {
    const CompressorChoice choice = parse_compressor(entry->name);
    EXPECT_EQ(choice.compressor, entry);
    EXPECT_EQ(parse_compressor(choice.text()).text(), choice.text());
    EXPECT_NE(choice.codec, nullptr);
  }
  EXPECT_THAT(refusal([] { parse_compressor("fp61"); }), HasSubstr("did you mean 'fp16'?"));
  EXPECT_THAT(refusal([] { parse_compressor("none:3"); }), HasSubstr("takes no parameters"));
}

}  // namespace
}  // namespace hbench::parameters_test
