#include <fmt/format.h>

#include "analysis/import/format.hpp"
#include "analysis/import/mpi_collective.hpp"
#include "analysis/import/words.hpp"
#include "collectives/base/text.hpp"

/// Tables of the Intel MPI Benchmarks (IMB-MPI1): a benchmark's name, its number of processes, the names of the
/// columns, and a row for each size, of which `t_avg` is taken. The machine is not in it. oneCCL's benchmark prints the
/// same with colons, and the types of all tables before them.

namespace hbench {
namespace {

constexpr std::string_view kBenchmarking = "# Benchmarking", kAverage = "t_avg[", kSize = "#bytes";

bool is_imb(std::string_view text) {
  return text.find(kBenchmarking) != text.npos && text.find("#repetitions") != text.npos;
}

class ImbReader : MpiReader {
 public:
  explicit ImbReader(std::string_view file_name) : MpiReader(file_name) {}

  ImportedOutput read(std::string_view text) {
    ImportedTests& tables = read_lines(text);
    if (empty_ > 0) tables.leave_out(fmt::format("{}{}", counted(empty_, "row"), kOfNoBytes));
    return tables.finish("it has no rows: did the test end before its table?",
                         "Allreduce, Reduce_scatter, Allgather and Bcast of IMB-MPI1 can be imported");
  }

 private:
  void read_line(std::string_view line) override {
    if (const std::size_t at = line.find(kBenchmarking); at != line.npos)
      return read_name(line, at, trimmed(line.substr(at + kBenchmarking.size())));
    line = unlabelled(line);
    const std::vector<std::string_view> words = words_of(line);
    if (words.empty()) return;
    // `# MPI_Datatype for reductions    :   MPI_FLOAT`, `# MPI_Op : MPI_SUM`, `# #processes = 144`
    if (words.size() > 3 && words[1] == "MPI_Datatype")
      (words[2] == ":" ? type_ : reduced_type_) = type_of_mpi(words.back());
    if (words.size() > 2 && words[1] == "MPI_Op") table_.operation = operation_of_mpi(words.back());
    if (words.size() > 3 && words[1] == "#processes") read_processes(words[3]);
    if (words.size() > 2 && words[1] == "#processes:") read_processes(words[2]);
    if (words.size() == 2 && words[0] == "datatypes:") type_ = reduced_type_ = words[1];
    if (words.size() == 2 && words[0] == "reductions:") table_.operation = words[1];
    if (words[0] == kSize) return read_head(words);
    if (column_ == 0 || !finite_number(words[0])) return;
    if (words[0] == "0")
      ++empty_;
    else
      add_row(words, defects_ > 0 && defects_ < words.size() && finite_number(words[defects_]).value_or(0) > 0);
  }

  static std::string operation_of_mpi(std::string_view name) {
    constexpr std::string_view kPrefix = "MPI_";
    return lower_case(std::string(name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name));
  }

  void read_name(std::string_view line, std::size_t at, std::string_view name) {
    begin_table(line, at);
    table_.executor = name.starts_with(':') ? "oneccl" : "imb";
    if (name.starts_with(':')) name = trimmed(name.substr(1));
    table_.ranks = 0;
    const std::optional<CollectiveKind> kind = kind_of_mpi(name);
    known_ = kind.has_value();
    if (kind) table_.kind = *kind;
    table_.type = reduces(table_.kind) ? reduced_type_ : type_;
    if (!known_) leave_out_line(fmt::format("hbench has no collective of IMB's {}", name));
  }

  void read_processes(std::string_view word) {
    constexpr double kMost = 1e6;
    const double ranks = finite_number(word).value_or(0);
    table_.ranks = ranks >= 1 && ranks <= kMost ? static_cast<int>(ranks) : 0;
  }

  void read_head(const std::vector<std::string_view>& names) {
    column_ = 0;
    if (!known_) return;
    defects_ = names.back() == "defects" ? names.size() - 1 : 0;
    for (std::size_t i = 1; i < names.size(); ++i) {
      if (!names[i].starts_with(kAverage)) continue;
      const std::string_view unit = names[i].substr(kAverage.size(), names[i].size() - kAverage.size() - 1);
      take_column(i, unit == "usec" ? "us" : unit == "msec" ? "ms" : unit);
    }
    if (column_ == 0) leave_out_line("it has no column t_avg[usec]");
  }

  std::string type_, reduced_type_;
  std::size_t defects_ = 0;  ///< the column of wrong results; 0: nothing was checked
  std::int64_t empty_ = 0;   ///< rows of 0 bytes
};

ImportedOutput parse_imb(std::string_view text, std::string_view file_name, const ImportHints& /*hints*/) {
  return ImbReader(file_name).read(text);
}

}  // namespace

extern constinit const ImportFormat kImbFormat{
    .name = "imb",
    .summary = "t_avg of Intel MPI Benchmarks' Allreduce, Bcast and the like",
    .example = "mpirun -n 16 IMB-MPI1 Allreduce > 1.txt",
    .recognises = is_imb,
    .parse = parse_imb};

}  // namespace hbench
