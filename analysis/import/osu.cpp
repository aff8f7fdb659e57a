#include <fmt/format.h>

#include "analysis/import/format.hpp"
#include "analysis/import/mpi_collective.hpp"
#include "analysis/import/words.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

/// Tables of the OSU micro-benchmarks' blocking collectives (mvapich.cse.ohio-state.edu/benchmarks): a title, the names
/// of the columns, and a row for each size. `Avg Latency` is the mean over ranks and iterations, with and without `-f`;
/// nothing else is taken, so that outputs of both kinds compare. Ranks and machine are not in it.

namespace hbench {
namespace {

constexpr std::string_view kAverage = "Avg Latency", kEnd = " Latency Test",
                           kHint = "osu_allreduce, osu_reduce_scatter, osu_allgather or osu_bcast can be imported";

/// Where `OSU MPI-CUDA Allreduce Latency Test v7.5` begins; none in other lines.
std::size_t title_of(std::string_view line) {
  const std::size_t at = line.find("OSU ");
  return at != line.npos && line.find(" Test", at) != line.npos ? at : line.npos;
}

bool is_osu(std::string_view text) {
  for (const std::string_view line : lines_of(text))
    if (title_of(line) != line.npos) return true;
  return false;
}

/// The names of columns, between which are two blanks or more.
std::vector<std::string_view> names_of_columns(std::string_view line) {
  std::vector<std::string_view> names;
  for (line = trimmed(line); !line.empty();) {
    const std::size_t end = std::min({line.find("  "), line.find('\t'), line.size()});
    names.push_back(trimmed(line.substr(0, end)));
    line = trimmed(line.substr(end));
  }
  return names;
}

class OsuReader : MpiReader {
 public:
  OsuReader(std::string_view file_name, const ImportHints& hints) : MpiReader(file_name) { table_.ranks = hints.ranks; }

  ImportedOutput read(std::string_view text) {
    return read_lines(text).finish("it has no rows: did the test end before its table?", kHint);
  }

 private:
  void read_line(std::string_view line) override {
    if (const std::size_t at = title_of(line); at != line.npos) return read_title(line, at);
    if (!known_) return;
    line = unlabelled(line);
    const std::vector<std::string_view> words = words_of(line);
    if (words.empty()) return;
    constexpr std::string_view kDatatype = "Datatype:";
    if (words.size() > 2 && words[1] == kDatatype) table_.type = type_of_mpi(words[2]);
    if (words[0].starts_with('#') || words[0] == "Size") return read_head(line);
    if (finite_number(words[0])) read_row(words);
  }

  void read_title(std::string_view line, std::size_t at) {
    begin_table(line, at);
    known_ = false;
    table_.type.clear();
    const std::string_view title = trimmed(line.substr(at));
    const std::string_view before = title.substr(0, title.find(kEnd));
    const std::size_t blank = before.rfind(' ');
    const std::string_view name = before.substr(blank + 1), library = before.substr(0, blank);
    // `OSU MPI Non-blocking Allreduce` has other columns.
    if (title.find(kEnd) != title.npos && words_of(library).size() == 2)
      if (const std::optional<CollectiveKind> kind = kind_of_mpi(name)) {
        table_.kind = *kind;
        known_ = true;
      }
    if (!known_) leave_out_line(fmt::format("hbench has no collective of '{}'", title));
    table_.on_gpu = library.find('-') != library.npos;
    table_.executor = library.find("NCCL") != library.npos ? "osu-nccl" : "osu";
  }

  void read_head(std::string_view line) {
    const std::size_t size = line.find("Size");
    if (size == line.npos) return;
    const std::vector<std::string_view> names = names_of_columns(line.substr(size));
    for (std::size_t i = 1; i < names.size(); ++i) {
      const std::size_t bracket = names[i].find('(');
      if (bracket == names[i].npos || trimmed(names[i].substr(0, bracket)) != kAverage) continue;
      take_column(i, names[i].substr(bracket + 1, names[i].size() - bracket - 2));
    }
    if (column_ == 0)
      throw Error(ExitCode::usage, fmt::format("{}:{}: it has no column '{} (us)'", file_name_, line_, kAverage),
                  "times of blocking collectives are imported");
    validated_ = names.back() == "Validation";
  }

  void read_row(const std::vector<std::string_view>& words) {
    if (column_ == 0)
      throw Error(ExitCode::usage,
                  fmt::format("{}:{}: a row stands before the names of the columns", file_name_, line_),
                  "give all that the test printed");
    add_row(words, validated_ && words.back() == "Fail");
  }

  bool validated_ = false;
};

ImportedOutput parse_osu(std::string_view text, std::string_view file_name, const ImportHints& hints) {
  return OsuReader(file_name, hints).read(text);
}

}  // namespace

extern constinit const ImportFormat kOsuFormat{.name = "osu",
                                               .summary = "average latencies of osu_allreduce, osu_bcast and the like",
                                               .example = "mpirun -n 16 osu_allreduce -f > 1.txt",
                                               .recognises = is_osu,
                                               .parse = parse_osu};

}  // namespace hbench
