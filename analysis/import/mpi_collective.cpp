#include "analysis/import/mpi_collective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/import/words.hpp"
#include "analysis/points/collectives.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// Times a million ranks a number of bytes still.
constexpr double kMostMessageBytes = 1e12;
constexpr double kLeastSeconds = 1e-15;

constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kTypes{{{"FLOAT", "float32"},
                                                                               {"DOUBLE", "float64"},
                                                                               {"HALF", "float16"},
                                                                               {"BFLOAT16", "bfloat16"},
                                                                               {"INT", "int32"},
                                                                               {"INT32", "int32"},
                                                                               {"INT64", "int64"},
                                                                               {"UINT8", "uint8"}}};

/// A row's figures as a case: `bytes` as MPI counts them, of an all-gather those of one rank.
Case case_of_row(const MpiTable& table, std::int64_t bytes) {
  if (table.kind == CollectiveKind::all_gather) bytes *= std::max(table.ranks, 1);
  Case asked =
      collective_case(table.executor, table.kind, bytes, table.type, reduces(table.kind) ? table.operation : "");
  asked.gpus = table.ranks;
  if (table.on_gpu) asked.training.device = kGpuDevice;
  return asked;
}

}  // namespace

std::string_view type_of_mpi(std::string_view mpi) {
  if (mpi.ends_with('.')) mpi.remove_suffix(1);
  for (const std::string_view library : {"MPI_", "NCCL_"})
    for (const auto& [known, name] : kTypes)
      if (mpi.starts_with(library) && mpi.substr(library.size()) == known) return name;
  return mpi;
}

std::optional<CollectiveKind> kind_of_mpi(std::string_view written) {
  const std::string name = lower_case(std::string(written));
  if (name == "allreduce") return CollectiveKind::all_reduce;
  if (name == "reduce_scatter") return CollectiveKind::reduce_scatter;
  if (name == "allgather") return CollectiveKind::all_gather;
  if (name == "broadcast" || name == "bcast") return CollectiveKind::broadcast;
  return std::nullopt;
}

ImportedTests& MpiReader::read_lines(std::string_view text) {
  for (const std::string_view line : lines_of(text)) {
    ++line_;
    read_line(line);
  }
  return tables_;
}

void MpiReader::begin_table(std::string_view line, std::size_t at) {
  tables_.begin();
  label_ = label_before(line, at);
  column_ = 0;
}

std::string_view MpiReader::unlabelled(std::string_view line) const { return trimmed(without_label(line, label_)); }

void MpiReader::take_column(std::size_t column, std::string_view unit) {
  const std::optional<MeasuredUnit> known = measured_unit(unit);
  if (!known || known->is_rate) return;
  column_ = column;
  unit_ = known->factor;
}

void MpiReader::leave_out_line(std::string_view why) { tables_.leave_out(fmt::format("line {}: {}", line_, why)); }

void MpiReader::add_row(const std::vector<std::string_view>& words, bool wrong) {
  std::string_view time = column_ < words.size() ? words[column_] : "";
  // `out-of-mem.; needed X= 1.004 GB` in place of a time has numbers further on.
  const auto last = words.begin() + static_cast<std::ptrdiff_t>(std::min(column_ + 1, words.size()));
  const auto remark = std::find_if_not(words.begin(), last, finite_number);
  if (remark != last) time = remark->substr(0, remark->find(".;"));
  const auto size = finite_number(words[0]), number = finite_number(time);
  if (!size || *size < 0 || *size > kMostMessageBytes)
    return leave_out_line(fmt::format("'{}' is no number of bytes", words[0]));
  const double seconds = number.value_or(0) * unit_;
  if (seconds <= kLeastSeconds) return leave_out_line(fmt::format("its time is '{}'", time));
  const Case asked = case_of_row(table_, static_cast<std::int64_t>(*size));
  if (wrong)
    return tables_.cases().fail(asked, fmt::format("{}:{}: its validation failed", file_name_, line_),
                                static_cast<int>(ExitCode::wrong_data));
  // A broadcast has one buffer; the others get their result in another.
  const bool in_place = table_.kind == CollectiveKind::broadcast;
  tables_.cases().add(asked, in_place ? metric::kInPlace : metric::kOutOfPlace, std::array{seconds}, "s");
}

}  // namespace hbench
