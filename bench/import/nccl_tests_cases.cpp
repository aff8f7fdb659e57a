#include "bench/import/nccl_tests_cases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "analysis/collectives.hpp"
#include "bench/import/cases.hpp"
#include "bench/import/collective_case.hpp"
#include "collectives/base/error.hpp"

namespace hbench {
namespace {

void add_timing(ImportedCases& cases, const Case& asked, std::string_view time, std::string_view wrong,
                const NcclTestsTiming& timing) {
  if (timing.seconds <= 0) return;
  cases.add(asked, time, timing.iterations(), "s");
  if (const auto count = timing.wrong_elements()) cases.add(asked, wrong, std::array{*count}, "elements");
}

void add_row(ImportedCases& cases, const Case& asked, const NcclTestsRow& row) {
  const double wrong =
      std::max(row.out_of_place.wrong_elements().value_or(0), row.in_place.wrong_elements().value_or(0));
  if (wrong > 0)
    return cases.fail(asked, fmt::format("{}: {:g} elements were wrong", row.where, wrong),
                      static_cast<int>(ExitCode::wrong_data));
  add_timing(cases, asked, metric::kOutOfPlace, metric::kOutOfPlaceWrong, row.out_of_place);
  add_timing(cases, asked, metric::kInPlace, metric::kInPlaceWrong, row.in_place);
}

}  // namespace

ImportedOutput cases_of(const NcclTestsOutput& output, std::string_view file_name) {
  if (output.rows.empty())
    throw Error(ExitCode::usage, fmt::format("{}: it has no rows", file_name),
                "give the output of nccl-tests with its table");
  const CollectiveKind kind = collective_of(output, output.ranks, file_name);
  ImportedCases cases;
  std::size_t empty = 0;
  for (const NcclTestsRow& row : output.rows) {
    if (row.bytes < 1) {
      ++empty;
      continue;
    }
    Case asked = collective_case("nccl-tests", kind, row.bytes, row.type, row.redop);
    asked.gpus = output.ranks;
    asked.nodes = output.nodes;
    asked.training.device = kGpuDevice;
    add_row(cases, asked, row);
  }
  ImportedOutput imported{.cases = cases.take()};
  if (!output.gpus.empty()) imported.environment["gpu"] = fmt::format("{}", fmt::join(output.gpus, ", "));
  if (!output.nccl.empty()) imported.environment["nccl"] = output.nccl;
  if (empty > 0) imported.left_out.push_back(fmt::format("{} rows of 0 bytes", empty));
  return imported;
}

}  // namespace hbench
