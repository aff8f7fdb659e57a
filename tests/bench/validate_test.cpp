// Predictions beside the published table: the error of the model that bands promise is that of the table.

#include "analysis/prediction/validate.hpp"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "analysis/points/unknowns.hpp"
#include "analysis/prediction/causes.hpp"
#include "analysis/prediction/simulate.hpp"
#include "analysis/prediction/validate_curves.hpp"
#include "analysis/published/published.hpp"
#include "analysis/records/words.hpp"
#include "analysis/statistics/statistics.hpp"
#include "bench/launch/installation.hpp"
#include "collectives/base/file.hpp"
#include "collectives/base/table.hpp"
#include "reports/formats/formats.hpp"
#include "reports/validate/validated_curves.hpp"
#include "reports/validate/validation.hpp"
#include "tests/bench/run_verb.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench::validate_test {
namespace {

constexpr const char* kHeader =
    "workload,profile,gpus,batch_per_gpu,algorithm,placement,server_mode,servers,compressor,fusion,overlap,throughput,"
    "efficiency,baseline_throughput,calibrated,year,source,note\n";

const std::vector<Validation>& published_validations() {
  static const std::vector<Validation> kAll = validate(published_results(), load_data());
  return kAll;
}

std::vector<Validation> from_nodes(const std::vector<CaseResult>& rows) {
  return validate(rows, catalog_of(rows, load_data()), {}, RowStart::node);
}

Validation validation_of_row(const std::string& row) {
  std::istringstream in(kHeader + row + ",no,2020,https://example.org/a,\n");
  return validate(published_results(in, "a.csv"), load_data()).at(0);
}

/// Returns whether a figure was predicted before anything of the model was compared with its source.
bool was_predicted_first(const Validation& each) {
  constexpr const char* kSources[] = {"bf69c149", "07671548", "097e9d73", "e7a07c4d", "0fb83f6d",
                                      "e086e0e7", "23a6382c", "49e23b45", "002bcd8c", "transformers/issues/9371"};
  return std::ranges::any_of(kSources,
                             [&](const char* part) { return each.asked.source.find(part) != std::string::npos; });
}

double share_held(const std::vector<Residual>& residuals, ResidualGroup group) {
  const std::vector<bool> held = held_elsewhere(residuals, group);
  return mean_over(residuals, group, std::vector<double>(held.begin(), held.end()));
}

// As wide as predictions have them, and as wide as the other sources, clusters or frameworks ask for.
TEST(Validate, HoldsWhatBandsPromiseOfSourcesClustersAndFrameworksThatAreLeftOut) {
  std::vector<Residual> residuals, unnamed;
  std::vector<double> held;
  for (const Validation& each : published_validations()) {
    residuals.push_back(each.residual);
    held.push_back(holds(each.residual) ? 1 : 0);
    if (each.unnamed) unnamed.push_back(each.unnamed->residual);
  }
  EXPECT_GE(mean_over(residuals, &Residual::source, held), kBandLevel);
  EXPECT_LE(fit_scale(residuals, &Residual::source), 1) << "predictions are as wide as the next source asks for";
  for (const double share : {share_held(residuals, &Residual::source), share_held(residuals, &Residual::cluster),
                             share_held(unnamed, &Residual::framework)}) {
    EXPECT_GE(share, 0.85);
    EXPECT_LE(share, 1);
  }
}

// Two strategies of one cluster, workload and number of GPUs from one source, neither of which calibrated anything:
// whom `lead_of` calls ahead, or likely ahead, is; of level ones nobody can say.
TEST(Validate, HasThePublishedOrderOfPairsWhereOneIsAheadOrLikelyAhead) {
  struct Count {
    int right = 0, all = 0;
    double share() const { return static_cast<double>(right) / all; }
  };
  std::map<LeadVerdict, Count> counts;
  for (const ValidatedPair& pair : pairs_of(published_validations())) {
    Count& count = counts[pair.lead.verdict()];
    ++count.all;
    count.right += pair.in_order() ? 1 : 0;
  }
  const Count &ahead = counts[LeadVerdict::ahead], &likely = counts[LeadVerdict::likely],
              &level = counts[LeadVerdict::level];
  ASSERT_GT(ahead.all, 30);
  ASSERT_GT(likely.all, 20);
  ASSERT_GT(level.all, 30);
  EXPECT_GT(ahead.share(), 0.9) << ahead.right << " of " << ahead.all;
  EXPECT_GT(likely.share(), 0.8) << likely.right << " of " << likely.all;
  EXPECT_LT(level.share(), 0.75) << level.right << " of " << level.all;
}

// Sources alike: nine of ten ratios of all-reduces and parameter servers are held, and of two of one family.
TEST(Validate, HoldsNineOfTenPublishedPairsInTheirBands) {
  for (const bool servers : {false, true}) {
    std::vector<Residual> residuals;
    std::vector<double> held;
    std::vector<Validation> known = published_validations();
    std::erase_if(known, was_predicted_first);
    for (const ValidatedPair& pair : pairs_of(known)) {
      if (pair.servers != servers) continue;
      residuals.push_back(pair.residual);
      held.push_back(holds(pair.residual) ? 1 : 0);
    }
    EXPECT_GT(mean_over(residuals, &Residual::source, held), 0.9) << (servers ? "with servers" : "of one family");
  }
}

TEST(Validate, KnowsASourceByItsRepositoryOrThread) {
  std::set<std::string> sources;
  for (const Validation& each : published_validations()) sources.insert(each.residual.source);
  EXPECT_EQ(sources.size(), 24);
  EXPECT_THAT(sources, IsSupersetOf({"horovod/horovod", "horovod/horovod#416", "horovod/horovod#2581",
                                     "HKBU-HPML/ddl-benchmarks", "NVIDIA/DeepLearningExamples"}));
}

TEST(Validate, FindsMixedPrecisionInTheNoteOrInTheRateOfOneGpu) {
  const auto mixed = [](const std::string& rate, const std::string& note) {
    std::istringstream in(std::string(kHeader) + "resnet50,dgx-1-v100,8,64,ring,,,,none,none,yes,2000,," + rate +
                          ",no,2020,https://example.org/a," + note + "\n");
    return validate(published_results(in, "a.csv"), load_data()).at(0).mixed_precision;
  };
  EXPECT_FALSE(mixed("384", ""));
  EXPECT_TRUE(mixed("384", "mixed precision"));
  EXPECT_TRUE(mixed("384", "user report fp16"));
  EXPECT_TRUE(mixed("1270", "")) << "three times what the GPU makes in single precision";
}

// Given what the source's full node makes, the steps on several nodes are nearer, and their bands hold as well.
TEST(Validate, StartsFromTheFullNodeOfASourceThatHasOne) {
  double stated = 0, from_node = 0;
  int rows = 0, held = 0;
  for (const Validation& each : published_validations()) {
    if (!each.from_node) continue;
    EXPECT_GT(each.asked.gpus, 1);
    ++rows;
    stated += std::abs(each.error());
    from_node += std::abs(each.from_node->error());
    held += holds(each.from_node->residual) ? 1 : 0;
  }
  ASSERT_GT(rows, 40);
  EXPECT_LT(from_node, stated);
  EXPECT_GT(held, 0.85 * rows);
}

// A row that states no rate of one GPU starts from the row of one node with the same note, at another batch, and that
// row is no prediction.
TEST(Validate, StartsFromOneNodeAtAnotherBatchWhereNoRateIsStated) {
  const std::string start =
      "resnet50,dgx-a100,8,408,ring,,,,fp16,horovod,yes,26000,,,no,2022,https://example.org/a,A\n";
  const auto across = [&](const std::string& note) {
    std::istringstream in(kHeader + start + "resnet50,dgx-a100,64,51,ring,,,,fp16,horovod,yes,166000,,,no,2022," +
                          "https://example.org/a," + note + "\n");
    return from_nodes(published_results(in, "a.csv"));
  };
  const std::vector<Validation> same = across("A");
  EXPECT_EQ(same[0].chosen, kStart);
  EXPECT_NEAR(same[0].error(), 0, 0.02);
  EXPECT_EQ(same[1].chosen, "");
  EXPECT_LT(std::fabs(same[1].error()), 0.15);
  const std::vector<Validation> other = across("B");
  EXPECT_EQ(other[0].chosen, "");
  EXPECT_NE(other[1].predicted, same[1].predicted) << "another job: at the profile's rate";
}

// ResNet-50 and BERT of MLPerf on 8 to 4,320 GPUs, from the rate of one node: rows of one node are no predictions.
TEST(Validate, IsNearMlperfFromTheRateOfOneNode) {
  const std::vector<CaseResult> rows = mlperf_results();
  int most = 0;
  double error = 0, held = 0, predictions = 0;
  for (const Validation& each : from_nodes(rows)) {
    if (each.chosen == kStart) continue;
    EXPECT_GT(each.asked.gpus, load_data().profiles.load(each.asked.profile).gpus_per_node) << each.asked.source;
    most = std::max(most, each.asked.gpus);
    ++predictions;
    error += std::fabs(each.error());
    held += holds(each.residual) ? 1 : 0;
  }
  EXPECT_GE(predictions, 40);
  EXPECT_GE(most, 4216);
  EXPECT_LE(error / predictions, 0.15);
  EXPECT_GE(held / predictions, 0.85);
}

/// How near predictions are to published steps, and how often their bands hold these.
struct Nearness {
  int rows = 0;
  double error = 0, worst = 0, held = 0;
  void add(const Validation& each) {
    ++rows;
    error += std::fabs(each.error());
    worst = std::max(worst, std::fabs(each.error()));
    held += holds(each.residual) ? 1 : 0;
  }
};

// FSDP and HSDP on 16 to 512 GPUs, most from the rate that the same source prints for one node; tensor groups and
// pipelines on up to 3072.
TEST(Validate, IsNearPublishedStepsOfOtherMethods) {
  Nearness sharded, divided;
  const std::vector<CaseResult> rows = sharded_results();
  for (const Validation& each : validate(rows, catalog_of(rows, load_data()), {}, RowStart::job))
    (each.asked.strategy.method.find("sdp") != std::string::npos ? sharded : divided).add(each);
  EXPECT_EQ(sharded.rows, 55);
  EXPECT_LE(sharded.error / sharded.rows, 0.12);
  EXPECT_GE(sharded.held / sharded.rows, 0.85);
  EXPECT_LE(sharded.held / sharded.rows, 0.95);
  EXPECT_EQ(divided.rows, 13);
  EXPECT_LE(divided.error / divided.rows, 0.10);
  EXPECT_LE(divided.worst, 0.20);
  EXPECT_GE(divided.held / divided.rows, 0.85);
}

// Each cause is a part of some cluster's model, and taking out what is unknown by name is refused.
TEST(Causes, ChangeAClusterOrWhatIsAskedOfIt) {
  const Profile stated = load_data().profiles.load("aws-p5");
  for (const Cause& cause : causes()) {
    EXPECT_FALSE(cause.summary.empty()) << cause.name;
    EXPECT_TRUE(cause.remove_from_cluster != nullptr || cause.remove_from_case != nullptr) << cause.name;
  }
  Profile silent = stated;
  find_cause("call").remove_from_cluster(silent);
  EXPECT_EQ(silent.call_latency.value, 0);
  find_cause("hops").remove_from_cluster(silent);
  EXPECT_EQ(silent.network_latency.value, 0);
  EXPECT_EQ(silent.local_rate.value, stated.local_rate.value);
  Case asked;
  asked.strategy.compressor = "topk:0.01";
  find_cause("compressor").remove_from_case(asked);
  EXPECT_FALSE(asked.strategy.compresses());
  find_cause("precision").remove_from_case(asked);
  EXPECT_EQ(asked.training.precision, "float32");
  expect_error([] { find_cause("cal"); }, ExitCode::usage, "no cause 'cal'; did you mean 'call'?");
}

/// Eight frameworks, most of which no other source has, some with an input that does not keep up.
constexpr std::string_view kManyFrameworks = "Oneflow-Inc/DLPerf";

/// With no figure of which a profile was made.
TEST(Validate, IsNearThePublishedFiguresThatMadeNoProfile) {
  std::vector<double> errors, of_many, predicted_first;
  double held = 0;
  for (const Validation& each : published_validations()) {
    if (each.chosen == "profile") continue;
    if (was_predicted_first(each)) {
      predicted_first.push_back(std::fabs(each.error()));
      continue;
    }
    (each.residual.source == kManyFrameworks ? of_many : errors).push_back(std::fabs(each.error()));
    held += holds(each.residual) ? 1 : 0;
  }
  ASSERT_GE(errors.size(), 290);
  EXPECT_LT(median(errors), 0.035);
  EXPECT_LT(percentile(errors, 0.9), 0.15);
  ASSERT_EQ(of_many.size(), 120);
  EXPECT_LT(median(of_many), 0.06);
  EXPECT_GE(held / static_cast<double>(errors.size() + of_many.size()), 0.85);
  ASSERT_EQ(predicted_first.size(), 231);
  EXPECT_LT(median(predicted_first), 0.075);
}

// What a framework's own steps chose is no test of what is taken of a framework that nobody published.
TEST(Validate, PredictsFiguresAlsoWithoutWhatTheyChose) {
  double as_chosen = 0, left_out = 0;
  int figures = 0;
  for (const Validation& each : published_validations()) {
    EXPECT_EQ(each.left_out.has_value(), each.chosen == "preset");
    if (!each.left_out) continue;
    ++figures;
    as_chosen += std::fabs(each.error());
    left_out += std::fabs(each.left_out->error());
  }
  EXPECT_EQ(figures, 49);
  EXPECT_GT(left_out, as_chosen);
}

// Hbench's own engine, which emulation runs too, loses nothing beside its schedule; a framework by name does, and what
// it loses is a part of the step's ledger.
TEST(Validate, ExpectsOfAFrameworkWhatPublishedStepsLose) {
  const auto simulated = [](const char* preset) {
    Case asked{.workload = "resnet50", .gpus = 16, .profile = "dgx-1-v100"};
    asked.batch_per_gpu = 64;
    asked.single_gpu_rate = 384;
    asked.strategy = {.algorithm = "ring", .compressor = "none", .fusion = "ddp", .preset = preset};
    const Data data = load_data();
    Catalog catalog;
    catalog.profiles.emplace(asked.profile, data.profiles.load(asked.profile));
    catalog.traces.emplace(asked.workload, data.traces.load(asked.workload));
    return SimulatedRunner(catalog).step(planned(asked));
  };
  const SimulatedStep own = simulated(""), named = simulated("ddp");
  EXPECT_EQ(own.lost, 1);
  EXPECT_DOUBLE_EQ(named.lost, expected_loss(named.unknowns));
  EXPECT_GT(named.lost, 1.005);
  EXPECT_GT(named.step(), named.low);
  EXPECT_LT(named.step(), named.high);
}

// 4 x 64 samples at 512/s take half a second, and so do 64 at the profile's rate of one GPU divided by an efficiency.
TEST(Validate, TakesTheStepFromTheThroughputOrFromTheEfficiency) {
  const std::string asked = "resnet50,hkbu-10gbe,4,64,ring,,,,none,none,yes,";
  EXPECT_DOUBLE_EQ(validation_of_row(asked + "512,,253.1").published, 0.5);
  const double rate = load_data().profiles.load("hkbu-10gbe").rates.at("resnet50").samples_per_second;
  EXPECT_DOUBLE_EQ(validation_of_row(asked + ",0.5,").published, 2 * 64 / rate);
}

TEST(Validate, SimulatesAtTheRateOfOneGpuInTheSource) {
  const std::string asked = "resnet50,hkbu-10gbe,4,64,ring,,,,none,none,yes,512,,";
  const Validation slow = validation_of_row(asked + "100"), fast = validation_of_row(asked + "200");
  EXPECT_GT(slow.predicted, 0.64);
  EXPECT_LT(fast.predicted, 0.64);
  EXPECT_GT(fast.residual.communication, slow.residual.communication);
  EXPECT_DOUBLE_EQ(fast.error(), 0.5 / fast.predicted - 1);
}

TEST(Validate, RefusesWhatCannotBeSimulated) {
  const auto call = [](const std::string& row) { return [row] { validation_of_row(row); }; };
  expect_error(call("lenet5,hkbu-10gbe,4,64,ring,,,,none,none,yes,512,,"), ExitCode::usage,
               "a.csv:2: no workload 'lenet5'");
  expect_error(
      call("resnet50,hkbu-10gbe,4,64,vendor,,,,int8,none,yes,512,,100"), ExitCode::usage,
      "a.csv:2: resnet50 on 4 GPUs of hkbu-10gbe, vendor + int8, no fusion: vendor sends elements as they are: "
      "it cannot be combined with int8");
  expect_error(call("resnet50,hkbu-10gbe,6,64,hierarchical,,,,none,none,yes,512,,100"), ExitCode::usage,
               "a.csv:2: resnet50 on 6 GPUs of hkbu-10gbe, hierarchical, no fusion: hierarchical:direct:ring cannot "
               "serve this world: it needs full nodes: 6 workers on nodes of 4 leave one node with 2");
  expect_error(call("resnet50,hkbu-10gbe,4,64,ps,,,,none,none,yes,512,,100"), ExitCode::usage,
               "a.csv:2: resnet50 on 4 GPUs of hkbu-10gbe, ps, no fusion: ps cannot serve this world: it needs at "
               "least 1 parameter server");
  EXPECT_GT(validation_of_row("mobilenet_v2,dgx-a100,8,64,ring,,,,none,none,yes,512,,").predicted, 0)
      << "nobody measured one GPU: its rate is modelled";
  expect_error(call("resnet50,hkbu-10gbe,1,64,none,,,,none,none,yes,512,,100"), ExitCode::usage,
               "a.csv:2: resnet50 on hkbu-10gbe: a GPU alone exchanges nothing");
  EXPECT_GT(validation_of_row("bert_large,dgx-a100,8,64,ring,,,,none,none,yes,512,,100").predicted, 0.64);
}

TEST(Validate, NamesTheLineOfARowThatItRefuses) {
  const auto call = [](const std::string& row) { return [row] { validation_of_row(row); }; };
  const auto refused = [&](const std::string& row, const char* what, const testing::Matcher<std::string>& hint) {
    expect_error(call(row), ExitCode::usage, AllOf(StartsWith("a.csv:2: "), HasSubstr(what)), hint);
  };
  refused("lenet5,hkbu-10gbe,4,64,ring,,,,none,none,yes,512,,100", "no workload 'lenet5'", testing::_);
  refused("resnet50,hkbu-10gb,4,64,ring,,,,none,none,yes,512,,100", "did you mean 'hkbu-10gbe'", testing::_);
  refused("resnet50,hkbu-10gbe,4,64,rings,,,,none,none,yes,512,,100", "did you mean 'ring'", HasSubstr("ring"));
  refused("resnet50,hkbu-10gbe,6,64,hierarchical,,,,none,none,yes,512,,100", "on 6 GPUs", HasSubstr("correct the row"));
  std::istringstream preset(
      "workload,profile,gpus,batch_per_gpu,algorithm,placement,server_mode,servers,compressor,fusion,overlap,"
      "throughput,efficiency,baseline_throughput,calibrated,year,source,note,preset\n"
      "resnet50,hkbu-10gbe,4,64,ring,,,,none,none,yes,512,,100,no,2020,https://example.org/a,,ddp\n"
      "resnet50,hkbu-10gbe,4,64,ring,,,,none,none,yes,512,,100,no,2020,https://example.org/a,,dpd\n");
  const auto rows = published_results(preset, "b.csv");
  expect_error([&] { validate(rows, load_data()); }, ExitCode::usage, "b.csv:3: no preset 'dpd'; did you mean 'ddp'?");
}

// Shares of more than 100 are not written with a digit of a percent.
TEST(Percent, HasASignWhereItIsAskedForAndFewDigitsWhereItIsHuge) {
  EXPECT_EQ(percent(0.0494), "4.9 %");
  EXPECT_EQ(percent(99.99), "9999.0 %");
  EXPECT_EQ(percent(123.456), "1.23e+04 %");
  EXPECT_EQ(signed_percent(0.0494), "+4.9 %");
  EXPECT_EQ(signed_percent(-0.5), "-50.0 %");
}

TEST(Validate, CountsFiguresOfEachClassAndOfNone) {
  std::map<std::string, std::string> figures;
  for (const Block& block : validation_document(published_validations(), false).blocks)
    if (const auto* table = std::get_if<Table>(&block); table != nullptr && table->columns[0].title == "class")
      for (const auto& row : table->rows) figures[row[0]] = row[1];
  const auto count = [](auto has) { return std::to_string(std::ranges::count_if(published_validations(), has)); };
  const auto servers = [](const Validation& each) { return each.asked.strategy.uses_servers(); };
  EXPECT_EQ(figures["all"], std::to_string(published_validations().size()));
  EXPECT_EQ(figures["parameter servers"], count(servers));
  EXPECT_EQ(figures["none of these classes"], count([&](const Validation& each) {
              return !each.mixed_precision && !each.asked.strategy.compresses() && !each.computed_timeline &&
                     !each.assumed_links && !servers(each);
            }));
  EXPECT_EQ(figures["64 GPUs and more"], count([](const Validation& each) { return each.asked.gpus >= 64; }));
  int of_all_sizes = 0;
  for (const char* sizes : {"up to 8 GPUs", "9 to 63 GPUs", "64 GPUs and more"})
    of_all_sizes += std::stoi(figures[sizes]);
  EXPECT_EQ(std::to_string(of_all_sizes), figures["all"]);
}

// How bands do on sources that are left out says nothing where there are few: each row has said it of its own.
TEST(Validate, LeavesClassesToTablesOfManySources) {
  std::vector<Validation> few;
  std::set<std::string> sources;
  for (const Validation& each : published_validations())
    if (sources.size() < 3 || sources.contains(each.residual.source))
      sources.insert(each.residual.source), few.push_back(each);
  ASSERT_EQ(sources.size(), 3U);
  const std::string text = kTextFormat.render(validation_document(few, true));
  EXPECT_THAT(text, AllOf(HasSubstr("Each figure"), HasSubstr("in their 90 % band")));
  EXPECT_THAT(text, AllOf(Not(HasSubstr("By what is not known")), Not(HasSubstr("times as wide"))));
}

/// Its rows as a page has them.
std::string markdown_of(const Table& table) {
  Table bare = table;
  bare.caption.clear();
  bare.folded = false;
  const std::string page = kMarkdownFormat.render({.blocks = {std::move(bare)}});
  return page.substr(page.find("| "));
}

// A table that differs is printed as the page should have it.
TEST(Validate, IsWhatPagesSayOfIt) {
  const std::filesystem::path source(HBENCH_SOURCE_DIR);
  const std::string accuracy = read_file(source / "collectives/network/accuracy.md");
  const auto has_tables = [&](const Document& document, const std::set<std::string>& first_columns) {
    for (const Block& block : document.blocks)
      if (const auto* table = std::get_if<Table>(&block);
          table != nullptr && first_columns.contains(table->columns[0].title)) {
        const std::string text = markdown_of(*table);
        EXPECT_NE(accuracy.find(text), std::string::npos) << "accuracy.md should have\n" << text;
      }
  };
  const Document document = validation_document(published_validations());
  has_tables(document, {"cluster", "class"});
  const ProfileLibrary profiles(source / "cluster-profiles");
  std::vector<Profile> clusters;
  for (const std::string& name : profiles.names()) clusters.push_back(profiles.load(name));
  has_tables(curves_document(validate_curves(clusters), false), {"cluster", "size"});
  const std::string verdict = std::get<Paragraph>(document.blocks.at(0)).text;
  const std::string first = verdict.substr(0, verdict.find(". ") + 1);
  for (const char* page : {"README.md", "bench/guide/predict.md", "collectives/network/accuracy.md"})
    EXPECT_THAT(read_file(source / page), HasSubstr(first)) << page;
}

std::string output_of(const std::vector<std::string>& arguments) { return printed_by("validate", arguments); }

TEST(ValidateVerb, PrintsEachFigureForMachines) {
  const auto figures = nlohmann::json::parse(output_of({"--json", "--profile", "aws-p3-25gbe,capped-5gbit"}));
  ASSERT_EQ(figures.size(), 9);
  for (const auto& figure : figures) {
    EXPECT_THAT(figure.at("cluster"), AnyOf("aws-p3-25gbe", "capped-5gbit"));
    EXPECT_DOUBLE_EQ(
        figure.at("throughput_error"),
        figure.at("published_step_seconds").get<double>() / figure.at("predicted_step_seconds").get<double>() - 1);
    EXPECT_LE(figure.at("profile_low_seconds"), figure.at("predicted_step_seconds"));
    EXPECT_GE(figure.at("profile_high_seconds"), figure.at("predicted_step_seconds"));
  }
}

TEST(Validate, SaysHowFarPredictionsAreOffByClusterAndByStrategy) {
  const std::string text = kTextFormat.render(validation_document(published_validations()));
  EXPECT_THAT(text, Not(HasSubstr("Each figure")));
  EXPECT_THAT(output_of({"--profile", "dgx-a100"}), Not(HasSubstr("Each figure")));
  EXPECT_THAT(output_of({"--all", "--profile", "dgx-a100"}), AllOf(HasSubstr("Each figure"), HasSubstr("-1.7 %")));
  EXPECT_THAT(text, AllOf(HasSubstr("By cluster"), HasSubstr("By strategy"), HasSubstr("uber-p100-25gbe-tcp"),
                          HasSubstr("90 % band")));
  EXPECT_LT(text.find("381 figures that chose nothing (49 without what they chose): mean error"),
            text.find("chose the share that steps"));
  EXPECT_LT(text.find("chose the share that steps"), text.find("By cluster"));
  EXPECT_THAT(text, AllOf(HasSubstr("pairs: all-reduce and servers"), HasSubstr("Who is ahead, of two strategies")));
  EXPECT_THAT(text, AllOf(HasSubstr("off by more than a fifth"), HasSubstr("horovod/horovod#2581"),
                          HasSubstr("one TCP stream"), HasSubstr("They count in all figures here")));
}

// 8 GPUs of 390.7 samples/s make 3,126 at most.
TEST(ValidateVerb, HoldsNoStepInItsBandThatIsTooFast) {
  const TemporaryFolder folder;
  const auto with_throughput = [&](const char* throughput) {
    const std::string file = (folder / "mine.csv").string();
    write_bytes(file,
                fmt::format("{}resnet50,dgx-1-v100,8,64,ring,,,,none,ddp,yes,{},,390.7,,2026,https://mine.org/a,\n",
                            kHeader, throughput));
    return file;
  };
  EXPECT_THAT(output_of({"--from", with_throughput("2900")}),
              AllOf(HasSubstr("100.0 % in their 90 % band"), Not(HasSubstr("faster than"))));
  EXPECT_THAT(output_of({"--from", with_throughput("29000")}),
              AllOf(HasSubstr(" 0.0 % in their 90 % band"),
                    HasSubstr("faster than as many GPUs alone: resnet50 on 8 GPUs of dgx-1-v100 (9.28 times)")));
}

TEST(ValidateVerb, RefusesWhatLeavesNothingAndFilesThatAreNone) {
  const auto call = [](const std::vector<std::string>& arguments) { return [arguments] { output_of(arguments); }; };
  expect_error(call({"--profile", "hkbu-10gb"}), ExitCode::usage, "no profile 'hkbu-10gb'; did you mean 'hkbu-10gbe'?",
               HasSubstr("hkbu-10gbe"));
  expect_error(call({"--workload", "vgg17"}), ExitCode::usage, "no workload 'vgg17'; did you mean 'vgg16'?",
               HasSubstr("vgg16"));
  expect_error(call({"--profile", "dgx-a100", "--workload", "vgg16"}), ExitCode::usage, "no workload 'vgg16'");
  for (const char* file : {"/nowhere.csv", "/dev/zero"})
    expect_error(call({"--from", file}), ExitCode::usage, HasSubstr(file), testing::_);
  const TemporaryFolder folder;
  write_bytes(folder / "none.csv", kHeader);
  expect_error(call({"--from", (folder / "none.csv").string()}), ExitCode::usage, HasSubstr("no figures"));
}

}  // namespace
}  // namespace hbench::validate_test
