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
/// `Broadcast`, Intel `Bcast`, oneCCL `bcast`.
std::optional<CollectiveKind> kind_of_mpi(std::string_view written);

/// One table, as it is read: what its heading says, and its rows.
struct MpiTable {
  std::string_view executor;
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::string type, operation = "sum";
  bool on_gpu = false;
  int ranks = 0;  ///< 0: not known
};

/// Reads a text of several tables line by line: those of one collective and number of ranks belong together.
class MpiReader {
 protected:
  explicit MpiReader(std::string_view file_name) : tables_(file_name), file_name_(file_name) {}
  virtual ~MpiReader() = default;

  ImportedTests& read_lines(std::string_view text);
  virtual void read_line(std::string_view line) = 0;

  /// Ends the table before. Its own heading begins at `at` of a line: rows have the same label.
  void begin_table(std::string_view line, std::size_t at);
  std::string_view unlabelled(std::string_view line) const;
  /// The column of the average and its unit: the last one whose unit is of time.
  void take_column(std::size_t column, std::string_view unit);
  void leave_out_line(std::string_view why);
  /// Adds the case of a row; one that is `wrong` has failed.
  void add_row(const std::vector<std::string_view>& words, bool wrong);

  ImportedTests tables_;
  std::string_view file_name_;
  int line_ = 0;            ///< its number, from 1
  bool known_ = false;      ///< whether hbench has the table's collective
  std::size_t column_ = 0;  ///< of the average; 0 before the names of the columns
  MpiTable table_;

 private:
  std::string label_;
  double unit_ = 1e-6;  ///< of the average, in seconds
};

}  // namespace hbench
