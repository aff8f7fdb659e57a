#include "analysis/import/nccl_tests_collective.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "collectives/arithmetic/data_type.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

using Factor = NcclTest::Factor;

constexpr std::array<NcclTest, 11> kTests{{
    {"all_reduce", CollectiveKind::all_reduce, Factor::twice_share, false, true, false},
    {"reduce_scatter", CollectiveKind::reduce_scatter, Factor::share, true, true, false},
    {"all_gather", CollectiveKind::all_gather, Factor::share, true, false, false},
    {"broadcast", CollectiveKind::broadcast, Factor::one, false, false, true},
    {"reduce", {}, Factor::one, false, true, true},
    {"sendrecv", {}, Factor::one, false, {}, false, false},
    {"alltoall", {}, Factor::share, true, false, false, false},
    {"gather", {}, Factor::share, true, false, true},
    {"scatter", {}, Factor::share, true, false, true},
    {"alltoallv", {}, Factor::share, true, false, false, false},
    {"hypercube", {}, Factor::one, true, false, false, false},
}};
constexpr std::string_view kNamed = "all-reduce, reduce-scatter, all-gather or broadcast";

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
  if (!by_user && checks != InPlace::unknown && test.checks_in_place != (checks == InPlace::checked)) return false;
  return std::ranges::all_of(output.rows,
                             [&](const NcclTestsRow& row) { return row.bytes < 1 || fits(test, row, ranks, by_user); });
}

IdentifiedTest no_collective(std::string_view what) {
  return {nullptr, fmt::format("hbench has no collective of {}", what), fmt::format("it has {}", kNamed)};
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
          fmt::format("if you know it, add --collective {}", kNamed)};
}

/// `allreduce` of `all_reduce_perf`, `AllReduce` and `all-reduce`.
std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : lower_case(std::string(name.substr(0, name.find("_perf")))))
    if (c >= 'a' && c <= 'z') plain += c;
  return plain;
}

}  // namespace

double NcclTest::bus_factor(int ranks) const {
  const double share = (ranks - 1.0) / ranks;
  return factor == Factor::one ? 1 : factor == Factor::share ? share : 2 * share;
}

const NcclTest* find_nccl_test(std::string_view name) {
  for (const NcclTest& test : kTests)
    if (plain_name(test.name) == plain_name(name)) return &test;
  return nullptr;
}

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

void check_bus_factor(const NcclTestsRow& row, const NcclTest& test, int ranks) {
  if (has_factor(row, test.bus_factor(ranks))) return;
  throw Error(ExitCode::usage,
              fmt::format("{}: its busbw is {:.3g} times size / time, and that of {} on {} ranks is {:.3g}", row.where,
                          bus_factor_of(row), test.name, ranks, test.bus_factor(ranks)),
              "check --ranks and --collective, and that no column was changed");
}

}  // namespace hbench
