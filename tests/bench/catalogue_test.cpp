// The catalogue of clusters: what a buyer filters it by, how profiles are compared and checked, and that every shipped
// profile passes its own check and can be simulated.

#include <nlohmann/json.hpp>

#include "analysis/catalogue/check.hpp"
#include "analysis/catalogue/figures.hpp"
#include "analysis/prediction/rate_model.hpp"
#include "bench/launch/installation.hpp"
#include "bench/output/console.hpp"
#include "collectives/base/table.hpp"
#include "reports/catalogue/profiles.hpp"
#include "reports/formats/text_table.hpp"
#include "tests/bench/run_verb.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"
#include "workloads/simulation/step_simulator.hpp"

namespace hbench::catalogue_test {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

const std::filesystem::path kProfiles = HBENCH_SOURCE_DIR "/cluster-profiles";
/// When the newest prices of the catalogue had been seen.
constexpr std::chrono::sys_days kToday = 2026y / std::chrono::November / 23;

/// Two H100s in nodes of a small cloud, without a mistake: 10 lines before [network].
constexpr const char* kGood = R"(title = "Good"
provider = "Small Cloud"
gpu = "h100-sxm"
gpus_per_node = { value = 2, source = "offer" }
[compute]
straggler = { value = 0.01, source = "offer" }
[local]
latency = { value = "3 us", source = "offer" }
rate = { value = "370 GB/s", source = "offer" }
[network]
latency = { value = "15 us", source = "offer" }
line_rate = { value = "400 Gbit/s", source = "offer" }
protocol_efficiency = { value = 0.95, source = "offer" }
stream_cap = { value = "100 Gbit/s", source = "offer" }
streams = { value = 2, source = "offer" }
[prediction]
uncertainty = { value = 0.1, source = "offer" }
[price]
per_node_hour = 10
currency = "USD"
region = "north"
retrieved = "2026-09-20"
model = "on-demand"
source = "offer"
)";

std::string changed(const std::string& old_text, const std::string& new_text) {
  std::string text = kGood;
  EXPECT_NE(text.find(old_text), std::string::npos) << old_text;
  return text.replace(text.find(old_text), old_text.size(), new_text);
}

Profile parse(const std::string& text, const char* name = "my.toml") {
  return parse_profile(text, name, kProfiles / "gpus");
}

std::string findings_of(const std::string& text) {
  return findings_text(check_profile(parse(text), "my.toml", kToday));
}

// ---- check

TEST(ProfileCheck, FindsNothingInAProfileWithoutAMistake) { EXPECT_EQ(findings_of(kGood), ""); }

TEST(ProfileCheck, KnowsWhatLinksAndBusesCarry) {
  EXPECT_EQ(findings_of(changed("370 GB/s", "900 GB/s")),
            "my.toml:9: error: local.rate: 7.2 Tbit/s is more than the links of this GPU carry in one direction, 3.6 "
            "Tbit/s; it looks like both directions together\n");
  EXPECT_EQ(findings_of(changed("370 GB/s", "3600 GB/s")),
            "my.toml:9: error: local.rate: 28.8 Tbit/s is more than the links of this GPU carry in one direction, 3.6 "
            "Tbit/s; it looks like bits taken for bytes\n"
            "my.toml:9: error: local.rate: 28.8 Tbit/s is more than the GPU's memory gives, 26.8 Tbit/s\n");
  EXPECT_EQ(findings_of(changed("370 GB/s", "600 GB/s")),
            "my.toml:9: error: local.rate: 4.8 Tbit/s is more than the links of this GPU carry in one direction, 3.6 "
            "Tbit/s\n");
  EXPECT_EQ(
      findings_of(changed("370 GB/s", "4000 GB/s")),
      "my.toml:9: error: local.rate: 32 Tbit/s is more than the links of this GPU carry in one direction, 3.6 Tbit/s\n"
      "my.toml:9: error: local.rate: 32 Tbit/s is more than the GPU's memory gives, 26.8 Tbit/s\n");
  EXPECT_EQ(findings_of(changed("370 GB/s", "450 Gbit/s")),
            "my.toml:9: warning: local.rate: 450 Gbit/s is an eighth of what the links of this GPU carry; are bytes "
            "meant?\n");
  EXPECT_EQ(findings_of(changed("370 GB/s", "450 GB/s")), "") << "all that the links carry";
  EXPECT_EQ(
      findings_of(changed("\"h100-sxm\"", "\"rtx6000ada\"")),
      "my.toml:9: error: local.rate: 2.96 Tbit/s is more than the bus of this GPU carries in one direction, 252 "
      "Gbit/s\n"
      "my.toml:12: error: network.line_rate: 400 Gbit/s is more than the PCIe bus of nodes with this GPU carries to a "
      "NIC, 252 Gbit/s\n");
}

TEST(ProfileCheck, SaysWhatIsCountedOnOfLinksThatPassTheHost) {
  EXPECT_THAT(findings_of(changed("[network]", "peer_access = false\n[network]")),
              HasSubstr("local.rate: GPUs of a node do not reach each other's memory (peer_access): of this rate 57 % "
                        "are counted on, and by the board it may be 1.3 times more or 3.5 times less"));
}

TEST(ProfileCheck, KnowsHowFastNicsAre) {
  EXPECT_EQ(findings_of(changed("400 Gbit/s", "400 GB/s")),
            "my.toml:12: error: network.line_rate: 3.2 Tbit/s is more than the fastest NIC has, 800 Gbit/s; it looks "
            "like bytes taken for bits\n");
  EXPECT_EQ(findings_of(changed("400 Gbit/s", "3200 Gbit/s")),
            "my.toml:12: error: network.line_rate: 3.2 Tbit/s is more than the fastest NIC has, 800 Gbit/s; several "
            "NICs are stated by network.nics\n");
  EXPECT_EQ(
      findings_of(changed("400 Gbit/s", "50 GB/s")),
      "my.toml:12: warning: network.line_rate: 50 GB/s are 400 Gbit/s; are bits meant, in which NICs are sold?\n");
  EXPECT_EQ(
      findings_of(changed("400 Gbit/s", "25 GB/s")),
      "my.toml:12: warning: network.line_rate: 25 GB/s are 200 Gbit/s; are bits meant, in which NICs are sold?\n");
  EXPECT_EQ(findings_of(changed("400 Gbit/s", "12.5 GB/s")), "") << "no NIC has 12.5 Gbit/s";
  EXPECT_EQ(findings_of(changed("400 Gbit/s", "800 Gbit/s")),
            "my.toml:12: error: network.line_rate: 800 Gbit/s is more than the PCIe bus of nodes with this GPU carries "
            "to a NIC, 504 Gbit/s\n");
  EXPECT_EQ(
      findings_of(changed("protocol_efficiency = { value = 0.95, source = \"offer\" }\n", "")),
      "my.toml: note: network.protocol_efficiency: 0.8 is assumed, and may be 1.25 times higher or lower: what TCP "
      "carries where nobody says more than the line's rate\n");
}

TEST(ProfileCheck, QuestionsLatenciesOfAnotherUnit) {
  EXPECT_EQ(findings_of(changed("15 us", "15 ms")),
            "my.toml:11: warning: network.latency: 15 ms is hardly the latency of a message; is the unit right (us, "
            "ms, ns)?\n");
  EXPECT_EQ(findings_of(changed("15 us", "15 ns")),
            "my.toml:11: warning: network.latency: 15 ns is hardly the latency of a message; is the unit right (us, "
            "ms, ns)?\n"
            "my.toml:8: warning: local.latency: 3 us is more than between nodes, 15 ns\n");
  EXPECT_EQ(findings_of(changed("3 us", "30 us")),
            "my.toml:8: warning: local.latency: 30 us is more than between nodes, 15 us\n");
  EXPECT_EQ(findings_of(changed("[network]", "[network]\nlow_latency = \"16 us\"")),
            "my.toml:11: error: network.low_latency: 16 us is more than network.latency, 15 us\n"
            "my.toml:11: note: network.low_latency: no source is given\n");
  EXPECT_EQ(findings_of(changed("[local]", "[local]\nlow_latency = \"4 us\"")),
            "my.toml:8: error: local.low_latency: 4 us is more than local.latency, 3 us\n"
            "my.toml:8: note: local.low_latency: no source is given\n");
}

TEST(ProfileCheck, ComparesStreamsWithTheirNics) {
  EXPECT_EQ(findings_of(changed("\"100 Gbit/s\"", "\"500 Gbit/s\"")),
            "my.toml:14: error: network.stream_cap: one stream of 500 Gbit/s cannot be more than the NICs together, "
            "400 Gbit/s\n");
  EXPECT_EQ(findings_of(changed("stream_cap = { value = \"100 Gbit/s\", source = \"offer\" }\n", "")),
            "my.toml:14: warning: network.streams: it means nothing without network.stream_cap\n");
}

TEST(ProfileCheck, MissesRatesSourcesAndAnUncertainty) {
  const std::string own = findings_of(changed("\"h100-sxm\"", "\"own\""));
  EXPECT_THAT(own, HasSubstr("my.toml: warning: rates: no samples/s of one GPU are known"));
  EXPECT_THAT(own, HasSubstr("my.toml:3: note: gpu: cluster-profiles/gpus has no own"));
  EXPECT_EQ(findings_of(changed("[price]", "[rates]\nmine = 5\n[price]")),
            "my.toml:19: warning: rates.mine: the batch at which it was measured is not stated\n"
            "my.toml:19: note: rates.mine: no source is given\n");
  EXPECT_EQ(findings_of(changed("{ value = \"15 us\", source = \"offer\" }", "\"15 us\"")),
            "my.toml:11: note: network.latency: no source is given\n");
  EXPECT_EQ(findings_of(changed("value = 0.1, ", "value = 0, ")),
            "my.toml:17: warning: prediction.uncertainty: no figure is exact: without it bands hold the error of the "
            "model alone\n");
  EXPECT_EQ(findings_of(changed("value = 2, source", "value = 2, assumed = 3, source")),
            "my.toml:4: note: gpus_per_node: 2 is assumed, and may be 3 times higher or lower: offer\n");
}

TEST(ProfileCheck, KnowsTheAgeOfAPrice) {
  EXPECT_EQ(findings_of(changed("2026-09-20", "2026-11-24")),
            "my.toml:22: error: price.retrieved: 2026-11-24 lies in the future\n");
  EXPECT_EQ(findings_of(changed("2026-09-20", "2026-11-23")), "");
  EXPECT_EQ(findings_of(changed("2026-09-20", "2026-08-25")), "") << "90 days";
  EXPECT_EQ(findings_of(changed("2026-09-20", "2026-08-24")),
            "my.toml:22: warning: price.retrieved: 2026-08-24 is 91 days ago; prices move more than bandwidths, look "
            "again\n");
  EXPECT_EQ(findings_of(changed("2026-09-20", "not stated")),
            "my.toml:22: warning: price.retrieved: nobody knows how old the price is\n");
  EXPECT_EQ(findings_of(changed("= 10", "= 7000")),
            "my.toml:19: warning: price.per_node_hour: it makes 3500 USD for a GPU-hour, which is hardly a price; what "
            "a whole node of 2 GPUs costs for an hour is meant\n");
  EXPECT_EQ(findings_of(changed("\"USD\"\nregion = \"north\"", "\"INR\"\nregion = \"north\"")), "");
}

TEST(ProfileCheck, PutsErrorsBeforeWarningsBeforeNotes) {
  const auto findings =
      check_profile(parse(changed("370 GB/s", "900 GB/s") + "[rates]\nmine = 5\n"), "my.toml", kToday);
  ASSERT_EQ(findings.size(), 3U);
  EXPECT_EQ(findings[0].severity, Severity::error);
  EXPECT_EQ(findings[1].severity, Severity::warning);
  EXPECT_EQ(findings[2].severity, Severity::note);
  const json rows = json::parse(findings_json(findings));
  EXPECT_EQ(rows.at(0).at("severity"), "error");
  EXPECT_EQ(rows.at(1).at("place"), "my.toml:26");
}

// ---- compare

const FigurePair& pair_of(const std::vector<FigurePair>& pairs, const std::string& key) {
  const auto found = std::ranges::find(pairs, key, &FigurePair::key);
  EXPECT_NE(found, pairs.end()) << key;
  return *found;
}

TEST(ProfileDiff, GivesRatiosOfLikeQuantities) {
  const std::string other = changed("400 Gbit/s", "25 GB/s");
  const Profile a = parse(kGood, "a.toml"), b = parse(other, "b.toml");
  const auto pairs = compare_profiles(a, b);
  EXPECT_DOUBLE_EQ(*pair_of(pairs, "network.line_rate").ratio, 0.5) << "bits and bytes are one kind";
  EXPECT_DOUBLE_EQ(*pair_of(pairs, "between nodes, per GPU").ratio, 0.5);
  EXPECT_DOUBLE_EQ(*pair_of(pairs, "between two ranks of two nodes").ratio, 1)
      << "two streams of 100 Gbit/s bound both";
  EXPECT_EQ(pair_of(pairs, "network.line_rate").source_a, "offer");
  EXPECT_FALSE(pair_of(pairs, "title").ratio);
  EXPECT_FALSE(pair_of(pairs, "network.latency").differs());
  EXPECT_DOUBLE_EQ(*pair_of(pairs, "rates.resnet50").ratio, 1);
}

TEST(ProfileDiff, ShowsOnlyWhatDiffersUnlessAllIsAskedFor) {
  const Profile a = parse(kGood, "a.toml"),
                b = parse(changed("value = \"15 us\"", "value = \"30 us\", assumed = true"), "b.toml");
  const std::string text = terminal_text(difference_document(a, b, false));
  EXPECT_THAT(text, AllOf(HasSubstr("network.latency"), HasSubstr("15 us"), HasSubstr("30 us (assumed)"),
                          HasSubstr(" 2\n"), Not(HasSubstr("line_rate"))));
  EXPECT_THAT(terminal_text(difference_document(a, b, true)), HasSubstr("network.line_rate"));
  EXPECT_EQ(terminal_text(difference_document(a, parse(kGood, "c.toml"), false)), "a and c state the same figures.\n");
  const json only = json::parse(difference_json(a, b, false));
  EXPECT_EQ(only.at("figures").size(), 1U);
  EXPECT_EQ(only.at("figures").at(0).at("ratio"), 2);
}

TEST(ProfileDiff, ConvertsNoCurrencyAndJoinsNoNodes) {
  const Profile usd = parse(kGood);
  const Profile inr = parse(changed("\"USD\"", "\"INR\""));
  const Profile alone = parse(changed("[compute]", "most_nodes = 1\n[compute]"));
  EXPECT_FALSE(pair_of(compare_profiles(usd, inr), "price of a GPU-hour").ratio);
  EXPECT_EQ(pair_of(compare_profiles(usd, inr), "price of a GPU-hour").b, "5.00 INR");
  const auto pairs = compare_profiles(usd, alone);
  EXPECT_EQ(pair_of(pairs, "between nodes, per GPU").b, "");
  EXPECT_EQ(pair_of(pairs, "most_nodes").a, "");
}

// ---- filter

std::vector<Profile> catalogue() {
  return {parse(kGood, "good.toml"),
          parse(changed("= 10", "= 6"), "cheap.toml"),
          parse(changed("\"USD\"", "\"EUR\""), "euro.toml"),
          parse(changed("\"h100-sxm\"", "\"a100\""), "a100.toml"),
          parse(changed("[compute]", "most_nodes = 1\n[compute]"), "alone.toml"),
          parse(changed("400 Gbit/s", "200 Gbit/s"), "slow.toml")};
}

std::vector<std::string> names(const CatalogueTexts& texts) {
  std::vector<std::string> names;
  for (const Profile& profile : matching_profiles(catalogue(), parse_catalogue_filter(texts)))
    names.push_back(profile.name);
  return names;
}

TEST(CatalogueFilter, LeavesWhatMeetsEveryCondition) {
  EXPECT_EQ(names({}).size(), 6U);
  EXPECT_THAT(names({.gpu = "A100"}), ElementsAre("a100"));
  EXPECT_EQ(names({.gpu = "h100"}).size(), 5U) << "h100-sxm";
  EXPECT_EQ(names({.gpu = "h100,a100"}).size(), 6U);
  EXPECT_EQ(names({.provider = "small cloud"}).size(), 6U);
  EXPECT_THAT(names({.max_price = "3usd"}), ElementsAre("cheap"));
  EXPECT_THAT(names({.max_price = "5 eur"}), ElementsAre("euro"));
  EXPECT_THAT(names({.gpu = "h100", .max_price = "5usd"}), ElementsAre("good", "cheap", "alone", "slow"));
  EXPECT_THAT(names({.min_bandwidth = "190Gbit/s"}), ElementsAre("good", "cheap", "euro", "a100"));
  EXPECT_THAT(names({.max_price = "5usd", .min_bandwidth = "23.75 GB/s"}), ElementsAre("good", "cheap", "a100"));
}

TEST(CatalogueFilter, SaysWhichConditionLeavesNothing) {
  expect_error([] { names({.gpu = "h10"}); }, ExitCode::usage, "no GPU 'h10'; did you mean 'h100-sxm'?",
               "known: a100, h100-sxm");
  expect_error([] { names({.gpu = "h"}); }, ExitCode::usage, "no GPU 'h'", "known: a100, h100-sxm");
  expect_error([] { names({.provider = "smallcloud"}); }, ExitCode::usage,
               "no provider 'smallcloud'; did you mean 'Small Cloud'?", "known: Small Cloud");
  expect_error([] { names({.gpu = "h100", .max_price = "1usd"}); }, ExitCode::usage,
               "no profile meets --gpu h100 and --max-price 1.00 USD",
               "profiles left without --gpu h100: 0; without --max-price 1.00 USD: 5; the cheapest of the rest is "
               "cheap, 3.00 USD for a GPU-hour");
  expect_error([] { names({.max_price = "100inr"}); }, ExitCode::usage, "no profile meets --max-price 100 INR",
               "profiles left without --max-price 100 INR: 6; no price in INR is known for the rest");
}

TEST(CatalogueFilter, RefusesWhatMakesNoSense) {
  const auto refused = [](const CatalogueTexts& texts, const char* message, const char* hint) {
    expect_error([&] { parse_catalogue_filter(texts); }, ExitCode::usage, message, hint);
  };
  refused({.max_price = "cheap"}, "--max-price cheap is no price",
          "write such as 5usd: what one GPU may cost for an hour, and the three letters of a currency");
  refused({.max_price = "-1usd"}, "--max-price -1usd is no price",
          "write such as 5usd: what one GPU may cost for an hour, and the three letters of a currency");
  refused({.min_bandwidth = "5"},
          "--min-bandwidth: invalid rate '5': it has no unit; expected a number and bit/s, kbit/s, Mbit/s, Gbit/s, "
          "Tbit/s, B/s, kB/s, MB/s, GB/s or TB/s",
          "write it like 25 Gbit/s");
  refused({.min_bandwidth = "-5Gbit/s"}, "--min-bandwidth -5Gbit/s is no bandwidth",
          "write such as 100Gbit/s: a GPU's share of its node's NICs");
  refused({.gpu = "a,,b"}, "--gpu 'a,,b' has an empty item", "write a,b,c without spaces");
}

TEST(CatalogueListing, FitsIntoEightyColumnsAndSaysWhatIsAssumed) {
  std::vector<Profile> profiles = all_profiles(load_data().profiles);
  const Table table = profile_table(profiles);
  const std::string text = text_table(table, kUsualWidth);
  EXPECT_THAT(text, AllOf(HasSubstr("as of"), HasSubstr("(spot)"), HasSubstr("~380 Gbit/s")));
  EXPECT_EQ(table.rows.size(), profiles.size());
}

TEST(CatalogueListing, IsNumbersForMachines) {
  const json rows = json::parse(profiles_json({parse(kGood), parse(changed("[compute]", "most_nodes = 1\n[compute]")),
                                               parse(changed("value = 2, source", "value = 2, assumed = 3, source"))}));
  EXPECT_EQ(rows.at(0).at("price").at("per_gpu_hour"), 5);
  EXPECT_EQ(rows.at(0).at("price").at("model"), "on-demand");
  EXPECT_EQ(rows.at(0).at("gpu_bytes_per_second"), 0.95 * 25e9);
  EXPECT_TRUE(rows.at(0).at("most_nodes").is_null());
  EXPECT_TRUE(rows.at(1).at("gpu_bytes_per_second").is_null());
  EXPECT_EQ(rows.at(2).at("assumed").at(0).at("figure"), "gpus_per_node");
}

// ---- the verbs

TEST(ProfileVerb, ChecksAFileAndSaysSoByItsExitCode) {
  const TemporaryFolder folder;
  const std::string file = (folder / "mine.toml").string();
  write_bytes(file, changed("370 GB/s", "900 GB/s"));
  const Ran bad = run_verb("profile", {"check", file});
  EXPECT_EQ(bad.code, ExitCode::wrong_data);
  EXPECT_THAT(bad.out, AllOf(HasSubstr("mine.toml:9: error: local.rate"), HasSubstr("errors 1, ")));
  write_bytes(file, kGood);
  EXPECT_EQ(run_verb("profile", {"check", file}).code, ExitCode::good);
  EXPECT_EQ(json::parse(run_verb("profile", {"check", file, "--json"}).out), json::array());
  write_bytes(file, changed("latency", "latenci"));
  expect_error([&] { run_verb("profile", {"check", file}); }, ExitCode::usage, HasSubstr("mine.toml:8: unknown key"));
}

TEST(ProfileVerb, ComparesTwoProfiles) {
  EXPECT_THAT(run_verb("profile", {"diff", "aws-p3-25gbe", "aws-p3dn-tcp"}).out,
              AllOf(HasSubstr("network.line_rate"), HasSubstr("25 Gbit/s"), HasSubstr("100 Gbit/s"),
                    HasSubstr("Where they are from"), HasSubstr("1.27")));
  EXPECT_EQ(json::parse(run_verb("profile", {"diff", "dgx-a100", "dgx-a100", "--json"}).out).at("figures"),
            json::array());
  expect_error([] { run_verb("profile", {"diff", "dgx-a100"}); }, ExitCode::usage, "two profiles are needed");
  expect_error([] { run_verb("profile", {"chek"}); }, ExitCode::usage,
               "no action on profiles 'chek'; did you mean 'check'?");
  EXPECT_THAT(run_verb("profile", {}).out, AllOf(HasSubstr("diff"), HasSubstr("check"), HasSubstr("Examples")));
}

TEST(ListVerb, FiltersProfilesOnly) {
  const Ran h100 = run_verb("list", {"profiles", "--gpu", "h100", "--max-price", "7usd", "--json"});
  for (const json& row : json::parse(h100.out)) {
    EXPECT_THAT(row.at("gpu").get<std::string>(), StartsWith("h100"));
    EXPECT_LE(row.at("price").at("per_gpu_hour").get<double>(), 7);
  }
  expect_error(
      [] {
        run_verb("list", {"models", "--gpu", "h100"});
      },
      ExitCode::usage, "the conditions on a cluster say nothing about models");
}

// ---- the family of shipped profiles

class EveryProfile : public testing::Test {
 protected:
  std::vector<Profile> profiles_ = all_profiles(load_data().profiles);
};

TEST_F(EveryProfile, PassesItsOwnCheck) {
  EXPECT_GE(profiles_.size(), 45U);
  for (const Profile& profile : profiles_)
    for (const ProfileFinding& finding : check_profile(profile, profile.name + ".toml", kToday))
      EXPECT_NE(finding.severity, Severity::error) << finding.place << ": " << finding.what;
}

TEST_F(EveryProfile, StatesThePriceOfAGpuWithItsTerms) {
  int priced = 0;
  for (const Profile& profile : profiles_) {
    if (!profile.price) continue;
    ++priced;
    EXPECT_FALSE(profile.provider.empty()) << profile.name;
    EXPECT_GT(profile.price->source.size(), 10U) << profile.name;
    EXPECT_TRUE(profile.price->retrieved == kNotStated || first_day(profile.price->retrieved)) << profile.name;
    if (profile.price->per_node_hour.currency != "USD") continue;
    EXPECT_GT(price_per_gpu_hour(profile)->amount, 0.5) << profile.name;
    EXPECT_LT(price_per_gpu_hour(profile)->amount, 20) << profile.name;
  }
  EXPECT_GE(priced, 30);
}

TEST_F(EveryProfile, SaysOfAssumedFiguresThatNobodyStatesThem) {
  for (const Profile& profile : profiles_)
    for (const Figure& figure : profile.figures)
      if (figure.source.starts_with("nobody states")) {
        EXPECT_TRUE(figure.assumed > 1 || figure.key == "prediction.uncertainty" || figure.key == "most_nodes")
            << profile.name << ' ' << figure.key;
      }
}

TEST_F(EveryProfile, SimulatesAStepBetweenItsEnds) {
  const Trace trace = load_data().traces.load("resnet50");
  const TrainingStrategy ring{
      .algorithm = parse_algorithm_rule("ring"), .placement = nullptr, .fusion = parse_fusion("ddp"), .overlap = true};
  const RateModel rates(load_data().profiles.gpus());
  for (Profile& profile : profiles_) {
    const int nodes = profile.most_nodes == 1 ? 1 : 2;
    take_rate(profile, trace, rates);
    const GpuRate& rate = profile.rates.at("resnet50");
    const StepTimeline timeline = trace.timeline.rescaled(rate.samples_per_second, rate.batch);
    const auto step = [&](End end) {
      const Profile taken = profile.at(end);
      return StepSimulator(taken, {.workers = nodes * profile.gpus_per_node}).run(timeline, ring).step.value;
    };
    const double stated = step(End::stated);
    EXPECT_GT(stated, 0) << profile.name;
    EXPECT_LE(step(End::better), stated * (1 + 1e-9)) << profile.name;
    EXPECT_GE(step(End::worse), stated * (1 - 1e-9)) << profile.name;
    EXPECT_LT(step(End::worse), 100 * stated) << profile.name;
  }
}

}  // namespace
}  // namespace hbench::catalogue_test
