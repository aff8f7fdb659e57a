#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <sstream>

#include "bench/command/program.hpp"
#include "bench/command/verb.hpp"
#include "bench/launch/installation.hpp"
#include "bench/output/console.hpp"
#include "bench/output/listing.hpp"
#include "bench/verbs/worker.hpp"
#include "collectives/base/table.hpp"
#include "reports/formats/plain_text.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/terminal_columns.hpp"

namespace hbench::verbs_test {
namespace {

/// Works in an empty folder; back with the object's end.
class Elsewhere {
 public:
  Elsewhere() { std::filesystem::current_path(folder_.path()); }
  ~Elsewhere() { std::filesystem::current_path(before_); }
  Elsewhere(const Elsewhere&) = delete;
  Elsewhere& operator=(const Elsewhere&) = delete;

 private:
  std::filesystem::path before_ = std::filesystem::current_path();
  TemporaryFolder folder_;
};

/// A verb and its arguments, within this process: quicker than the program.
ExitCode run(const std::vector<std::string>& words) {
  static const std::vector<const Verb*> kTable = all_verbs();
  return find_entry(std::span<const Verb* const>(kTable), words.front(), "verb")
      .run({{words.begin() + 1, words.end()}, "hbench ..."});
}

/// Arguments that make no sense, and what is said about them.
struct Mistake {
  std::vector<std::string> arguments;
  const char* message;
  const char* hint;
};

std::ostream& operator<<(std::ostream& out, const Mistake& mistake) {
  return out << fmt::format("{}", fmt::join(mistake.arguments, " "));
}

class BadArguments : public testing::TestWithParam<Mistake> {};

TEST_P(BadArguments, AreOneLineWithACureAndLeaveNothingBehind) {
  const Elsewhere elsewhere;
  expect_error([] { run(GetParam().arguments); }, ExitCode::usage, HasSubstr(GetParam().message),
               HasSubstr(GetParam().hint));
  EXPECT_TRUE(std::filesystem::is_empty("."));
}

INSTANTIATE_TEST_SUITE_P(
    OfTheProgram, BadArguments,
    testing::Values(Mistake{{"worker"}, "internal verb: workers are started by hbench", "--help"},
                    Mistake{{"list", "algorthms"}, "no list 'algorthms'; did you mean 'algorithms'?", "known:"},
                    Mistake{{"list", "models", "--json", "--format", "markdown"}, "excludes", "hbench list --help"},
                    Mistake{{"export", "--json", "--format", "csv"}, "excludes", "hbench export --help"},
                    Mistake{{"export"}, "there is no results database 'hbench.db'", "hbench sweep"},
                    Mistake{{"report"}, "there is no results database 'hbench.db'", "hbench sweep"},
                    Mistake{{"report", "scalin"}, "no report 'scalin'; did you mean 'scaling'?", "known:"},
                    Mistake{{"report", "--format", "htm"}, "no format 'htm'; did you mean 'html'?", "known:"},
                    Mistake{{"doctor", "--fast"}, "unknown option '--fast'", "hbench doctor --help"},
                    Mistake{{"doctor", "--find-slow"}, "--find-slow requires --hosts", "hbench doctor --help"},
                    Mistake{{"doctor", "--hosts", "--find-slow", "-H", "other:4"},
                            "--find-slow compares hosts, and there is one",
                            "-H a:4,b:4"},
                    Mistake{{"calibrate", "--steps", "0"}, "--steps", "hbench calibrate --help"}));

INSTANTIATE_TEST_SUITE_P(
    OfASweep, BadArguments,
    testing::Values(
        Mistake{{"sweep", "--gpu", "8"}, "unknown option '--gpu'; did you mean '--gpus'?", "hbench sweep --help"},
        Mistake{{"sweep", "128"}, "unexpected argument '128'", "hbench sweep --help"},
        Mistake{{"sweep", "--gpus"}, "--gpus needs a value", "hbench sweep --help"},
        Mistake{{"sweep", "--gpus", ""}, "nothing is given after --gpus", "leave the option out"},
        Mistake{{"sweep", "--db", ""}, "nothing is given after --db", "leave the option out"},
        Mistake{{"sweep", "--gpus", "1", "--gpus", "2"}, "--gpus is given more than once", "a,b,c"},
        Mistake{{"sweep", "--gpus", "0..8"}, "--gpus 0..8: a GPU count is at least 1", "1..128"},
        Mistake{{"sweep", "--gpus", "8..1"}, "you may mean 1..8", "1..128"},
        Mistake{{"sweep", "--gpus", "abc"}, "'abc' is not a number", "1..128"},
        Mistake{{"sweep", "--algorithm", "rng"}, "no algorithm 'rng'; did you mean 'ring'?", "known: ring"},
        Mistake{{"sweep", "--algorithm", "ring,"}, "--algorithm 'ring,' has an empty item", "a,b,c"},
        Mistake{{"sweep", "--compressor", "fp61"}, "no compressor 'fp61'; did you mean 'fp16'?", "known: none"},
        Mistake{{"sweep", "--fusion", "threshold:-1MiB"}, "'-1MiB' is out of range", "threshold:25MiB"},
        Mistake{{"sweep", "--servers", "some"}, "--servers some", "colocated:4"},
        Mistake{{"sweep", "--evidence", "simulate"}, "no evidence 'simulate'; did you mean 'simulated'?", "known:"},
        Mistake{{"sweep", "--batch", "0"}, "--batch: Value 0 not in range", "hbench sweep --help"},
        Mistake{{"sweep", "--single-gpu-rate", "0"}, "'0' is not a rate above 0", "hbench sweep --help"},
        Mistake{{"sweep", "--single-gpu-rate", "nan"}, "'nan' is not a rate above 0", "hbench sweep --help"},
        Mistake{{"sweep", "--single-gpu-rate", "1e999"}, "'1e999' is not a rate above 0", "hbench sweep --help"},
        Mistake{{"sweep", "--budget", "3"}, "--budget 3: invalid duration '3': it has no unit", "30s"},
        Mistake{{"sweep", "--budget", "1e300 s"}, "--budget 1e300 s: '1e300 s' is out of range", "30s"},
        Mistake{{"sweep", "--timeout", "5 parsecs"}, "invalid duration '5 parsecs': expected a number and s", "30s"},
        Mistake{{"sweep", "--device", "tpu", "--evidence", "simulated"}, "no device 'tpu'", "cpu, gpu"},
        Mistake{{"sweep", "--timeout", "0s"}, "--timeout 0s: it must be more than 0", "30s"},
        Mistake{{"sweep", "--algorithm", "vendor", "--compressor", "int8", "--evidence", "simulated"},
                "nothing to do",
                "it cannot be combined with int8"},
        Mistake{{"sweep", "--gpus", "3", "--evidence", "published"}, "nothing to do", "published"},
        Mistake{{"sweep", "--profile", "./mine.toml"}, "cannot read ./mine.toml", ""},
        Mistake{{"sweep", "--db", "nowhere/r.db", "--evidence", "published", "--report", "/tmp"},
                "there is no folder",
                "mkdir -p"}));

constexpr const char* kProfile = R"(title = "mine"
gpus_per_node = 4
[local]
latency = "5 us"
rate = "10 GB/s"
[network]
latency = "20 us"
line_rate = "10 Gbit/s"
)";

/// A line of the profile, what it becomes, and what is said about it.
struct BadLine {
  const char* good;
  const char* bad;
  const char* message;
};

std::ostream& operator<<(std::ostream& out, const BadLine& line) { return out << line.bad; }

class BadProfile : public testing::TestWithParam<BadLine> {};

TEST_P(BadProfile, IsNamedWithItsFileAndLine) {
  const auto& [good, bad, message] = GetParam();
  std::string profile = kProfile;
  profile.replace(profile.find(good), std::string(good).size(), bad);
  const Elsewhere elsewhere;
  write_bytes("mine.toml", profile);
  expect_error(
      [] {
        run({"sweep", "--profile", "mine.toml", "--single-gpu-rate", "100"});
      },
      ExitCode::usage, HasSubstr(message), testing::_);
  EXPECT_FALSE(std::filesystem::exists("hbench.db"));
}

INSTANTIATE_TEST_SUITE_P(All, BadProfile,
                         testing::Values(BadLine{"\"10 Gbit/s\"", "\"10\"", "mine.toml:8"},
                                         BadLine{"\"10 Gbit/s\"", "10", "mine.toml:8"},
                                         BadLine{"\"10 Gbit/s\"", "\"-10 Gbit/s\"", "mine.toml:8"},
                                         BadLine{"\"10 Gbit/s\"", "\"10 parsecs\"", "mine.toml:8"},
                                         BadLine{"\"10 Gbit/s\"", "\"nan Gbit/s\"", "mine.toml:8"},
                                         BadLine{"line_rate", "linerate", "mine.toml:8"},
                                         BadLine{"[network]", "[network", "mine.toml:6"},
                                         BadLine{"gpus_per_node = 4", "gpus_per_node = 0", "mine.toml:2"},
                                         BadLine{"[local]", "speed = 1\n[local]", "mine.toml:3"}));

/// How the whole program ends for a command line.
int exit_of(std::vector<std::string> words) {
  words.insert(words.begin(), "hbench");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  std::vector<const Verb*> all(verbs().begin(), verbs().end());
  all.insert(all.end(), inner_verbs().begin(), inner_verbs().end());
  return run_program(static_cast<int>(words.size()), arguments.data(), all, "hbench 1.2.3\n");
}

/// What the whole program prints for a command line.
std::string printed(std::vector<std::string> words) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(exit_of(std::move(words)), 0);
  return testing::internal::GetCapturedStdout();
}

/// What it says on standard error.
std::string complaint(std::vector<std::string> words, int code) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(exit_of(std::move(words)), code);
  return testing::internal::GetCapturedStderr();
}

/// Variables of a launcher, until the object's end.
class Launched {
 public:
  explicit Launched(std::map<std::string, std::string> variables) : variables_(std::move(variables)) {
    for (const auto& [name, value] : variables_) setenv(name.c_str(), value.c_str(), 1);
  }
  ~Launched() {
    for (const auto& [name, value] : variables_) unsetenv(name.c_str());
  }
  Launched(const Launched&) = delete;
  Launched& operator=(const Launched&) = delete;

 private:
  std::map<std::string, std::string> variables_;
};

TEST(VerbsThatStartRanks, AreRefusedByTheFirstOfTheRanksThatALauncherStarted) {
  const Elsewhere elsewhere;
  for (const auto& [size, rank] : {std::pair{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                   {"PMI_SIZE", "PMI_RANK"},
                                   {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
                                   {"HOROVOD_SIZE", "HOROVOD_RANK"}})
    for (const char* verb : {"sweep", "calibrate"}) {
      const Launched first({{size, "16"}, {rank, "0"}});
      EXPECT_EQ(complaint({verb, "--quiet"}, 2),
                fmt::format("hbench: {}=16: a launcher has started hbench {} 16 times\n  run it once, without mpirun, "
                            "srun or torchrun: it starts its ranks itself\n",
                            size, verb));
      const Launched second(std::map<std::string, std::string>{{rank, "1"}});
      EXPECT_EQ(complaint({verb, "--quiet"}, 0), "");
    }
  EXPECT_TRUE(std::filesystem::is_empty("."));
}

TEST(VerbsThatStartRanks, AreRefusedAmongRanksOfTorchrunAndNotInAPodOfAPyTorchJob) {
  const std::vector<std::string> none{"sweep", "--gpus", "none"};
  const std::string alone = complaint(none, 2);
  {
    const Launched rank({{"WORLD_SIZE", "16"}, {"RANK", "0"}, {"LOCAL_RANK", "0"}});
    EXPECT_THAT(complaint(none, 2), HasSubstr("WORLD_SIZE=16: a launcher has started hbench sweep 16 times"));
  }
  const Launched other({{"WORLD_SIZE", "16"}, {"RANK", "3"}, {"LOCAL_RANK", "3"}});
  EXPECT_EQ(complaint(none, 0), "");
  unsetenv("LOCAL_RANK");
  EXPECT_EQ(complaint(none, 2), alone);
}

TEST(VerbsThatStartRanks, RunInOneProcessAndInATerminalOfSlurm) {
  const std::vector<std::string> none{"sweep", "--gpus", "none"};
  const std::string alone = complaint(none, 2);
  {
    const Launched one({{"OMPI_COMM_WORLD_SIZE", "1"}, {"OMPI_COMM_WORLD_RANK", "0"}});
    EXPECT_EQ(complaint(none, 2), alone);
  }
  const Launched terminal({{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "0"}, {"SLURM_PTY_PORT", "36115"}});
  EXPECT_EQ(complaint(none, 2), alone);
}

TEST(OtherVerbs, RunAmongRanks) {
  const Launched first({{"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_RANK", "0"}});
  EXPECT_THAT(printed({"list", "compressors"}), Not(IsEmpty()));
  EXPECT_THAT(printed({"sweep", "--help"}), HasSubstr("--gpus"));
}

TEST(TheProfileItself, IsGood) {
  const Elsewhere elsewhere;
  write_bytes("mine.toml", kProfile);
  EXPECT_THAT(printed({"sweep", "--gpus", "1..8", "--profile", "mine.toml", "--single-gpu-rate", "100", "--evidence",
                       "simulated", "--workload", "resnet50", "--quiet"}),
              HasSubstr("Results: hbench.db"));
}

TEST(Verbs, ExplainThemselvesWithAnExample) {
  for (const Verb* verb : verbs()) {
    if (verb->hidden) continue;
    EXPECT_THAT(printed({std::string(verb->name), "--help"}), HasSubstr("Example")) << verb->name;
  }
}

/// Asking Python for each framework takes seconds: where there is no interpreter, nobody is asked.
class NoPython {
 public:
  NoPython() { ::setenv("HBENCH_PYTHON", "/nowhere/python3", 1); }
  ~NoPython() { ::unsetenv("HBENCH_PYTHON"); }
  NoPython(const NoPython&) = delete;
  NoPython& operator=(const NoPython&) = delete;
};

TEST(Listings, HaveACellForEveryColumnAndOneRowForEveryName) {
  const NoPython quick;
  const Data data = load_data();
  for (const Listing& listing : listings()) {
    const Table table = listing.table(data);
    std::set<std::string> names;
    for (const auto& row : table.rows) {
      EXPECT_EQ(row.size(), table.columns.size()) << listing.name;
      // An algorithm's name is unique for its collective.
      names.insert(listing.name == "algorithms" ? fmt::format("{} {}", row[0], row[1]) : row[0]);
    }
    EXPECT_EQ(names.size(), table.rows.size()) << listing.name;
  }
}

std::size_t column_of(const Table& table, std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(table.columns, name, &TableColumn::title) - table.columns.begin());
}

Table listed(std::string_view name) { return std::ranges::find(listings(), name, &Listing::name)->table(load_data()); }

TEST(Listings, SayWhatFrameworksSendAndWhatNoneCosts) {
  const Table table = listed("presets");
  EXPECT_THAT(table.caption, HasSubstr("in the band up to 200 us per bucket: what frameworks in the table have"));
  const auto strategy = [&](std::string_view preset) {
    return std::ranges::find(table.rows, preset, [](const auto& row) { return row[0]; })->at(2);
  };
  EXPECT_EQ(strategy("horovod"), "ring, horovod:128MiB:1ms");
  EXPECT_EQ(strategy("mxnet-ps"), "ps (sliced, colocated), no fusion");
}

TEST(Listings, SayTheSourceOfAFigureOfManyFrameworksOnce) {
  const Table table = listed("presets");
  std::string text = table.caption;
  for (const auto& row : table.rows)
    for (const std::string& cell : row) text += cell;
  const std::string source = "40 to 75 us for each bucket of PyTorch's DDP";
  ASSERT_NE(text.find(source), text.npos);
  EXPECT_EQ(text.find(source), text.rfind(source));
  EXPECT_THAT(text, HasSubstr("57 us (40 to 200) [1]"));
}

TEST(Listings, SayWhatEveryEntryIsAndWhereItIsFrom) {
  for (const char* name : {"algorithms", "compressors", "fusion", "executors"}) {
    const Table table = listed(name);
    const std::size_t what = column_of(table, "what"), source = column_of(table, "source");
    for (const auto& row : table.rows) {
      EXPECT_FALSE(row.at(what).empty()) << name << ' ' << row[0];
      // What needs no source: elements as they are.
      const bool needs_one = source < row.size() && row[0] != "none";
      EXPECT_TRUE(!needs_one || !row[source].empty()) << name << ' ' << row[0];
    }
  }
}

TEST(Listings, SayWhatACompressorCosts) {
  const Table table = listed("compressors");
  const auto row_of = [&](std::string_view name) {
    return *std::ranges::find_if(table.rows, [&](const auto& row) { return row[0].starts_with(name); });
  };
  EXPECT_EQ(row_of("topk")[0], "topk:ratio (0.01)");
  EXPECT_EQ(row_of("topk")[column_of(table, "exchange")], "gather");
  const std::size_t bits = column_of(table, "bits per element"), mean = column_of(table, "unbiased");
  EXPECT_EQ(row_of("int8")[bits], "8.125");            // a byte, and a float for every 256: 8 + 32 / 256
  EXPECT_EQ(row_of("threshold")[bits], "at most 32");  // all elements, when over half of them are large
  EXPECT_EQ(row_of("none")[mean] + row_of("qsgd")[mean] + row_of("sign")[mean], "exactyesno");
}

TEST(Listings, NameTheColumnThatIsAboutThisMachineAndLeaveItOutOfMarkdown) {
  const NoPython quick;
  for (const Listing& listing : listings()) {
    if (listing.machine_column.empty()) continue;
    const Table table = listing.table(load_data());
    EXPECT_LT(column_of(table, listing.machine_column), table.columns.size()) << listing.name;
    const std::string markdown = printed({"list", std::string(listing.name), "--format", "markdown"});
    EXPECT_THAT(markdown, HasSubstr(fmt::format("| {} |", table.columns[0].title)));
    EXPECT_THAT(markdown, Not(HasSubstr(fmt::format("| {} |", listing.machine_column))));
  }
}

TEST(Listings, AreNoWiderThanATerminalLine) {
  const TerminalColumns columns(kUsualWidth);
  for (const Listing& listing : listings()) {
    std::istringstream text(printed({"list", std::string(listing.name)}));
    for (std::string line; std::getline(text, line);) EXPECT_LE(text_width(line), kUsualWidth) << line;
  }
}

TEST(Help, FitsIntoEightyColumnsButForCommandsToCopy) {
  for (const Verb* verb : verbs()) {
    std::istringstream help(printed({std::string(verb->name), "--help"}));
    int lines = 0;
    for (std::string line; std::getline(help, line); ++lines)
      EXPECT_TRUE(line.size() <= 80 || line.starts_with("  hbench ")) << line;
    EXPECT_GT(lines, 8) << verb->name;
  }
}

TEST(Help, IsAVerbToo) {
  EXPECT_EQ(printed({"help", "sweep"}), printed({"sweep", "--help"}));
  EXPECT_EQ(printed({"help", "track", "check"}), printed({"track", "check", "--help"}));
  EXPECT_EQ(printed({"help"}), printed({"--help"}));
  EXPECT_EQ(printed({}), printed({"--help"}));
  EXPECT_EQ(printed({"--version"}), "hbench 1.2.3\n");
}

TEST(Descriptions, NameWhatHelpNamesAndRunNothing) {
  const Elsewhere elsewhere;
  for (const Verb* verb : verbs()) {
    const CommandDescription described = describe(*verb, {});
    EXPECT_EQ(described.name, fmt::format("hbench {}", verb->name));
    const std::string help = printed({std::string(verb->name), "--help"});
    for (const OptionDescription& option : described.options) EXPECT_THAT(help, HasSubstr(option.names.back()));
    for (const ActionDescription& action : described.actions)
      EXPECT_EQ(describe(*verb, {action.name}).name, fmt::format("hbench {} {}", verb->name, action.name));
  }
  const CommandDescription sweep = describe(find_entry(verbs(), "sweep", "verb"), {});
  const auto lost =
      std::ranges::find(sweep.options, std::vector<std::string>{"--on-lost-host"}, &OptionDescription::names);
  ASSERT_NE(lost, sweep.options.end());
  EXPECT_EQ(lost->choices, (std::vector<std::string>{"shrink", "stop"}));
  EXPECT_TRUE(std::filesystem::is_empty("."));
}

TEST(ManPages, HaveTheOptionsAndExamplesOfAllActions) {
  const std::string page = printed({"man", "track"});
  for (const char* part :
       {".TH HBENCH\\-TRACK 1", "hbench\\-track \\- find what has become slower", ".SH HBENCH TRACK BISECT",
        "\\fB\\-\\-least\\-effect\\fR \\fITEXT\\fR", ".nf\n  hbench track run && hbench track check\n"})
    EXPECT_THAT(page, HasSubstr(part));
  EXPECT_THAT(printed({"man"}), HasSubstr("\\fBhbench\\-doctor\\fR(1)"));
}

TEST(Help, SaysOfAnOptionWhatItTakesAndWhatItIsWithoutIt) {
  const std::string help = printed({"sweep", "--help"});
  EXPECT_THAT(help, HasSubstr("  --steps INT             timed steps per launch, at most (1 to 1000000;\n"
                              "                          default: 20)\n"));
  EXPECT_THAT(help, HasSubstr("  --no-calibrate          disable calibration\n"));
}

}  // namespace
}  // namespace hbench::verbs_test
