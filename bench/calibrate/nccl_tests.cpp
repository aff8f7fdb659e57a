#include "bench/calibrate/nccl_tests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "bench/import/nccl_tests_output.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

[[noreturn]] void fail(std::string_view where, const std::string& what, std::string_view hint) {
  throw Error(ExitCode::usage, fmt::format("{}: {}", where, what), std::string(hint));
}

void check_data(const NcclTestsRow& row, const NcclTestsTiming& timing) {
  if (timing.wrong_elements().value_or(0) > 0)
    fail(row.where,
         fmt::format("{} elements of {} were wrong", timing.wrong, exact_text(Bytes(static_cast<double>(row.bytes)))),
         "wrong data are no measurement: repair the machine, and measure again");
}

}  // namespace

ImportedCurve parse_nccl_tests(std::string_view text, std::string_view file_name, int ranks, int nodes) {
  const NcclTestsOutput output = read_nccl_tests(text, file_name);
  std::map<std::int64_t, double> times;  // seconds, by bytes
  for (const NcclTestsRow& row : output.rows) {
    for (const NcclTestsTiming* timing : {&row.out_of_place, &row.in_place}) check_data(row, *timing);
    if (row.bytes < 1) continue;
    auto [known, is_new] = times.try_emplace(row.bytes, row.out_of_place.seconds);
    known->second = std::min({known->second, row.out_of_place.seconds, row.in_place.seconds});
  }
  ImportedCurve imported;
  MeasuredCurve& curve = imported.curve;
  curve.ranks = ranks > 0 ? ranks : output.ranks;
  curve.nodes = nodes > 0 ? nodes : output.nodes;
  if (curve.ranks < 2 || curve.nodes < 1 || curve.nodes > curve.ranks)
    fail(file_name, "its list of devices does not say on how many GPUs of how many nodes it ran",
         "add such as --ranks 16 --nodes 2");
  curve.algorithm = "vendor";
  curve.collective = collective_of(output, curve.ranks, file_name);
  if (const std::size_t sizes = keep_sizes(imported, times); sizes < kFewestSizes)
    fail(file_name, fmt::format("{} of its sizes can be used, and a curve needs {}", sizes, kFewestSizes),
         "measure more, such as -b 1K -e 1G -f 2");
  return imported;
}

}  // namespace hbench
