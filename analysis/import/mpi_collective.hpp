#pragma once

/// What tables of MPI's collectives have in common. Pure.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/import/format.hpp"
#include "collectives/algorithms/algorithm.hpp"

namespace hbench {

/// MPI's and NCCL's types by hbench's names; others stay as they are.
std::string_view type_of_mpi(std::string_view mpi);

/// Returns the collective of the name that a benchmark of MPI gives it, such as `Allreduce`; none of others. OSU writes
/// `Broadcast`, Intel `Bcast`.
std::optional<CollectiveKind> kind_of_mpi(std::string_view name);

/// One table, as it is read: what its heading says, and its rows.
struct MpiTable {
  std::string_view executor;
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::string type, operation = "sum";
  bool on_gpu = false;
  int ranks = 0;  ///< 0: not known
};

/// A row's figures as a case: `bytes` as MPI counts them, of an all-gather those of one rank.
Case case_of_row(const MpiTable& table, std::int64_t bytes);
/// The metric of its time: a broadcast has one buffer; the others get their result in another.
std::string_view time_metric(CollectiveKind kind);

/// The number of bytes and the time of a row, or why it has none.
struct MpiRow {
  std::int64_t bytes = 0;
  double seconds = 0;
  std::string fault;

  static MpiRow of(std::string_view bytes, std::string_view time, double unit);
};

/// Several tables of one file: those of one collective and number of ranks belong together.
class MpiTables {
 public:
  explicit MpiTables(std::string_view file_name) : file_name_(file_name) {}

  /// Ends the table that was read before, if there was one.
  void begin();
  ImportedCases& cases() { return cases_; }
  void leave_out(std::string what);
  /// \throws Error (usage) where there is no case: with the first thing that was left out, or `nothing` and its cure.
  ImportedOutput finish(const std::string& nothing, std::string_view hint);

 private:
  std::string_view file_name_;
  ImportedCases cases_;
  std::vector<ImportedOutput> tables_;
  std::vector<std::string> left_out_;
};

}  // namespace hbench
