
#include <nlohmann/json.hpp>

#include "collectives/base/table.hpp"
#include "tests/bench/run_verb.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/words.hpp"

namespace hbench::report_verbs_test {
namespace {

constexpr const char* kProfile = R"(title = "The cluster of my own, 10 Gbit/s"
gpu = "a GPU of my own, liquid"
gpus_per_node = 4
[local]
latency = "5 us"
rate = "10 GB/s"
[network]
latency = "20 us"
line_rate = "10 Gbit/s"
)";

/// A database of a small simulated sweep on two networks, one of which only a file of the user's own describes.
class ReportVerbs : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    write_bytes(folder_->path() / "mine.toml", kProfile);
    std::vector<std::string> arguments = words_in(
        "sweep --gpus 1,8 --single-gpu-rate 100 --evidence simulated --workload vgg16,resnet50 --algorithm ring,ps "
        "--compressor none --quiet --db");
    arguments.insert(arguments.end(), {database(), "--report", (folder_->path() / "swept").string(), "--profile",
                                       (folder_->path() / "mine.toml").string() + ",hkbu-10gbe"});
    terminal_ = printed(std::move(arguments));
    std::filesystem::remove(folder_->path() / "mine.toml");
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }

  static std::string database() { return (folder_->path() / "r.db").string(); }

  /// What a verb prints, within this process.
  static std::string printed(std::vector<std::string> words) {
    const std::string verb = words.front();
    words.erase(words.begin());
    return printed_by(verb, std::move(words));
  }

  static nlohmann::json exported(std::vector<std::string> filter) {
    filter.insert(filter.begin(), {"export", "--db", database()});
    return nlohmann::json::parse(printed(filter));
  }

  static TemporaryFolder* folder_;
  static std::string terminal_;
};
TemporaryFolder* ReportVerbs::folder_ = nullptr;
std::string ReportVerbs::terminal_;

TEST_F(ReportVerbs, ShowTheTitleAndTheGpuOfAProfileOfOnesOwn) {
  EXPECT_THAT(terminal_, AllOf(HasSubstr("8 GPUs, VGG-16, batch 64: "), HasSubstr("mine (10 Gbit/s)")));
  // The file is gone: what it said is in the database.
  const std::string report = printed({"report", "--db", database(), "--format", "markdown"});
  EXPECT_THAT(report, HasSubstr("The cluster of my own, 10 Gbit/s, a GPU of my own"));
}

TEST_F(ReportVerbs, PrintAShortMarkdownUnlessAllIsAskedFor) {
  const std::string brief = printed({"report", "--db", database(), "--format", "markdown"});
  const std::string full = printed({"report", "--db", database(), "--format", "markdown", "--all"});
  EXPECT_LT(brief.size(), 10'000u);
  EXPECT_THAT(brief,
              AllOf(HasSubstr("8 GPUs, VGG-16, batch 64: "), Not(HasSubstr("What ran where")), Not(HasSubstr(".png"))));
  EXPECT_THAT(full, AllOf(HasSubstr("What ran where"), HasSubstr(".png")));
  expect_error(
      [] {
        printed({"report", "--db", database(), "--format", "csv", "--all"});
      },
      ExitCode::usage, "--all is for --format markdown");
}

TEST_F(ReportVerbs, WriteTheFullMarkdownIntoAFolder) {
  const std::filesystem::path report = folder_->path() / "full";
  printed({"report", "--db", database(), "--report", report.string(), "--workload", "vgg16"});
  EXPECT_THAT(bytes_of(report / "report.md"), AllOf(HasSubstr("What ran where"), Not(HasSubstr("ResNet-50"))));
}

TEST_F(ReportVerbs, ExportOnlyWhatWasChosenWithEfficienciesOfAll) {
  const nlohmann::json all = exported({}), some = exported({"--workload", "vgg16", "--strategy", "ring"});
  EXPECT_GT(all.size(), some.size());
  ASSERT_FALSE(some.empty());
  for (const auto& point : some) {
    EXPECT_EQ(point.at("workload"), "vgg16");
    EXPECT_EQ(point.at("algorithm"), "ring");
    EXPECT_FALSE(point.at("efficiency").is_null());
  }
  EXPECT_EQ(exported({"--evidence", "simulated"}).size(), all.size());
  expect_error(
      [] {
        exported({"--profile", "hkbu-10gb"});
      },
      ExitCode::usage, "no stored profile 'hkbu-10gb'; did you mean 'hkbu-10gbe'?");
}

}  // namespace
}  // namespace hbench::report_verbs_test
