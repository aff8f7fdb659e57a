// Which collective a table of nccl-tests is of. Pure.

#include "analysis/import/nccl_tests_output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>

#include "analysis/import/number_pattern.hpp"
#include "analysis/points/collectives.hpp"
#include "collectives/algorithms/algorithm.hpp"
#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// One of nccl-tests' programs, and what its rows show.
struct NcclTest {
  enum class Factor : std::uint8_t { twice_share, share, one };

  std::string_view name;               ///< `all_reduce`
  std::optional<CollectiveKind> kind;  ///< none where hbench has no such collective
  Factor factor;                       ///< of busbw to algbw; the share is (ranks - 1) / ranks
  bool counts_share;                   ///< its count is of what one rank gives or gets
  std::optional<bool> reduces;         ///< none: it prints an operation, and has none
  bool has_root;
  std::optional<bool> checks_in_place = true;  ///< none: some versions do

  double bus_factor(int ranks) const {
    const double share = (ranks - 1.0) / ranks;
    return factor == Factor::one ? 1 : factor == Factor::share ? share : 2 * share;
  }
};

using Factor = NcclTest::Factor;

constexpr std::array<NcclTest, 11> kTests{{
    {"all_reduce", CollectiveKind::all_reduce, Factor::twice_share, false, true, false},
    {"reduce_scatter", CollectiveKind::reduce_scatter, Factor::share, true, true, false},
    {"all_gather", CollectiveKind::all_gather, Factor::share, true, false, false},
    {"broadcast", CollectiveKind::broadcast, Factor::one, false, false, true},
    {"reduce", {}, Factor::one, false, true, true},
    {"sendrecv", {}, Factor::one, false, {}, false, false},
    {"alltoall", {}, Factor::share, true, false, false, {}},
    {"gather", {}, Factor::share, true, false, true},
    {"scatter", {}, Factor::share, true, false, true},
    {"alltoallv", {}, Factor::share, true, false, false, {}},
    {"hypercube", {}, Factor::one, true, false, false, false},
}};
constexpr std::string_view kKnownCollectives = "all-reduce, reduce-scatter, all-gather or broadcast";

/// `allreduce` of `all_reduce_perf`, `AllReduce` and `all-reduce`.
std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : lower_case(std::string(name.substr(0, name.find("_perf")))))
    if (c >= 'a' && c <= 'z') plain += c;
  return plain;
}

/// The test of a program or of a collective by any spelling (`all_reduce_perf`, `AllReduce`); null for others.
const NcclTest* find_nccl_test(std::string_view name) {
  for (const NcclTest& test : kTests)
    if (plain_name(test.name) == plain_name(name)) return &test;
  return nullptr;
}

/// The digits of a bandwidth from which a time is taken.
constexpr double kMostRounding = 0.01;
/// Beside what rounding explains.
constexpr double kTolerance = 0.005;

bool may_be(const PrintedNumber& printed, double low, double high) {
  return printed.value + printed.slack >= low * (1 - kTolerance) &&
         printed.value - printed.slack <= high * (1 + kTolerance);
}

/// Whether `printed` B/s may be `factor` times what the time of `bytes` says.
bool is_rate(const PrintedNumber& printed, double factor, double bytes, const PrintedNumber& seconds) {
  const double soonest = seconds.value - seconds.slack, bus = factor * bytes;
  return may_be(printed, bus / (seconds.value + seconds.slack), soonest > 0 ? bus / soonest : HUGE_VAL);
}

bool has_factor(const NcclTestsRow& row, double factor) {
  return std::ranges::all_of(row.timings(), [&](const NcclTestsTiming* timing) {
    return is_rate(timing->busbw, factor, static_cast<double>(row.bytes), timing->seconds);
  });
}

double bus_factor_of(const NcclTestsRow& row) {
  const NcclTestsTiming& timing = *row.timings().back();
  return timing.busbw.value * timing.seconds.value / static_cast<double>(row.bytes);
}

/// The count's bytes, where the type is one that hbench knows.
std::optional<double> counted_bytes(const NcclTestsRow& row) {
  try {
    return static_cast<double>(row.count) * static_cast<double>(entry_of(parse_data_type(row.type)).size);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// What the user says goes before how data were checked.
bool fits(const NcclTest& test, const NcclTestsRow& row, int ranks, bool by_user) {
  if (test.reduces && row.redop && *test.reduces == row.redop->empty()) return false;
  // Older versions have no column of operations where there is none, but of roots.
  if (!by_user && test.reduces == true && !row.redop && row.root >= 0) return false;
  if (test.has_root != (row.root >= 0)) return false;
  const auto bytes = counted_bytes(row);
  const auto whole = static_cast<double>(row.bytes);
  if (bytes && ranks > 1 && ((test.counts_share && *bytes == whole) || (!test.counts_share && *bytes * ranks == whole)))
    return false;
  return by_user || has_factor(row, test.bus_factor(ranks));
}

enum class InPlace : std::uint8_t { checked, not_checked, unknown };

/// What the checks of data in place say: tests that cannot work in place print `N/A`, and older ones an error of 1.
InPlace in_place_checks(const NcclTestsOutput& output) {
  InPlace found = InPlace::unknown;
  for (const NcclTestsRow& row : output.rows) {
    if (!row.in_place || !row.out_of_place || !row.out_of_place->wrong_elements()) continue;
    const auto wrong = row.in_place->wrong_elements();
    const bool old = row.out_of_place->wrong.find('e') != std::string::npos;
    if (!wrong || (old && *wrong > 0 && row.out_of_place->wrong_elements() == 0)) return InPlace::not_checked;
    if (!old) found = InPlace::checked;  // an old version checks what it cannot do as well
  }
  return found;
}

bool fits(const NcclTest& test, const NcclTestsOutput& output, int ranks, bool by_user) {
  const InPlace checks = in_place_checks(output);
  if (!by_user && checks != InPlace::unknown &&
      test.checks_in_place.value_or(checks == InPlace::checked) != (checks == InPlace::checked))
    return false;
  return std::ranges::all_of(output.rows,
                             [&](const NcclTestsRow& row) { return row.bytes < 1 || fits(test, row, ranks, by_user); });
}

struct IdentifiedTest {
  const NcclTest* test = nullptr;  ///< null where it is not known, or hbench has no such collective
  std::string why, hint;           ///< then: why
};

IdentifiedTest no_collective(std::string_view what) {
  return {nullptr, fmt::format("hbench has no collective of {}", what), fmt::format("it has {}", kKnownCollectives)};
}

IdentifiedTest by_name(const std::string& name) {
  const NcclTest* test = find_nccl_test(name);
  return test != nullptr && test->kind ? IdentifiedTest{test, "", ""} : no_collective(name);
}

/// By what its columns leave possible.
IdentifiedTest by_rows(const NcclTestsOutput& output, int ranks) {
  std::vector<std::string_view> names;
  const NcclTest* last = nullptr;
  for (const NcclTest& test : kTests) {
    if (!fits(test, output, ranks, false)) continue;
    names.push_back(test.name);
    last = &test;
  }
  if (names.size() == 1 && last->kind) return {last, "", ""};
  if (names.empty()) {
    const auto with_bytes = std::ranges::find_if(output.rows.rbegin(), output.rows.rend(),
                                                 [](const NcclTestsRow& row) { return row.bytes > 0; });
    return {nullptr,
            fmt::format("its bus bandwidth is {:.3g} times its algorithm's, which no collective of {} ranks with these "
                        "columns has",
                        bus_factor_of(*with_bytes), ranks),
            "are the numbers of ranks and nodes right?"};
  }
  const bool none =
      std::ranges::none_of(names, [](std::string_view name) { return find_nccl_test(name)->kind.has_value(); });
  return {nullptr,
          fmt::format("it does not name its test, and its columns are those of {}{}", fmt::join(names, ", "),
                      none ? ", of which hbench has no collective" : ""),
          fmt::format("{} {}", none ? "it has" : "if you know it, add --collective", kKnownCollectives)};
}

/// The test by the program's name, else by the collective that the user gives, else by what the rows leave possible:
/// the factor of their bus bandwidth, operation, root, count, and whether data in place were checked.
IdentifiedTest identify(const NcclTestsOutput& output, int ranks, std::string_view collective) {
  if (output.names.size() == 1) return by_name(*output.names.begin());
  std::vector<std::string> possible;
  for (const std::string& name : output.names)
    if (const NcclTest* test = find_nccl_test(name); test != nullptr && fits(*test, output, ranks, false))
      possible.push_back(name);
  if (possible.size() == 1) return by_name(possible.front());
  if (collective.empty()) return by_rows(output, ranks);
  const NcclTest* test = find_nccl_test(collective);
  if (test == nullptr || !test->kind) return no_collective(collective);
  if (fits(*test, output, ranks, true)) return {test, "", ""};
  return {nullptr, fmt::format("its columns are not those of {}: operation, root or count differ", test->name),
          "check --collective, or leave it out"};
}

/// \throws Error (usage) with the row's place where size / time is not its algbw.
void check_row(const NcclTestsRow& row) {
  for (const NcclTestsTiming* timing : row.timings()) {
    const auto bytes = static_cast<double>(row.bytes);
    if (is_rate(timing->algbw, 1, bytes, timing->seconds)) continue;
    throw Error(
        ExitCode::usage,
        fmt::format("{}: {} B in {:.6g} us are {:.4g} GB/s, and its algbw is {:.4g}", row.where, row.bytes,
                    timing->seconds.value * 1e6, bytes / timing->seconds.value / 1e9, timing->algbw.value / 1e9),
        "was a column or a unit changed? algbw is size / time");
  }
}

/// \throws Error (usage) with the row's place where busbw / algbw is not the test's factor for these ranks.
void check_bus_factor(const NcclTestsRow& row, const NcclTest& test, int ranks) {
  if (has_factor(row, test.bus_factor(ranks))) return;
  throw Error(ExitCode::usage,
              fmt::format("{}: its busbw is {:.3g} times size / time, and that of {} on {} ranks is {:.3g}", row.where,
                          bus_factor_of(row), test.name, ranks, test.bus_factor(ranks)),
              "check --ranks and --collective, and that no column was changed");
}

void add_timing(ImportedCases& cases, const Case& asked, std::string_view time, std::string_view wrong,
                const std::optional<NcclTestsTiming>& timing) {
  if (!timing) return;
  cases.add(asked, time, timing->iterations(), "s");
  if (const auto count = timing->wrong_elements()) cases.add(asked, wrong, std::array{*count}, "elements");
}

/// Says what was wrong with the data of a row; empty where nothing was.
std::string wrong_data_of(const NcclTestsRow& row) {
  double wrong = 0, bits = 0;
  for (const NcclTestsTiming* timing : row.timings()) {
    wrong = std::max(wrong, timing->wrong_elements().value_or(0));
    bits = std::max(bits, timing->bits);
  }
  if (wrong > 0) return fmt::format("{}: {:g} elements were wrong", row.where, wrong);
  return bits > 0 ? fmt::format("{}: {:g} bits differed when it was computed again", row.where, bits) : "";
}

void add_row(ImportedCases& cases, const Case& asked, const NcclTestsRow& row, const std::string& wrong) {
  if (!wrong.empty()) return cases.fail(asked, wrong, static_cast<int>(ExitCode::wrong_data));
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
struct UnreadTest {
  std::string why, hint;
};

/// The tests of one file.
class NcclTests {
 public:
  NcclTests(std::string_view file_name, const ImportHints& hints) : file_name_(file_name), hints_(hints) {}

  ImportedOutput read(std::vector<NcclTestsOutput> tests) {
    std::erase_if(tests, [](const NcclTestsOutput& test) { return test.rows.empty() && test.left_out.empty(); });
    if (tests.empty())
      fail({"it has no rows",
            "give the output of nccl-tests with its table, whose rows begin with plain bytes (1048576)"});
    check_processes(tests);
    std::vector<ImportedOutput> outputs;
    std::vector<std::string> left_out;
    for (NcclTestsOutput& test : tests) {
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
  [[noreturn]] void fail(const UnreadTest& refusal) const { refuse_file(file_name_, refusal.why, refusal.hint); }

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

  std::optional<UnreadTest> add_test(NcclTestsOutput& test, std::vector<ImportedOutput>& outputs) const {
    if (test.rows.empty())
      return UnreadTest{fmt::format("none of its rows can be read ({})", test.left_out.front()), "measure again"};
    if (exchanges_nothing(test))
      return UnreadTest{"it ran on one GPU: nothing is exchanged", "run it on two GPUs or more"};
    const int ranks = test.ranks > 0 ? test.ranks : hints_.ranks;
    if (ranks < 2)
      return UnreadTest{"it does not say on how many GPUs of how many nodes it ran",
                        "add such as --ranks 16 --nodes 2"};
    const auto exact = std::ranges::find_if(test.rows, [](const NcclTestsRow& row) { return row.bytes > 0; });
    if (exact == test.rows.end())
      return UnreadTest{"all of its rows are of 0 bytes", "measure more, such as -b 1K -e 1G -f 2"};
    if (auto refusal = add_times(test, ranks)) return refusal;
    // What hbench has no collective of may count bytes otherwise.
    const NcclTest* named = test.names.size() == 1 ? find_nccl_test(*test.names.begin()) : nullptr;
    if (test.names.size() != 1 || (named != nullptr && named->kind)) for_rows(test, check_row);
    const IdentifiedTest found = identify(test, ranks, hints_.collective);
    if (found.test == nullptr) return UnreadTest{found.why, found.hint};
    for_rows(test, [&](const NcclTestsRow& row) { check_bus_factor(row, *found.test, ranks); });
    outputs.push_back(output_of(test, *found.test->kind, ranks));
    return std::nullopt;
  }

  /// What a table has no columns of follows from its bus bandwidth: times, where that has digits enough.
  std::optional<UnreadTest> add_times(NcclTestsOutput& test, int ranks) const {
    const NcclTest* found = find_nccl_test(test.names.size() == 1 ? *test.names.begin() : hints_.collective);
    std::int64_t rounded = 0;
    for (NcclTestsRow& row : test.rows)
      for (std::optional<NcclTestsTiming>* timing : {&row.out_of_place, &row.in_place}) {
        if (!*timing) continue;
        NcclTestsTiming& figures = **timing;
        const auto bytes = static_cast<double>(row.bytes);
        if (figures.seconds.value == 0) {
          if (found == nullptr)
            return UnreadTest{"it has no column 'time', and does not say of which collective its busbw is",
                              fmt::format("add that column, or --collective {}", kKnownCollectives)};
          const double error = figures.busbw.slack / figures.busbw.value;
          const double seconds = found->bus_factor(ranks) * bytes / figures.busbw.value;
          figures.seconds = {seconds, seconds * error};
          if (!(error < kMostRounding)) {
            timing->reset();
            ++rounded;
            continue;
          }
        }
        if (figures.algbw.value == 0 && figures.algbw.slack == 0) figures.algbw.value = bytes / figures.seconds.value;
      }
    std::erase_if(test.rows, [](const NcclTestsRow& row) { return row.timings().empty(); });
    if (rounded > 0) test.left_out.push_back(counted(rounded, "timing") + " of a busbw with too few digits for a time");
    if (test.rows.empty()) return UnreadTest{test.left_out.back(), "add the column 'time'"};
    return std::nullopt;
  }

  template <class Check>
  static void for_rows(const NcclTestsOutput& test, Check check) {
    for (const NcclTestsRow& row : test.rows)
      if (row.bytes > 0) check(row);
  }

  static ImportedOutput output_of(const NcclTestsOutput& test, CollectiveKind kind, int ranks) {
    ImportedCases cases;
    const bool all_may_be_wrong =
        !test.failed_check.empty() &&
        std::ranges::all_of(test.rows, [](const NcclTestsRow& row) { return wrong_data_of(row).empty(); });
    for_rows(test, [&](const NcclTestsRow& row) {
      Case asked = collective_case("nccl-tests", kind, row.bytes, row.type, row.redop.value_or(""));
      asked.gpus = ranks;
      asked.nodes = test.nodes;
      asked.training.device = kGpuDevice;
      add_row(cases, asked, row,
              all_may_be_wrong ? fmt::format("{}: its footer says '{}', and no row which: all may be wrong", row.where,
                                             test.failed_check)
                               : wrong_data_of(row));
    });
    ImportedOutput output{.cases = cases.take(), .left_out = test.left_out};
    if (!test.gpus.empty()) output.environment["gpu"] = fmt::format("{}", fmt::join(test.gpus, ", "));
    if (!test.nccl.empty()) output.environment["nccl"] = test.nccl;
    const auto empty = std::ranges::count_if(test.rows, [](const NcclTestsRow& row) { return row.bytes < 1; });
    if (empty > 0) output.left_out.push_back(fmt::format("{}{}", counted(empty, "row"), kOfNoBytes));
    return output;
  }

  std::string_view file_name_;
  const ImportHints& hints_;
  UnreadTest first_;
};

ImportedOutput parse_nccl_tests(std::string_view text, std::string_view file_name, const ImportHints& hints) {
  std::vector<NcclTestsOutput> tests = read_nccl_tests(text, file_name);
  for (const TextMatch& failure : matches_of("Test (?:NCCL |CUDA |MPI )?failure [^\n\r]*", text, 1)) {
    const std::string why = fmt::format("the test failed: {}", failure[0]);
    if (std::ranges::all_of(tests, [](const NcclTestsOutput& test) { return test.rows.empty(); }))
      refuse_file(file_name, why, "run it with NCCL_DEBUG=INFO, which says why, and give the output of one that ends");
    tests.back().left_out.push_back(why);
  }
  return cases_of(std::move(tests), file_name, hints);
}

}  // namespace

ImportedOutput cases_of(std::vector<NcclTestsOutput> tests, std::string_view file_name, const ImportHints& hints) {
  return NcclTests(file_name, hints).read(std::move(tests));
}

extern constinit const ImportFormat kNcclTestsFormat{.name = "nccl-tests",
                                                     .summary = "the tables of nccl-tests and rccl-tests",
                                                     .example = "mpirun -n 16 all_reduce_perf -b 1K -e 1G -f 2 > 1.txt",
                                                     .recognises = is_nccl_tests_output,
                                                     .parse = parse_nccl_tests};

}  // namespace hbench
