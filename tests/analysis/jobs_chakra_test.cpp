#include <fmt/format.h>
#include <gmock/gmock.h>

#include "analysis/jobs/protobuf.hpp"
#include "tests/analysis/jobs_files.hpp"
#include "tests/support/expect_error.hpp"

namespace hbench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes.push_back(static_cast<char>(value | 0x80));
  bytes.push_back(static_cast<char>(value));
  return bytes;
}

std::string number(int field, std::uint64_t value) {
  return varint(static_cast<std::uint64_t>(field) << 3) + varint(value);
}

std::string text(int field, const std::string& bytes) {
  return varint(static_cast<std::uint64_t>(field) << 3 | 2) + varint(bytes.size()) + bytes;
}

std::string message(const std::string& bytes) { return varint(bytes.size()) + bytes; }

std::string attribute(const std::string& name, int field, std::uint64_t value) {
  return text(10, text(1, name) + number(field, value));
}

/// A collective of `elements` floats on a GPU.
std::string collective(int id, int operation, std::int64_t elements, const std::string& shapes = "[[{}]]") {
  const std::string inputs = text(2, fmt::format(fmt::runtime(shapes), elements)) + text(3, "['Tensor(float)']");
  return message(number(1, id) + text(2, "ncclKernel_RING_LL") + number(3, 7) + text(4, "\x01") + number(7, 1500) +
                 text(8, inputs) + attribute("is_cpu_op", 27, 0) + attribute("comm_type", 9, operation) +
                 attribute("comm_size", 9, elements * 4));
}

std::string compute(int id, bool on_host) {
  return message(number(1, id) + text(2, "aten::mm") + number(3, 4) + number(7, 2000) +
                 attribute("is_cpu_op", 27, on_host ? 1 : 0));
}

std::string metadata() { return message(text(1, "0.0.4") + text(2, text(1, "schema") + text(29, "1.0.1"))); }

TEST(ChakraTraces, HoldTheSizesOfCollectives) {
  const Recording recording = recording_of(metadata() + compute(1, true) + compute(2, false) + collective(3, 5, 53) +
                                           collective(9, 0, 2000) + collective(5, 0, 3000));
  EXPECT_EQ(recording.format, "chakra");
  EXPECT_THAT(recording.bucket_elements, ElementsAre(3000, 2000));
  EXPECT_EQ(recording.gradient_type, "float32");
  EXPECT_THAT(recording.steps, IsEmpty());
  EXPECT_EQ(recording.holds,
            "2 all-reduces of 3000, 2000 elements (3.0 ms), 1 broadcast of 53 elements (1.5 ms), "
            "1 compute calls of the host (2.0 ms), 1 compute nodes (2.0 ms)");
}

TEST(ChakraTraces, HaveTheirElementsFromBytesWhereThereAreNoShapes) {
  EXPECT_THAT(recording_of(metadata() + collective(1, 7, 500, "")).bucket_elements, ElementsAre(500));
}

TEST(ChakraTraces, OfSeveralStepsDoNotSayWhichBucketsAreOne) {
  std::string file = metadata();
  for (int id = 1; id < 7; ++id) file += collective(id, 0, id % 2 == 0 ? 2000 : 3000);
  EXPECT_THAT(recording_of(file).bucket_elements, IsEmpty());
}

TEST(ChakraTraces, AreRefusedWhereTheyEndInAMessage) {
  const std::string file = metadata() + compute(1, true) + compute(2, true);
  expect_error([&] { recording_of(file.substr(0, file.size() - 3)); }, ExitCode::usage,
               HasSubstr("cut off or damaged after 2 messages"));
  expect_error([&] { find_job_format("chakra").read("/nonexistent.et"); }, ExitCode::usage, HasSubstr("no such file"));
}

TEST(ChakraTraces, SurviveDamage) {
  survive_damage(metadata() + compute(1, true) + collective(2, 0, 2000) + compute(3, false), "chakra", 400);
}

TEST(ChakraTraces, InAnArchiveHaveToBeUnpacked) {
  std::string header(512, '\0');
  header.replace(0, 10, "chakra.0.et");
  header.replace(257, 5, "ustar");
  expect_error([&] { recordings_of(header, "a.tar"); }, ExitCode::usage, HasSubstr("archive (tar)"),
               HasSubstr("tar xf "));
  for (const auto& [head, command] : {std::pair("PK\3\4..", "unzip "), {"\xff\xfe{.", "iconv "}})
    expect_error([&] { recordings_of(head, "a.json"); }, ExitCode::usage, HasSubstr("it is "), HasSubstr(command));
}

TEST(ProtobufMessages, HaveFieldsOfEveryKind) {
  const std::string bytes = number(1, 300) + text(2, "abc") + varint(3 << 3 | 5) + std::string("\1\2\0\0", 4) +
                            varint(4 << 3 | 1) + std::string("\1\0\0\0\0\0\0\x80", 8);
  ProtobufMessage message(bytes);
  EXPECT_EQ(message.next()->value, 300u);
  EXPECT_EQ(message.next()->bytes, "abc");
  EXPECT_EQ(message.next()->value, 513u);
  EXPECT_EQ(message.next()->value, 0x8000000000000001u);
  EXPECT_FALSE(message.next());
  EXPECT_FALSE(message.damaged());
}

TEST(ProtobufMessages, AreDamagedWhereTheirFieldsDoNotFit) {
  for (const std::string& bytes : {std::string("\x80"), text(2, "abc").substr(0, 3), std::string("\x0b\x01"),
                                   std::string(11, '\xff'), varint(2 << 3 | 2) + varint(~std::uint64_t{0})}) {
    ProtobufMessage message(bytes);
    EXPECT_FALSE(message.next());
    EXPECT_TRUE(message.damaged());
  }
}

}  // namespace
}  // namespace hbench
