#include "analysis/import/nccl_tests_cases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "analysis/import/cases.hpp"
#include "analysis/import/nccl_tests_collective.hpp"
#include "analysis/points/collectives.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

void add_timing(ImportedCases& cases, const Case& asked, std::string_view time, std::string_view wrong,
                const std::optional<NcclTestsTiming>& timing) {
  if (!timing) return;
  cases.add(asked, time, timing->iterations(), "s");
  if (const auto count = timing->wrong_elements()) cases.add(asked, wrong, std::array{*count}, "elements");
}

void add_row(ImportedCases& cases, const Case& asked, const NcclTestsRow& row) {
  double wrong = 0;
  for (const NcclTestsTiming* timing : row.timings()) wrong = std::max(wrong, timing->wrong_elements().value_or(0));
  if (wrong > 0)
    return cases.fail(asked, fmt::format("{}: {:g} elements were wrong", row.where, wrong),
                      static_cast<int>(ExitCode::wrong_data));
  add_timing(cases, asked, metric::kOutOfPlace, metric::kOutOfPlaceWrong, row.out_of_place);
  add_timing(cases, asked, metric::kInPlace, metric::kInPlaceWrong, row.in_place);
}

/// Nothing crosses a bus, as on one GPU.
bool exchanges_nothing(const NcclTestsOutput& test) {
  return test.ranks == 1 || std::ranges::all_of(test.rows, [](const NcclTestsRow& row) {
           return std::ranges::all_of(row.timings(), [](const NcclTestsTiming* timing) {
             return timing->busbw.value == 0 && timing->algbw.value > 0;
           });
         });
}

/// Why a test cannot be imported, with the cure.
struct Refusal {
  std::string why, hint;
};

/// The tests of one file.
class Tests {
 public:
  Tests(std::string_view file_name, const ImportHints& hints) : file_name_(file_name), hints_(hints) {}

  ImportedOutput read(std::vector<NcclTestsOutput> tests) {
    std::erase_if(tests, [](const NcclTestsOutput& test) { return test.rows.empty() && test.left_out.empty(); });
    if (tests.empty()) fail({"it has no rows", "give the output of nccl-tests with its table"});
    check_processes(tests);
    std::vector<ImportedOutput> outputs;
    std::vector<std::string> left_out;
    for (const NcclTestsOutput& test : tests) {
      if (const auto refusal = add_test(test, outputs)) {
        if (first_.why.empty()) first_ = *refusal;
        left_out.push_back(test.names.size() == 1 ? fmt::format("{}: {}", *test.names.begin(), refusal->why)
                                                  : refusal->why);
      }
    }
    if (outputs.empty()) fail(first_);
    ImportedOutput output = merged(std::move(outputs));
    output.left_out.insert(output.left_out.end(), left_out.begin(), left_out.end());
    return output;
  }

 private:
  [[noreturn]] void fail(const Refusal& refusal) const {
    throw Error(ExitCode::usage, fmt::format("{}: {}", file_name_, refusal.why), refusal.hint);
  }

  /// Of a build without MPI each process has a world of its own.
  void check_processes(const std::vector<NcclTestsOutput>& tests) const {
    int alone = 0;
    for (const NcclTestsOutput& test : tests) alone = std::max(alone, test.alone);
    if (tests.size() > 1 && std::ranges::all_of(tests, [](const NcclTestsOutput& test) { return test.ranks == 1; }))
      alone = static_cast<int>(tests.size());
    if (alone > 1)
      fail({fmt::format("{} processes, each alone with rank 0: nothing was exchanged between them", alone),
            "nccl-tests was built without MPI: build it with make MPI=1"});
  }

  std::optional<Refusal> add_test(const NcclTestsOutput& test, std::vector<ImportedOutput>& outputs) const {
    if (test.rows.empty())
      return Refusal{fmt::format("none of its rows can be read ({})", test.left_out.front()), "measure again"};
    if (exchanges_nothing(test))
      return Refusal{"it ran on one GPU: nothing is exchanged", "run it on two GPUs or more"};
    const int ranks = test.ranks > 0 ? test.ranks : hints_.ranks;
    if (ranks < 2)
      return Refusal{"its list of devices does not say on how many GPUs of how many nodes it ran",
                     "add such as --ranks 16 --nodes 2"};
    const auto exact = std::ranges::find_if(test.rows, [](const NcclTestsRow& row) { return row.bytes > 0; });
    if (exact == test.rows.end())
      return Refusal{"all of its rows are of 0 bytes", "measure more, such as -b 1K -e 1G -f 2"};
    // What hbench has no collective of may count bytes otherwise.
    const NcclTest* named = test.names.size() == 1 ? find_nccl_test(*test.names.begin()) : nullptr;
    if (test.names.size() != 1 || (named != nullptr && named->kind)) for_rows(test, check_row);
    const IdentifiedTest found = identify(test, ranks, hints_.collective);
    if (found.test == nullptr) return Refusal{found.why, found.hint};
    for_rows(test, [&](const NcclTestsRow& row) { check_bus_factor(row, *found.test, ranks); });
    outputs.push_back(output_of(test, *found.test->kind, ranks));
    return std::nullopt;
  }

  template <class Check>
  static void for_rows(const NcclTestsOutput& test, Check check) {
    for (const NcclTestsRow& row : test.rows)
      if (row.bytes > 0) check(row);
  }

  static ImportedOutput output_of(const NcclTestsOutput& test, CollectiveKind kind, int ranks) {
    ImportedCases cases;
    for_rows(test, [&](const NcclTestsRow& row) {
      Case asked = collective_case("nccl-tests", kind, row.bytes, row.type, row.redop.value_or(""));
      asked.gpus = ranks;
      asked.nodes = test.nodes;
      asked.training.device = kGpuDevice;
      add_row(cases, asked, row);
    });
    ImportedOutput output{.cases = cases.take(), .left_out = test.left_out};
    if (!test.gpus.empty()) output.environment["gpu"] = fmt::format("{}", fmt::join(test.gpus, ", "));
    if (!test.nccl.empty()) output.environment["nccl"] = test.nccl;
    const auto empty = std::ranges::count_if(test.rows, [](const NcclTestsRow& row) { return row.bytes < 1; });
    if (empty > 0) output.left_out.push_back(counted(empty, "row") + " of 0 bytes");
    return output;
  }

  std::string_view file_name_;
  const ImportHints& hints_;
  Refusal first_;
};

}  // namespace

ImportedOutput cases_of(std::vector<NcclTestsOutput> tests, std::string_view file_name, const ImportHints& hints) {
  return Tests(file_name, hints).read(std::move(tests));
}

}  // namespace hbench
