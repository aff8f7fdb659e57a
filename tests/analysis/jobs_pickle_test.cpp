#include "analysis/job/pickle.hpp"

#include <fmt/format.h>

#include "tests/analysis/jobs_examples.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/mutate.hpp"

namespace hbench::jobs_pickle_test {
namespace {

using namespace std::string_view_literals;
using Json = nlohmann::json;

Json read(std::string_view bytes, std::string_view unwanted = "") {
  TemporaryFolder folder;
  write_bytes(folder / "a.toml", bytes);
  TextSource source((folder / "a.toml").string());
  return read_pickle(source, unwanted);
}

/// What Python 3.11's pickle.dumps writes of one value, with protocols 0, 1, 2 and 4. Those of protocols 3 and 5 differ
/// from the ones before them by the protocol's number alone.
constexpr std::array kPickles{
    "(dp0\nVnumbers\np1\n(lp2\nI1\naI-2\naI70000\naI-70000\naL1724779239936775119L\naF1.5\nasVwords\n"
    "p3\n(Vx\np4\nV\xe9\\u000a\\u005c\np5\nVy\np6\ntp7\nsVnone\np8\nNsVflags\np9\n(lp10\nI01\naI00\na"
    "sVshared\np11\n(lp12\n(lp13\nI3\naI4\naag13\nasI7\n(dp14\nVinner\np15\n(dp16\nss."sv,
    "}q\x00(X\x07\x00\x00\x00numbersq\x01]q\x02(K\x01J\xfe\xff\xff\xffJp\x11\x01\x00J\x90\xee\xfe\xff"
    "L1724779239936775119L\nG\?\xf8\x00\x00\x00\x00\x00\x00\x65X\x05\x00\x00\x00wordsq\x03(X\x01\x00\x00"
    "\x00xq\x04X\x04\x00\x00\x00\xc3\xa9\n\\q\x05X\x01\x00\x00\x00yq\x06tq\x07X\x04\x00\x00\x00noneq\x08"
    "NX\x05\x00\x00\x00\x66lagsq\x09]q\n(I01\nI00\neX\x06\x00\x00\x00sharedq\x0b]q\x0c(]q\x0d(K\x03K\x04"
    "eh\x0d\x65K\x07}q\x0eX\x05\x00\x00\x00innerq\x0f}q\x10su."sv,
    "\x80\x02}q\x00(X\x07\x00\x00\x00numbersq\x01]q\x02(K\x01J\xfe\xff\xff\xffJp\x11\x01\x00J\x90\xee"
    "\xfe\xff\x8a\x08\xcfSf\x98\x94\xa5\xef\x17G\?\xf8\x00\x00\x00\x00\x00\x00\x65X\x05\x00\x00\x00wo"
    "rdsq\x03X\x01\x00\x00\x00xq\x04X\x04\x00\x00\x00\xc3\xa9\n\\q\x05X\x01\x00\x00\x00yq\x06\x87q\x07"
    "X\x04\x00\x00\x00noneq\x08NX\x05\x00\x00\x00\x66lagsq\x09]q\n(\x88\x89\x65X\x06\x00\x00\x00share"
    "dq\x0b]q\x0c(]q\x0d(K\x03K\x04\x65h\x0d\x65K\x07}q\x0eX\x05\x00\x00\x00innerq\x0f}q\x10su."sv,
    "\x80\x04\x95\x8c\x00\x00\x00\x00\x00\x00\x00}\x94(\x8c\x07numbers\x94]\x94(K\x01J\xfe\xff\xff\xff"
    "Jp\x11\x01\x00J\x90\xee\xfe\xff\x8a\x08\xcfSf\x98\x94\xa5\xef\x17G\?\xf8\x00\x00\x00\x00\x00\x00"
    "e\x8c\x05words\x94\x8c\x01x\x94\x8c\x04\xc3\xa9\n\\\x94\x8c\x01y\x94\x87\x94\x8c\x04none\x94N\x8c"
    "\x05\x66lags\x94]\x94(\x88\x89\x65\x8c\x06shared\x94]\x94(]\x94(K\x03K\x04\x65h\x0d\x65K\x07}\x94"
    "\x8c\x05inner\x94}\x94su."sv};

TEST(Pickle, IsReadInAllProtocolsThatPythonWrites) {
  const Json expected{{"numbers", {1, -2, 70000, -70000, 1'724'779'239'936'775'119, 1.5}},
                      {"words", {"x", "é\n\\", "y"}},
                      {"none", nullptr},
                      {"flags", {true, false}},
                      {"shared", {{3, 4}, {3, 4}}},
                      {"7", {{"inner", Json::object()}}}};
  for (const std::string_view pickle : kPickles)
    for (const int newer : {0, 1}) {
      std::string bytes(pickle);
      if (bytes[0] == '\x80') bytes[1] = static_cast<char>(bytes[1] + newer);
      EXPECT_EQ(read(bytes), expected);
      EXPECT_TRUE(looks_like_pickle(bytes));
    }
}

TEST(Pickle, LeavesOutWhatNobodyWants) {
  EXPECT_EQ(read("\x80\x02}(X\x06\0\0\0frames]K\x01"
                 "aX\x01\0\0\0bK\x02u."sv,
                 "frames"),
            (Json{{"b", 2}}));
}

TEST(Pickle, ReadsBytesAndLongTexts) {
  EXPECT_EQ(read("\x80\x05"
                 "C\x03"
                 "abc."sv),
            "abc");
  EXPECT_EQ(read("\x80\x04\x8d\x02\0\0\0\0\0\0\0hi."sv), "hi");
  EXPECT_EQ(read("S'it\\'s'\np0\n."sv), "it's");
  EXPECT_EQ(read("\x80\x02G\x7f\xf8\0\0\0\0\0\0."sv), nullptr);  // NaN
  EXPECT_EQ(read("\x80\x02\x8a\0."sv), 0);
}

/// `pickle.dumps` of os.system, of an object, of a set, of a function's result, and of a persistent name.
TEST(Pickle, BuildsNoObjectAndCallsNothing) {
  for (const std::string_view pickle : {"cos\nsystem\n(S'true'\ntR."sv, "\x80\x04\x8c\x05posix\x8c\x06system\x93."sv,
                                        "\x80\x02)\x81."sv, "\x80\x02K\x01K\x02R."sv, "\x80\x02}}b."sv,
                                        "(ios\nsystem\n."sv, "P1\n."sv, "\x80\x02K\x01Q."sv, "\x80\x02\x82\x01."sv})
    expect_error([&] { read(pickle); }, ExitCode::usage, HasSubstr("would build objects or call functions"));
}

TEST(Pickle, SaysWhereItIsDamaged) {
  const auto refused = [](std::string_view pickle, const char* why) {
    expect_error([&] { read(pickle); }, ExitCode::usage, HasSubstr(why));
  };
  refused("\x80\x02}(X\x03\0\0\0a"sv, "it ends early (pickle, at byte 11)");
  refused("\x80\x02h\x05."sv, "it recalls what it has not kept");
  refused("\x80\x02."sv, "it takes a value from where none is");
  refused("\x80\x02(."sv, "it takes a value from where none is");
  refused("\x80\x02]u."sv, "a mark is missing");
  refused("\x80\x02}(K\x01u."sv, "a key has no value");
  refused("\x80\x02](K\x01K\x02u."sv, "it adds to what is no such container");
  refused("\x80\x02}(]K\x02u."sv, "a key is neither a text nor a whole number");
  refused("\x80\x02\x8a\x09\1\1\1\1\1\1\1\1\1."sv, "more than 64 bits");
  refused("\x80\x02\xff."sv, "no instruction of a pickle of plain data");
  refused("I1x\n."sv, "a number is damaged");
  refused("\x80\x04\x8d\xff\xff\xff\xff\xff\0\0\0hi."sv, "its texts have more than 64 MiB");
}

TEST(Pickle, IsBoundedInDepthAndSize) {
  std::string deep = "\x80\x02";
  for (int i = 0; i < 100; ++i) deep += "]";
  for (int i = 0; i < 99; ++i) deep += "a";
  expect_error([&] { read(deep + "."); }, ExitCode::usage, HasSubstr("nested more than 64 deep"));
  // A list that holds itself, and one that doubles with each of its 60 levels.
  expect_error([] { read("\x80\x02]q\0h\0a."sv); }, ExitCode::usage, HasSubstr("nested more than 64 deep"));
  std::string doubling = "\x80\x02]q";
  doubling.push_back('\0');
  for (char i = 1; i < 60; ++i) doubling += fmt::format("0](h{0}h{0}eq{1}", static_cast<char>(i - 1), i);
  expect_error([&] { read(doubling + "."); }, ExitCode::usage, HasSubstr("more events or values than fit its size"));
}

TEST(Pickle, SurvivesDamage) {
  TemporaryFolder folder;
  const std::string file = (folder / "a.toml").string();
  for (std::size_t protocol = 0; protocol < kPickles.size(); ++protocol)
    support::survive_mutations(std::string(kPickles[protocol]), 300, static_cast<unsigned>(protocol) + 3,
                               [&](const std::string& mutant) {
                                 write_bytes(file, mutant);
                                 TextSource source(file);
                                 read_pickle(source, "");
                               });
}

/// As torch::jit::Pickler writes plain data: protocol 2, texts kept and recalled.
class TorchPickler {
 public:
  std::string dumped(const Json& value) {
    text_ = "\x80\x02";
    push(value);
    return text_ + ".";
  }

 private:
  void number(std::uint64_t value, int size) {
    for (int i = 0; i < size; ++i) text_.push_back(static_cast<char>(value >> (8 * i)));
  }

  void push_text(const std::string& text) {
    const auto [kept, added] = kept_.try_emplace(text, kept_.size());
    if (!added) return text_ += 'j', number(kept->second, 4);
    text_ += 'X';
    number(text.size(), 4);
    text_ += text + "r";
    number(kept->second, 4);
  }

  void push(const Json& value) {
    if (value.is_null()) text_ += 'N';
    if (value.is_boolean()) text_ += value.get<bool>() ? '\x88' : '\x89';
    if (value.is_string()) push_text(value);
    if (value.is_number_integer()) text_ += "\x8a\x08", number(value.get<std::uint64_t>(), 8);
    if (value.is_number_float()) {
      text_ += 'G';
      const auto bits = std::bit_cast<std::uint64_t>(value.get<double>());
      for (int i = 7; i >= 0; --i) text_.push_back(static_cast<char>(bits >> (8 * i)));
    }
    if (!value.is_structured()) return;
    text_ += value.is_object() ? "}(" : "](";
    for (const auto& [name, member] : value.items()) {
      if (value.is_object()) push_text(name);
      push(member);
    }
    text_ += value.is_object() ? 'u' : 'e';
  }

  std::string text_;
  std::map<std::string, std::uint64_t> kept_;
};

TEST(Pickle, OfTheFlightRecorderIsReadAsItsJson) {
  Json dump = flight_dump(ddp_entries(6, 1));
  for (Json& entry : dump["entries"]) entry["frames"] = {{{"name", "forward"}, {"filename", "a.py"}, {"line", 7}}};
  const TrainingJob json = RecordedFile("nccl_trace_rank_1.json", dump.dump()).job();
  const RecordedFile file("nccl_trace_rank_1", TorchPickler().dumped(dump));
  const TrainingJob job = file.job();
  EXPECT_EQ(job.recordings.front().format, "flight-recorder");
  EXPECT_EQ(job.recordings.front().rank, 1);
  EXPECT_EQ(job.step.value, json.step.value);
  EXPECT_EQ(job.communication.value, json.communication.value);
  EXPECT_THAT(job.buckets, SizeIs(5));
  EXPECT_EQ(job.unknown, json.unknown);
}

TEST(Pickle, OfTheFlightRecorderNamesNoTimesByNone) {
  Json dump = flight_dump(ddp_entries(6, 0));
  for (Json& entry : dump["entries"]) entry["time_discovered_started_ns"] = nullptr;
  const TrainingJob job = RecordedFile("nccl_trace_rank_1", TorchPickler().dumped(dump)).job();
  EXPECT_FALSE(job.buckets.front().duration);
  EXPECT_THAT(job.unknown, Contains(HasSubstr("TORCH_NCCL_ENABLE_TIMING")));
}

}  // namespace
}  // namespace hbench::jobs_pickle_test
