// hbench choose: the words of its flags, and answers of a buyer's size.

#include "analysis/choose/choose.hpp"

#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "collectives/base/file.hpp"
#include "collectives/base/table.hpp"
#include "reports/choose/choice.hpp"
#include "tests/bench/own_timeline.hpp"
#include "tests/bench/run_verb.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/terminal_columns.hpp"

namespace hbench::choose_test {
namespace {

TEST(Goals, AreReadWithTheirUnits) {
  EXPECT_DOUBLE_EQ(parse_goals({.target = "95%"}).efficiency, 0.95);
  EXPECT_DOUBLE_EQ(parse_goals({.target = "0.8"}).efficiency, 0.8);
  EXPECT_DOUBLE_EQ(parse_goals({.samples = "115M"}).samples, 115e6);
  EXPECT_DOUBLE_EQ(parse_goals({.samples = "2.5k"}).samples, 2500);
  EXPECT_DOUBLE_EQ(parse_goals({.epochs = "90"}).samples, 90 * 1'281'167.0);
  const auto hours = [](const char* text) { return parse_goals({.samples = "1", .deadline = text}).hours; };
  EXPECT_DOUBLE_EQ(hours("6h"), 6);
  EXPECT_DOUBLE_EQ(hours("90 min"), 1.5);
  EXPECT_DOUBLE_EQ(hours("2d"), 48);
  EXPECT_DOUBLE_EQ(hours("7200s"), 2);
  EXPECT_DOUBLE_EQ(parse_goals({.samples = "1", .budget = "500usd"}).budget, 500);
  EXPECT_EQ(parse_goals({.samples = "1", .budget = "500usd"}).currency, "USD");
  EXPECT_EQ(parse_goals({.samples = "1", .budget = "500"}).currency, "USD");
  EXPECT_EQ(parse_goals({.samples = "1", .budget = "4e4 inr"}).currency, "INR");
}

TEST(Goals, AskForNinetyPercentWhereNothingElseIsAskedFor) {
  EXPECT_EQ(parse_goals({}).efficiency, 0.9);
  EXPECT_EQ(parse_goals({.samples = "1M"}).efficiency, 0.9);
  EXPECT_EQ(parse_goals({.samples = "1M", .deadline = "1h"}).efficiency, 0);
}

TEST(Goals, ThatMakeNoSenseAreRefusedWithAnExample) {
  const auto refused = [](const GoalTexts& texts, const char* what, const char* hint) {
    expect_error([&] { parse_goals(texts); }, ExitCode::usage, what, hint);
  };
  refused({.target = "140%"}, "--target 140% is more than the ideal", "it is an efficiency, such as 90% or 0.9");
  refused({.samples = "1e303"}, "--samples 1e303 is invalid", "write such as 115M");
  refused({.target = "fast"}, "--target fast is invalid", "write such as 90% or 0.9");
  refused({.samples = "-5"}, "--samples -5 is invalid", "write such as 115M");
  refused({.samples = "5 apples"}, "--samples 5 apples is invalid", "write such as 115M");
  refused({.epochs = "nan"}, "--epochs nan is invalid", "write such as 90");
  refused({.samples = "1M", .deadline = "6"}, "--deadline 6 is invalid", "write such as 6h, 90min or 2d");
  refused({.samples = "1M", .budget = "5 euros"}, "--budget 5 euros is invalid",
          "write such as 500usd: a number and the three letters of a currency");
  refused({.samples = "1M", .budget = "-5usd"}, "--budget -5usd is invalid",
          "write such as 500usd: a number and the three letters of a currency");
  refused({.samples = "1M", .budget = "nan usd"}, "--budget nan usd is invalid",
          "write such as 500usd: a number and the three letters of a currency");
  refused({.deadline = "6h"}, "a deadline or a budget needs to know how much to train",
          "add --samples 115M, or --epochs 90 for ImageNet");
  refused({.budget = "6"}, "a deadline or a budget needs to know how much to train",
          "add --samples 115M, or --epochs 90 for ImageNet");
  refused({.samples = "1M", .epochs = "1"}, "--samples and --epochs both say how much to train", "give one of them");
}

std::string choose_by(std::vector<std::string> arguments) {
  std::string text = printed_by("choose", std::move(arguments));
  // Where lines are broken does not matter.
  std::ranges::replace(text, '\n', ' ');
  return text;
}

TEST(ChooseVerb, SaysWhichFiguresOfItsFirstClusterAreAssumed) {
  const std::string text = choose_by({"--gpus", "8", "--epochs", "90", "--deadline", "6h", "--budget", "3000usd",
                                      "--profile", "e2e-8xh100,crusoe-h100", "--quiet"});
  EXPECT_THAT(text, AllOf(HasSubstr("8 GPUs of e2e-8xh100"),
                          HasSubstr("(likely; assumed: gpus_per_node, local.rate, price.retrieved)"),
                          HasSubstr("nobody states when its price was read")));
}

TEST(ChooseVerb, AnswersWithTheCheapestClusterThatMeetsADeadline) {
  const std::string text = choose_by({"--workload", "resnet50", "--gpus", "8,16", "--profile",
                                      "aws-p3-25gbe,azure-nd96asr-v4,dgx-a100", "--epochs", "90", "--deadline", "12h"});
  EXPECT_THAT(text,
              AllOf(HasSubstr("ResNet-50"), HasSubstr("(pass)"), HasSubstr("no price"),
                    HasSubstr("Nothing is both quicker and cheaper"), HasSubstr("next doubling"),
                    HasSubstr("24.48 USD  on-demand  us-east-1  2026"), Not(HasSubstr("inf")), Not(HasSubstr("nan"))));
}

TEST(ChooseVerb, SaysWhoIsNearestWhereNobodyMeetsTheTarget) {
  EXPECT_THAT(
      choose_by({"--workload", "vgg16", "--gpus", "32", "--profile", "hkbu-10gbe,hkbu-100gbib", "--target", "99%"}),
      AllOf(HasSubstr("none of 2 clusters meets an efficiency of 99 %"), HasSubstr("The nearest is 32"),
            HasSubstr("misses by 14 points")));
}

// LLaMA 7 B has no room on one GPU but for a method that divides it.
TEST(ChooseVerb, AdvisesACommandThatRuns) {
  const std::string text = choose_by({"--workload", "llama-7b", "--profile", "dgx-a100", "--gpus", "64", "--target",
                                      "99%", "--method", "fsdp", "--precision=bf16"});
  const std::size_t begin = text.find("hbench bandwidth ");
  ASSERT_NE(begin, std::string::npos) << text;
  const std::string advised = text.substr(begin, text.find(" says ", begin) - begin);
  EXPECT_THAT(advised, EndsWith("--gpus 64 --target 99% --method fsdp --precision=bf16"));
  std::istringstream words(advised);
  std::vector<std::string> arguments(std::istream_iterator<std::string>(words), {});
  arguments.erase(arguments.begin(), arguments.begin() + 2);
  EXPECT_EQ(run_verb("bandwidth", arguments).code, ExitCode::good);
}

TEST(ChooseVerb, LeavesOutClustersWithoutAPriceWhereABudgetIsGiven) {
  const std::vector<std::string> arguments{"--workload", "resnet50", "--gpus",   "8",
                                           "--epochs",   "1",        "--budget", "50usd"};
  auto with = [&](const char* profiles) {
    std::vector<std::string> all = arguments;
    all.insert(all.end(), {"--profile", profiles});
    return all;
  };
  const std::string text = choose_by(with("aws-p3-25gbe,dgx-a100"));
  EXPECT_THAT(text, AllOf(HasSubstr("dgx-a100: no price is known"), HasSubstr("1 of 1 clusters meets")));
  expect_refused("choose", with("dgx-a100"), "nothing is left to choose from", "dgx-a100: no price is known");
}

TEST(ChooseVerb, SaysWhatIsNearestWhereGoalsAreImpossible) {
  const auto answer = [](const char* flag, const char* value) {
    return choose_by(
        {"--workload", "resnet50", "--gpus", "8,64", "--profile", "aws-p3-25gbe", "--epochs", "90", flag, value});
  };
  EXPECT_THAT(answer("--budget", "1usd"),
              AllOf(HasSubstr("the one cluster here does not meet 1.00 USD at most"),
                    HasSubstr("The nearest is 8 GPUs"), HasSubstr("times as good. It would take a node for")));
  EXPECT_THAT(answer("--deadline", "1min"), AllOf(HasSubstr("the one cluster here does not meet 1 min at most"),
                                                  HasSubstr("The nearest is 64 GPUs")));
}

TEST(ChooseVerb, SearchesTheMethodThatIsTheQuickestOfThoseThatHaveRoom) {
  const auto answer = [](const char* workload, const char* method) {
    return choose_by(
        {"--workload", workload, "--gpus", "16", "--profile", "dgx-a100", "--algorithm", "ring", "--method", method});
  };
  // 7 G parameters with Adam do not fit beside each other; what was tried in vain is nobody's question.
  EXPECT_THAT(answer("llama2-7b", "auto"), AllOf(HasSubstr("with ddp: ring, fsdp"), Not(HasSubstr("Left out"))));
  EXPECT_THAT(answer("resnet50", "auto"), AllOf(HasSubstr("level with"), Not(HasSubstr("tensor"))));
  EXPECT_THAT(answer("resnet50", "auto,ssp:2"), HasSubstr("Left out: ring on 16 GPUs: ssp:2")) << "it was named";
  expect_error([&] { answer("llama2-7b", "synchronous"); }, ExitCode::usage,
               "nothing to do: every combination was refused",
               "llama2-7b on GPUs of 80 GB: weights, gradients and optimizer take 108 GB, and plain data parallelism "
               "has all of them on each GPU; --precision bf16-true takes 54 GB; --method zero:1 takes 57 GB");
  expect_error([&] { answer("gpt3-175b", "auto"); }, ExitCode::usage, "nothing to do: every combination was refused",
               AllOf(HasSubstr("none of the "), SizeIs(testing::Lt(400U))));
}

/// A DGX A100 at a price of 1,000 INR an hour, whose network is assumed.
std::string rupee_profile(const TemporaryFolder& folder) {
  std::string text = read_file(HBENCH_SOURCE_DIR "/cluster-profiles/dgx-a100.toml");
  const std::string nics = "nics = { value = 8,";
  text.replace(text.find(nics), nics.size(), nics + " assumed = 3,");
  const std::filesystem::path file = folder / "rupees.toml";
  write_bytes(file, text + "\n[price]\nper_node_hour = 1000\ncurrency = \"INR\"\nregion = \"not stated\"\n" +
                        "retrieved = \"2026\"\nmodel = \"reserved\"\nsource = \"an offer\"\n");
  return file.string();
}

TEST(ChooseVerb, ConvertsNoCurrency) {
  const TemporaryFolder folder;
  const auto choose_on = [&](const std::string& profiles, const char* budget) {
    std::vector<std::string> arguments{"--workload", "resnet50", "--gpus", "8", "--epochs", "1", "--profile", profiles};
    if (*budget != '\0') arguments.insert(arguments.end(), {"--budget", budget});
    return choose_by(arguments);
  };
  const std::string rupees = rupee_profile(folder);
  const std::string both = rupees + ",aws-p3-25gbe";
  EXPECT_THAT(choose_on(both, "50usd"), HasSubstr("its price is in INR and the budget in USD"));
  EXPECT_THAT(choose_on(both, "5000inr"),
              AllOf(HasSubstr("aws-p3-25gbe: its price is in USD and the budget in INR"), HasSubstr("5000 INR at most"),
                    HasSubstr("1000 INR  reserved  not stated  2026")));
  EXPECT_THAT(choose_on(both, ""), AllOf(HasSubstr("in INR"), HasSubstr("USD")));
  EXPECT_THAT(choose_on(rupees, ""), AllOf(HasSubstr(" INR "), Not(HasSubstr("in INR"))));
  expect_error([&] { choose_on("aws-p3-25gbe", "50eur"); }, ExitCode::usage, "nothing is left to choose from",
               "aws-p3-25gbe: its price is in USD and the budget in EUR, and no currency is converted");
}

TEST(ChooseVerb, SaysWhichFiguresNobodyStates) {
  const TemporaryFolder folder;
  const auto on = [&](const char* gpus) {
    return choose_by({"--workload", "vgg16", "--gpus", gpus, "--profile", rupee_profile(folder)});
  };
  EXPECT_THAT(on("16"), AllOf(HasSubstr("nobody states"), HasSubstr("network.nics"), HasSubstr("up to 3 times"),
                              HasSubstr("nccl-tests")));
  EXPECT_THAT(on("8"), Not(HasSubstr("nobody states")));
}

TEST(ChooseVerb, GivesOneGpuAllOfItsSpeed) {
  EXPECT_THAT(
      choose_by({"--workload", "vgg16", "--gpus", "1", "--profile", "aws-p3-25gbe", "--target", "100%"}),
      AllOf(HasSubstr("100 % (100 to 100) of ideal speed (pass). 1 of 1"), HasSubstr("an efficiency of 100 %")));
}

// Recorded on one CPU core, it would make every cluster as fast as that core.
TEST(ChooseVerb, ComparesNoClustersByAStepThatWasRecordedElsewhere) {
  const TemporaryFolder folder;
  write_bytes(folder / "mine.toml", kOwnTimeline);
  std::vector<std::string> arguments{"--workload",  (folder / "mine.toml").string(), "--gpus", "16", "--profile",
                                     "aws-p3-25gbe"};
  expect_refused("choose", arguments, "nothing is left to choose from",
                 "aws-p3-25gbe: its GPU is not what the timeline was recorded on; give --single-gpu-rate "
                 "SAMPLES_PER_SECOND or a [rates] entry");
  arguments.insert(arguments.end(), {"--single-gpu-rate", "500"});
  EXPECT_THAT(choose_by(arguments), HasSubstr("a model of mine, batch 10: 16 GPUs of aws-p3-25gbe (AWS p3.16xlarge"));
}

TEST(ChooseVerb, SaysWhyServersOnOneNodeAreLeftOut) {
  expect_refused("choose", {"--workload", "resnet50", "--gpus", "8", "--profile", "dgx-a100", "--algorithm", "ps"},
                 "nothing is left to choose from",
                 "parameter servers on one node: its ranks add up among themselves either way; take a ring");
}

TEST(ChooseVerb, SaysOfWhichClustersTheSpeedOfAGpuWasNotMeasured) {
  EXPECT_THAT(choose_by({"--workload", "inception_v3", "--gpus", "8", "--profile", "dgx-1-v100,dgx-1-p100"}),
              AllOf(HasSubstr("on 1 of the 2 clusters the samples/s of one GPU are not known to a tenth"),
                    HasSubstr("dgx-1-v100  the samples/s of one GPU are ")));
  EXPECT_THAT(choose_by({"--workload", "vgg16", "--gpus", "8", "--profile", "dgx-a100", "--single-gpu-rate", "500"}),
              HasSubstr("all clusters have the same 500 samples/s"));
  for (const char* rate : {"nan", "-5", "inf"}) {
    expect_refused("choose", {"--workload", "vgg16", "--single-gpu-rate", rate}, HasSubstr("is not a rate above 0"),
                   testing::_);
  }
}

TEST(ChooseVerb, SaysHowFarStreamsAndServersAreKnown) {
  EXPECT_THAT(choose_by({"--workload", "vgg16", "--gpus", "16", "--profile", "aws-p3dn-tcp", "--target", "50%"}),
              AllOf(HasSubstr("a factor of 3"), HasSubstr("on two nodes")));
}

// VGG-16 was not measured on an A100: of times more is unknown than of efficiencies, unless the speed is given.
TEST(ChooseVerb, WidensTimesByWhatIsNotKnownOfOneGpu) {
  const auto widths = [](std::vector<std::string> more) {
    more.insert(more.end(), {"--workload", "vgg16", "--gpus", "8", "--profile", "dgx-a100", "--samples", "1M",
                             "--algorithm", "ring", "--json"});
    const auto json = nlohmann::json::parse(choose_by(more));
    const auto& best = json.at("clusters").at(0);
    const auto width = [&](const char* of) {
      return best.at(of).at("high").get<double>() / best.at(of).at("low").get<double>();
    };
    const auto stated = [&](const char* of) { return best.at(of).at("stated").get<double>(); };
    return std::tuple(width("efficiency"), width("hours"), stated("samples_per_second") / stated("efficiency") / 8);
  };
  const auto [efficiency, hours, rate] = widths({});
  EXPECT_GT(hours, 1.6 * 1.6) << "a factor of 1.6 either way, and the efficiency's band";
  EXPECT_LT(hours, 1.6 * 1.6 * efficiency) << "they are not both at their worst";
  const auto [given_efficiency, given_hours, given] = widths({"--single-gpu-rate", fmt::format("{:.6g}", rate)});
  EXPECT_NEAR(given, rate, 1e-3 * rate);
  EXPECT_NEAR(given_hours, given_efficiency, 1e-9);
  EXPECT_LT(given_efficiency, efficiency) << "a faster GPU hides less";
}

TEST(ChooseVerb, TakesClustersByGpuAndProvider) {
  const auto clusters = [](std::vector<std::string> conditions) {
    conditions.insert(conditions.end(), {"--workload", "resnet50", "--gpus", "8", "--algorithm", "ring", "--json"});
    std::vector<std::string> names;
    const auto json = nlohmann::json::parse(choose_by(conditions));
    for (const auto& cluster : json.at("clusters")) names.push_back(cluster.at("cluster"));
    return names;
  };
  EXPECT_THAT(clusters({"--gpu", "h100", "--provider", "aws,oracle"}), UnorderedElementsAre("aws-p5", "oci-h100"));
  expect_error(
      [&] {
        clusters({"--gpu", "h10"});
      },
      ExitCode::usage, "no GPU 'h10'; did you mean 'h100-pcie'?", HasSubstr("h100"));
  expect_error(
      [&] {
        clusters({"--gpu", "h100", "--profile", "aws-p5"});
      },
      ExitCode::usage, "--profile names the clusters, and conditions choose them", "give one of the two");
}

// A page of fifty clusters is none: the rest is a flag away.
TEST(ChooseVerb, ShowsTheFirstClustersAndSaysHowManyThereAre) {
  const auto on_all = [](const char* flag) {
    return choose_by({"--workload", "resnet50", "--gpus", "8", "--algorithm", "ring", flag});
  };
  const TerminalColumns columns;
  EXPECT_THAT(on_all("--quiet"), AllOf(HasSubstr("(12 of "), Not(HasSubstr("capped-2.5gbit"))));
  EXPECT_THAT(on_all("--wide"), AllOf(Not(HasSubstr("--wide shows all")), HasSubstr("capped-2.5gbit")));
}

TEST(ChooseVerb, MarksPricesThatAreNotOnDemand) {
  const std::string text = choose_by({"--workload", "resnet50", "--gpus", "8", "--profile", "gcp-a4-highgpu-8g,aws-p5",
                                      "--algorithm", "ring", "--epochs", "90"});
  EXPECT_THAT(text, AllOf(HasSubstr(") spot "), HasSubstr("Bought as spot, which no other price is a match for")));
  EXPECT_THAT(text, Not(HasSubstr("gcp-a4-highgpu-8g is cheaper")));
}

TEST(ChooseVerb, DoesNotJoinNodesThatNothingJoins) {
  const std::string text = choose_by({"--workload", "resnet50", "--gpus", "8,16", "--profile", "lambda-8x-h100-sxm"});
  EXPECT_THAT(text, HasSubstr("lambda-8x-h100-sxm on more than 8 GPUs: its profile has 1 node"));
  EXPECT_THAT(text, Not(HasSubstr("16 GPUs of")));
}

TEST(ChooseVerb, SaysWhereARingOverHundredsOfGpusIsAtFault) {
  const auto warns = [](const char* algorithm) {
    return choose_by({"--workload", "bert_large", "--gpus", "1024", "--profile", "aws-p5,aws-p4d", "--algorithm",
                      algorithm, "--target", "50%", "--quiet"});
  };
  EXPECT_THAT(warns("ring"), AllOf(HasSubstr("one ring over all 1,024 GPUs is at fault: the GPUs' library would "
                                             "choose better, and keep "),
                                   HasSubstr("(--algorithm vendor); alike on aws-p4d"),
                                   HasSubstr("It would take another algorithm (--algorithm vendor).")));
  EXPECT_THAT(warns("vendor"), AllOf(HasSubstr("ddp: vendor"), Not(HasSubstr("at fault"))));
  EXPECT_THAT(warns("hierarchical:direct:direct"), Not(HasSubstr("at fault")));
}

TEST(ChooseVerb, ComparesFrameworks) {
  const auto json = nlohmann::json::parse(choose_by({"--workload", "vgg16", "--gpus", "16", "--profile",
                                                     "uber-p100-25gbe-tcp", "--preset", "horovod,tf-ps", "--json"}));
  ASSERT_EQ(json.at("clusters").size(), 1);
  const auto& best = json.at("clusters").at(0);
  EXPECT_EQ(best.at("strategy"), "horovod: ring");
  EXPECT_EQ(best.at("nodes"), 4);
  EXPECT_LT(best.at("efficiency").at("low"), best.at("efficiency").at("stated"));
  EXPECT_TRUE(best.at("cost").is_null());
  EXPECT_EQ(best.at("evidence"), "simulated");
}

TEST(ChooseVerb, WritesAPage) {
  const TemporaryFolder folder;
  const std::string file = (folder / "page.html").string();
  EXPECT_EQ(choose_by({"--workload", "vgg16", "--gpus", "8", "--profile", "dgx-a100", "--out", file}), file + " ");
  EXPECT_THAT(read_file(file), AllOf(HasSubstr("<!DOCTYPE html>"), HasSubstr("Where to train VGG-16")));
  EXPECT_THAT(choose_by({"--workload", "vgg16", "--gpus", "8", "--profile", "dgx-a100", "--format", "markdown"}),
              HasSubstr("# Where to train VGG-16"));
}

// There are no pictures beside what a terminal shows, nor beside a Markdown file.
TEST(ChooseVerb, PointsAtNoPictureThatIsNotThere) {
  const auto in = [](std::vector<std::string> format) {
    format.insert(format.end(), {"--workload", "vgg16", "--gpus", "8,16", "--profile", "dgx-a100", "--quiet"});
    return choose_by(format);
  };
  EXPECT_THAT(in({}), AllOf(Not(HasSubstr(".svg")), HasSubstr("With --out FILE.html also drawn: Efficiency")));
  EXPECT_THAT(in({"--format", "markdown"}), AllOf(Not(HasSubstr("![")), HasSubstr("<summary>")));
  EXPECT_THAT(in({"--format", "html"}), HasSubstr("<svg"));
}

TEST(ChooseVerb, SaysWhereNoRateOfOneGpuIsKnown) {
  const TemporaryFolder folder;
  write_bytes(folder / "mine.toml", kOwnTimeline);
  expect_refused("choose", {"--workload", (folder / "mine.toml").string(), "--gpu", "v100"},
                 "no cluster has a rate of one GPU for mine",
                 "give --rate h100=SAMPLES_PER_SECOND, or --profile with a file of your own that has one");
  EXPECT_THAT(choose_by({"--workload", "mobilenet_v2", "--gpu", "v100", "--rate", "v100=900", "--gpus", "8"}),
              HasSubstr("900"));
  EXPECT_THAT(
      choose_by({"--workload", "gpt2_small", "--single-gpu-rate", "12", "--gpus", "8", "--profile", "dgx-a100"}),
      HasSubstr("GPT-2 (124 M), batch 16: 8 GPUs of"));
  expect_refused("choose", {"--workload", "vgg17"}, "no workload 'vgg17'; did you mean 'vgg16'?", HasSubstr("vgg16"));
}

// A V100 has no bfloat16, and nobody measured BERT on an A10G.
TEST(ChooseVerb, ComparesGpusInOnePrecision) {
  EXPECT_THAT(choose_by({"--workload", "resnet50", "--gpus", "8", "--profile", "aws-p5en", "--precision", "bf16"}),
              AllOf(HasSubstr("4704"), Not(HasSubstr("(modelled)"))));
  EXPECT_THAT(choose_by({"--workload", "resnet50", "--gpus", "8", "--profile", "aws-p5en"}), HasSubstr("2379"));
  expect_refused("choose",
                 {"--workload", "resnet50", "--gpus", "8", "--profile", "aws-p3-25gbe", "--precision", "bf16"},
                 testing::_, "resnet50 on aws-p3-25gbe: its GPU does not compute in bf16; give another --precision");
}

TEST(ChooseVerb, MarksRatesThatNobodyMeasured) {
  EXPECT_THAT(choose_by({"--workload", "bert_large", "--gpus", "8", "--profile", "aws-g5-48xlarge", "--target", "1%"}),
              AllOf(HasSubstr("(modelled)"), HasSubstr("likely"), Not(HasSubstr("(pass)")),
                    HasSubstr("the samples/s of one GPU are modelled, and known within a factor of 1.25")));
}

TEST(ChooseVerb, TakesTransformersByTheirNumbers) {
  EXPECT_THAT(
      choose_by({"--workload", "llama2-7b", "--profile", "aws-p5en", "--gpus", "8", "--target", "1%"}),
      AllOf(HasSubstr("Llama 2 7 B, batch 1: 8 GPUs of aws-p5en"), HasSubstr("124 GB"), HasSubstr("(modelled)")));
  EXPECT_THAT(choose_by({"--workload", "transformer:layers=12,hidden=768,heads=12,vocab=50257,seq=1024,batch=8",
                         "--profile", "dgx-a100", "--gpus", "8", "--target", "1%"}),
              HasSubstr("Transformer of 0.124 B parameters (12 x 768), batch 8: 8 GPUs of dgx-a100"));
  expect_refused("choose", {"--workload", "transformer:layers=12"}, "a transformer without hidden",
                 "write transformer:layers=32,hidden=4096,heads=32,vocab=32000,seq=2048");
}

TEST(ChooseVerb, RefusesStepsWhoseActivationsHaveNoRoom) {
  expect_refused(
      "choose", {"--workload", "resnet50", "--profile", "dgx-a100", "--gpus", "8", "--batch", "2048"}, testing::_,
      "resnet50 on GPUs of 80 GB: weights, gradients and optimizer take 0.307 GB, and activations of 2048 samples 182 "
      "GB: give --batch 896");
}

TEST(ChooseVerb, NamesWhatWouldHaveRoom) {
  const auto has_no_room = [](const std::vector<std::string>& more, const char* why) {
    std::vector<std::string> arguments{"--gpus", "8", "--profile", "aws-p5", "--workload"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    expect_refused("choose", arguments, testing::_, why);
  };
  has_no_room(
      {"gpt2_xl", "--batch", "64"},
      "gpt2_xl on GPUs of 80 GB: weights, gradients and optimizer take 24.9 GB, and activations of 64 samples 191 "
      "GB: give --batch 18, or --recompute full");
  has_no_room(
      {"gpt2_xl", "--batch", "4096"},
      "gpt2_xl on GPUs of 80 GB: weights, gradients and optimizer take 24.9 GB, and activations of 4096 samples "
      "12217 GB: give --batch 18, or --recompute full --batch 118");
  has_no_room(
      {"gpt2_xl", "--recompute", "selective"},
      "gpt2_xl with selective recomputation: its attention is fused and keeps no scores that could be computed "
      "again, as PyTorch's does: leave --recompute out, take --recompute full for all layers, or give its numbers "
      "with attention=plain");
  has_no_room(
      {"resnet50", "--recompute", "full"},
      "resnet50 with full recomputation: what its layers keep is not known; it is of transformers by their numbers "
      "(hbench list workloads)");
  has_no_room(
      {"llama_7b"},
      "llama_7b on GPUs of 80 GB: weights, gradients and optimizer take 108 GB, and plain data parallelism has all "
      "of them on each GPU; --precision bf16-true takes 54 GB; --method zero:1 takes 61 GB");
  EXPECT_THAT(choose_by({"--gpus", "8", "--profile", "aws-p5", "--workload", "llama_7b", "--precision", "bf16-true",
                         "--target", "10%"}),
              HasSubstr("62 GB"));
  EXPECT_THAT(choose_by({"--gpus", "8", "--profile", "aws-p5", "--workload", "gpt2_xl", "--batch", "64", "--recompute",
                         "full", "--target", "10%"}),
              HasSubstr("54.7 GB"));
}

TEST(ChooseVerb, RefusesJobsThatHaveNoRoomOnAGpu) {
  expect_refused(
      "choose", {"--workload", "llama_7b", "--profile", "dgx-a100", "--gpus", "8"},
      "nothing to do: every combination was refused",
      "llama_7b on GPUs of 80 GB: weights, gradients and optimizer take 108 GB, and plain data parallelism has all of "
      "them on each GPU; --precision bf16-true takes 54 GB; --method zero:1 takes 61 GB");
  EXPECT_THAT(choose_by({"--workload", "llama_7b", "--profile", "aws-p5en", "--gpus", "8", "--target", "10%"}),
              HasSubstr("LLaMA 7B, batch 1: 8 GPUs of aws-p5en"));
}

}  // namespace
}  // namespace hbench::choose_test
