#include "analysis/import/mpi_collective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "analysis/import/format.hpp"
#include "analysis/import/words.hpp"
#include "analysis/points/collectives.hpp"
#include "collectives/base/error.hpp"

namespace hbench {
namespace {

/// Times a million ranks a number of bytes still.
constexpr double kMostBytes = 1e12;

constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kTypes{{{"FLOAT", "float32"},
                                                                               {"DOUBLE", "float64"},
                                                                               {"HALF", "float16"},
                                                                               {"BFLOAT16", "bfloat16"},
                                                                               {"INT", "int32"},
                                                                               {"INT32", "int32"},
                                                                               {"INT64", "int64"},
                                                                               {"UINT8", "uint8"}}};

}  // namespace

std::string_view type_of_mpi(std::string_view mpi) {
  if (mpi.ends_with('.')) mpi.remove_suffix(1);
  for (const std::string_view library : {"MPI_", "NCCL_"})
    for (const auto& [known, name] : kTypes)
      if (mpi.starts_with(library) && mpi.substr(library.size()) == known) return name;
  return mpi;
}

std::optional<CollectiveKind> kind_of_mpi(std::string_view name) {
  if (name == "Allreduce") return CollectiveKind::all_reduce;
  if (name == "Reduce_scatter") return CollectiveKind::reduce_scatter;
  if (name == "Allgather") return CollectiveKind::all_gather;
  if (name == "Broadcast" || name == "Bcast") return CollectiveKind::broadcast;
  return std::nullopt;
}

Case case_of_row(const MpiTable& table, std::int64_t bytes) {
  if (table.kind == CollectiveKind::all_gather) bytes *= std::max(table.ranks, 1);
  Case asked =
      collective_case(table.executor, table.kind, bytes, table.type, reduces(table.kind) ? table.operation : "");
  asked.gpus = table.ranks;
  if (table.on_gpu) asked.training.device = kGpuDevice;
  return asked;
}

std::string_view time_metric(CollectiveKind kind) {
  return kind == CollectiveKind::broadcast ? metric::kInPlace : metric::kOutOfPlace;
}

MpiRow MpiRow::of(std::string_view bytes, std::string_view time, double unit) {
  const auto size = finite_number(bytes), number = finite_number(time);
  if (!size || *size < 0 || *size > kMostBytes) return {.fault = fmt::format("'{}' is no number of bytes", bytes)};
  if (!number || *number * unit <= 1e-15) return {.fault = fmt::format("its time is '{}'", time)};
  return {.bytes = static_cast<std::int64_t>(*size), .seconds = *number * unit, .fault = {}};
}

void MpiTables::begin() {
  if (!cases_.empty()) tables_.push_back({.cases = cases_.take()});
  cases_ = {};
}

void MpiTables::leave_out(std::string what) { left_out_.push_back(std::move(what)); }

ImportedOutput MpiTables::finish(const std::string& nothing, std::string_view hint) {
  begin();
  if (tables_.empty())
    throw Error(ExitCode::usage, fmt::format("{}: {}", file_name_, left_out_.empty() ? nothing : left_out_.front()),
                std::string(hint));
  ImportedOutput output = merged(std::move(tables_));
  output.left_out.insert(output.left_out.end(), left_out_.begin(), left_out_.end());
  return output;
}

}  // namespace hbench
