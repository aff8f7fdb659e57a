#include "bench/sweep/request.hpp"

#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::experiment_test {
namespace {

TEST(Experiment, IsEveryCombinationByRisingRanks) {
  const auto layouts =
      parse_experiment("workers = [4, 1]  # nodes\ngpus_per_worker = 2\nprocesses_per_gpu = [1, 2, 1]\n", "e.toml");
  EXPECT_THAT(layouts, ElementsAre(NodeLayout{1, 2, 1}, NodeLayout{1, 2, 2}, NodeLayout{4, 2, 1}, NodeLayout{4, 2, 2}));
  EXPECT_EQ(layouts.back().gpus(), 8);
  EXPECT_EQ(layouts.back().ranks(), 16);
}

TEST(Experiment, HasOneOfWhatIsNotThere) {
  EXPECT_THAT(parse_experiment("workers = 3", "e.toml"), ElementsAre(NodeLayout{3, 1, 1}));
  EXPECT_THAT(parse_experiment("processes_per_gpu: 2", "e.yml"), ElementsAre(NodeLayout{1, 1, 2}));
}

TEST(Experiment, IsTheSameInYaml) {
  EXPECT_EQ(parse_experiment("---\n# nodes\nworkers: [1, 4]\r\n\ngpus_per_worker :  2 # each\n", "e.yaml"),
            parse_experiment("workers = [1, 4]\ngpus_per_worker = 2\n", "e.toml"));
}

TEST(Experiment, ThatIsWrongSaysWhere) {
  struct Mistake {
    const char *text, *file, *what;
  };
  for (const Mistake& mistake : {
           Mistake{"\nworker = 2", "e.toml", "e.toml:2: no key 'worker'; did you mean 'workers'?"},
           Mistake{"\nworker: 2", "e.yaml", "e.yaml:2: no key 'worker'; did you mean 'workers'?"},
           Mistake{"workers = 0", "e.toml", "e.toml:1: workers is a number from 1 to 100000"},
           Mistake{"workers: -1", "e.yaml", "e.yaml:1: workers is a number from 1 to 100000"},
           Mistake{"workers = 'two'", "e.toml", "e.toml:1: workers is a number or a list of numbers"},
           Mistake{"workers = 1.5", "e.toml", "e.toml:1: workers is a number or a list of numbers"},
           Mistake{"workers = []", "e.toml", "e.toml:1: workers lists nothing"},
           Mistake{"workers: []", "e.yaml", "e.yaml:1: workers is a number or a list of numbers"},
           Mistake{"workers: [1, two]", "e.yaml", "e.yaml:1: workers is a number or a list of numbers"},
           Mistake{"workers:\n  - 1", "e.yaml", "e.yaml:1: workers is a number or a list of numbers"},
           Mistake{"workers: 1\nworkers: 2", "e.yaml", "e.yaml:2: workers is there twice"},
           Mistake{"workers 1", "e.yaml", "e.yaml:1: this is no key with a value"},
           Mistake{"workers = 100000\nprocesses_per_gpu = 2", "e.toml", "e.toml: 100000 x 1 x 2 are more than"},
           Mistake{"", "e.toml", "e.toml: it has none of workers, gpus_per_worker and processes_per_gpu"},
           Mistake{"workers = ", "e.toml", "e.toml:1: "},
       })
    expect_error([&] { parse_experiment(mistake.text, mistake.file); }, ExitCode::usage, HasSubstr(mistake.what),
                 testing::_);
}

}  // namespace
}  // namespace hbench::experiment_test
