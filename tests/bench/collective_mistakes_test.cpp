#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "bench/collective/run.hpp"
#include "bench/command/verb.hpp"
#include "collectives/endpoints/endpoint.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::collective_mistakes_test {
namespace {

using Arguments = std::vector<std::string>;

ExitCode run_verb(std::string_view name, Arguments arguments) {
  const auto verb = std::ranges::find(verbs(), name, [](const Verb* each) { return each->name; });
  return (*verb)->run({std::move(arguments), ""});
}

/// What a verb is asked, and what it must say, with exit code 2, before any rank is started.
struct Mistake {
  Arguments arguments;
  const char* message;
  const char* hint;
};

void expect_mistakes(const std::vector<Mistake>& mistakes, std::string_view verb = "collective") {
  for (const Mistake& mistake : mistakes) {
    SCOPED_TRACE(fmt::format("{} {}", verb, fmt::join(mistake.arguments, " ")));
    expect_error([&] { run_verb(verb, mistake.arguments); }, ExitCode::usage, HasSubstr(mistake.message),
                 HasSubstr(mistake.hint));
  }
}

TEST(CollectiveMistakes, OfNamesSayWhatWasMeant) {
  expect_mistakes({
      {{"al-reduce"}, "no collective 'al-reduce'; did you mean 'all-reduce'?", "known: all-reduce"},
      {{"--algorithm", "rign"}, "no algorithm 'rign'; did you mean 'ring'?", "known: ring"},
      {{"--algorithm", "hierarchical:rng:ring"}, "no algorithm 'rng'; did you mean 'ring'?", "known: ring"},
      {{"--compressor", "pf16"}, "no compressor 'pf16'; did you mean 'bf16'?", "known: none"},
      {{"--executor", "mpy"}, "no executor 'mpy'; did you mean 'mpi'?", "known: threads"},
      {{"-d", "flot32"}, "no data type 'flot32'; did you mean 'float32'?", "known: float32"},
      {{"-o", "summ"}, "no operation 'summ'; did you mean 'sum'?", "known: sum"},
      {{"--workload", "vgg61"}, "no workload 'vgg61'; did you mean 'vgg16'?", "known: "},
      {{"--workload", "vgg16", "--fusion", "horovdo"}, "no fusion policy 'horovdo'; did you mean 'horovod'?", "known"},
      {{"--minbite", "4"}, "unknown option '--minbite'; did you mean '--minbytes'?", "--help"},
      {{"all-reduce", "more"}, "unexpected argument 'more'", "--help"},
      {{"--algorithm", "auto"}, "auto chooses by a model of the cluster", "give an algorithm"},
  });
}

TEST(CollectiveMistakes, OfSimulatedCollectivesSayWhatGoesTogether) {
  expect_mistakes({
      {{"--executor", "simulate"}, "--executor simulate needs a cluster", "--profile NAME"},
      {{"--profile", "dgx-a100", "--executor", "mpi"},
       "--profile is for --executor simulate, not for mpi",
       "two commands"},
      {{"--profile", "dgx-a100", "--executor", "simulate,mpi"}, "not for simulate,mpi", "two commands"},
      {{"--profile", "dgx-a10"}, "no profile 'dgx-a10'; did you mean 'dgx-a100'?", "known: "},
      {{"--profile", "dgx-a100", "-n", "5"}, "--iters is for measured collectives", "leave out --iters or --profile"},
      {{"--profile", "dgx-a100", "--peers"}, "--peers is for measured collectives", "leave out --peers"},
      {{"--profile", "dgx-a100", "--ranks", "1048577"}, "'1048577' is not a number of ranks", "from 1 to 1048576"},
      {{"--ranks", "1025"}, "'1025' is not a number of ranks", "from 1 to 1024"},
  });
}

TEST(CollectiveMistakes, OfSizesAndNumbersAreRefused) {
  expect_mistakes({
      {{"-e", "99999999999G"}, "--maxbytes 99999999999G: more bytes than can be counted", "1G"},
      {{"-b", "99999999999999999999"}, "--minbytes 99999999999999999999: more bytes than can be counted", "1G"},
      {{"-b", "8", "-e", "4"}, "the smallest size, 8 B, is above the largest, 4 B", "-b and -e"},
      {{"-b", "0"}, "--minbytes 0: a size is at least 1", "32K"},
      {{"-b", "-4"}, "--minbytes -4: a size is at least 1", "32K"},
      {{"-e", "4X"}, "--maxbytes 4X: not a size", "32K"},
      {{"-i", "0"}, "--stepbytes 0: a size is at least 1", "32K"},
      {{"-i", "1", "-e", "1M"}, "these are more than 4096 sizes", "--stepbytes"},
      {{"-i", "8", "-f", "2"}, "excludes", "--help"},
      {{"-f", "1"}, "--stepfactor: Value 1 not in range", "--help"},
      {{"-f", "nan"}, "--stepfactor: 'nan' is no number", "--help"},
      {{"-n", "-3"}, "--iters: Value -3 not in range", "--help"},
      {{"-w", "-1"}, "--warmup-iters: Value -1 not in range", "--help"},
      {{"-T", "0"}, "--timeout 0: not a time above 0", "500ms"},
      {{"-T", "-3"}, "--timeout -3: not a time above 0", "500ms"},
      {{"--budget", "1e300s"}, "--budget 1e300s: not a time above 0, up to 1000000 s", "500ms"},
      {{"--ranks", "0"}, "--ranks 0: '0' is not a number of ranks", "from 1 to 1024"},
      {{"--ranks", "2,-2"}, "'-2' is not a number of ranks", "from 1 to 1024"},
      {{"--ranks", "2000"}, "'2000' is not a number of ranks", "from 1 to 1024"},
      {{"--servers", "0", "--algorithm", "ps"},
       "--servers 0: not a choice of servers, of which there are 1 to 65536",
       "colocated"},
      {{"--servers", "2147483647", "--algorithm", "ps"},
       "--servers 2147483647: not a choice of servers, of which there are 1 to 65536",
       "colocated"},
      {{"--launches", "0"}, "--launches: Value 0 not in range", "--help"},
  });
}

TEST(CollectiveMistakes, OfFlagsThatHaveNoMeaningTogetherAreRefused) {
  expect_mistakes({
      {{"--json", "--format", "csv"}, "--format excludes --json", "--help"},
      {{"--fusion", "horovod"}, "--fusion merges the tensors of a --workload, and none is given", "vgg16"},
      {{"--workload", "vgg16", "-e", "1K"}, "--maxbytes is for sizes", "leave out --maxbytes or --workload"},
      {{"reduce-scatter", "--workload", "vgg16"}, "reduce-scatter needs equal parts", "all-reduce"},
      {{"all-gather", "--workload", "vgg16"}, "all-gather needs equal parts", "all-reduce"},
      {{"broadcast", "-o", "max"}, "--op is for what adds up, and broadcast does not", "leave out --op"},
      {{"reduce-scatter", "--peers"}, "--peers compares all-reduces, not reduce-scatter", "leave out --peers"},
      {{"--servers", "2"}, "--servers is for parameter servers", "--algorithm ps"},
      {{"--ranks-per-node", "2"}, "--ranks-per-node is for hierarchical algorithms", "hbench list algorithms"},
      {{"--segments", "4"}, "--segments is for pipelined algorithms", "hbench list algorithms"},
      {{"--algorithm", "chain", "--segments", "1025"}, "--segments: Value 1025 not in range", "--help"},
      {{"--peers", "--mpich", "/nowhere"}, "--mpich /nowhere: there is no such program", "cmake --preset mpich"},
      {{"--peers", "--mpich", "/etc/passwd"}, "--mpich /etc/passwd: there is no such program", "cmake --preset mpich"},
  });
}

TEST(CollectiveMistakes, OfCompressorsAreRefusedInWords) {
  expect_mistakes({
      {{"--compressor", "fp16", "-d", "int32"}, "fp16 compresses float32, not int32", "--help"},
      {{"--compressor", "ef:topk", "-d", "float64"}, "compresses float32, not float64", "--help"},
      {{"--compressor", "fp16", "-o", "max"}, "are added up: max cannot be combined with it", "--help"},
      {{"--compressor", "topk", "-o", "min"}, "are added up: min cannot be combined with it", "--help"},
      {{"--compressor", "powersgd", "-o", "product"}, "are added up: product cannot be combined with it", "--help"},
      {{"--compressor", "ef:fp16"}, "error feedback cannot be combined with compressor 'fp16'", "write fp16"},
      {{"--compressor", "ef:none"}, "error feedback cannot be combined with compressor 'none'", "write none"},
      {{"--compressor", "ef:dgc"}, "error feedback cannot be combined with compressor 'dgc'", "write dgc"},
      {{"--compressor", "topk:2"}, "ratio of compressor 'topk' is '2'", "above 0 and at most 1"},
      {{"reduce-scatter", "--compressor", "fp16"}, "compressors go with all-reduces", "--help"},
      {{"--compressor", "topk", "--algorithm", "ps"}, "there is no all-gather called ps", "--help"},
      {{"--compressor", "fp16", "--algorithm", "vendor"}, "it cannot be combined with fp16", "--help"},
  });
}

TEST(CollectiveMistakes, OfWorldsThatAnAlgorithmCannotServeAreRefused) {
  const std::string one = "-e", bytes = "8";
  expect_mistakes({
      {{"--executor", "threads", "--algorithm", "hierarchical", "--ranks-per-node", "3", "--ranks", "4", one, bytes},
       "4 workers on nodes of 3 leave one node with 1",
       "--help"},
      {{"--executor", "threads", "--algorithm", "hierarchical", "--ranks-per-node", "4", "--ranks", "2", one, bytes},
       "2 workers on nodes of 4 leave one node with 2",
       "--help"},
      {{"--executor", "threads", "--algorithm", "vendor", one, bytes}, "there is no library", "--help"},
      {{"-d", "uint8", "--ranks", "300", "--executor", "threads", one, bytes},
       "a uint8 sum of more than 127 ranks is not exact",
       "--help"},
  });
}

/// Where ranks can be processes; elsewhere that is what the program says instead.
class CollectiveMistakesUnderMpi : public testing::Test {
 protected:
  void SetUp() override {
    if (!mpi_availability().available) GTEST_SKIP() << mpi_availability().reason;
  }
};

TEST_F(CollectiveMistakesUnderMpi, OfBuffersLongerThanMpiCountsAreRefused) {
  // 16 GiB are 2^32 floats. Messages of our own algorithms travel in pieces, and have no such limit.
  expect_mistakes({
      {{"-b", "16G", "-e", "16G", "--algorithm", "vendor"}, "4294967296 elements are more than MPI counts", "--help"},
      {{"--algorithm", "vendor", "--executor", "shm"}, "the MPI library's own goes with the executor mpi", "--help"},
      {{"-b", "1000000G", "-e", "1000000G", "--executor", "shm"}, "two buffers of 1000000 GiB each need", "--maxbytes"},
  });
}

TEST_F(CollectiveMistakesUnderMpi, OfWorldsThatALauncherDidNotStartAreRefused) {
  setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
  EXPECT_EQ(find_started_ranks().ranks, 0) << "a launcher names the rank too";
  setenv("OMPI_COMM_WORLD_RANK", "0", 1);
  expect_mistakes({
      {{"-e", "8", "--ranks", "3"}, "it takes 3 ranks, and 2 were started", "--help"},
      {{"-e", "8", "--algorithm", "ps", "--servers", "1"}, "it takes 3 ranks, and 2 were started", "--help"},
      {{"-e", "8", "--executor", "threads"}, "ranks that a launcher started are processes, not threads", "--help"},
      {{"-e", "8", "--launches", "2"}, "--launches starts ranks afresh", "without the launcher"},
  });
  unsetenv("OMPI_COMM_WORLD_SIZE");
  unsetenv("OMPI_COMM_WORLD_RANK");
}

}  // namespace
}  // namespace hbench::collective_mistakes_test
