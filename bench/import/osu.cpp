#include <fmt/format.h>

#include <array>

#include "analysis/collectives.hpp"
#include "bench/import/cases.hpp"
#include "bench/import/collective_case.hpp"
#include "bench/import/format.hpp"
#include "bench/import/words.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

/// Tables of the OSU micro-benchmarks' blocking collectives (mvapich.cse.ohio-state.edu/benchmarks): a title, the names
/// of the columns, and a row for each size. `Avg Latency(us)` is the mean over ranks and iterations, with and without
/// `-f`; nothing else is taken, so that outputs of both kinds compare. Ranks and machine are not in it.

namespace hbench {
namespace {

/// The name in the title of a test, before ` Latency Test`.
constexpr std::array<std::pair<std::string_view, CollectiveKind>, 4> kTests = {
    {{"Allreduce", CollectiveKind::all_reduce},
     {"Reduce_scatter", CollectiveKind::reduce_scatter},
     {"Allgather", CollectiveKind::all_gather},
     {"Broadcast", CollectiveKind::broadcast}}};

/// Times a million ranks a number of bytes still.
constexpr double kMostBytes = 1e12;
constexpr std::string_view kAverage = "Avg Latency(us)", kEnd = " Latency Test";

/// MPI's types by hbench's names; others stay as they are.
std::string_view type_of(std::string_view mpi) {
  if (mpi.ends_with('.')) mpi.remove_suffix(1);
  if (mpi == "MPI_FLOAT") return "float32";
  if (mpi == "MPI_DOUBLE") return "float64";
  if (mpi == "MPI_INT") return "int32";
  return mpi;
}

/// `# OSU MPI-CUDA Allreduce Latency Test v7.5`. Older versions print it without `#`.
std::size_t title_of(std::string_view line) {
  const std::size_t at = line.find("OSU ");
  return at != line.npos && at <= 2 && line.find(" Test") != line.npos ? at : line.npos;
}

bool recognises(std::string_view text) {
  for (std::size_t at = text.find("OSU "); at != text.npos; at = text.find("OSU ", at + 1)) {
    const std::string_view line = text.substr(at, text.find('\n', at) - at);
    if (line.find(" Test") != line.npos) return true;
  }
  return false;
}

class Reader {
 public:
  explicit Reader(std::string_view file_name) : file_name_(file_name) {}

  ImportedOutput read(std::string_view text) {
    for (const std::string_view line : printed_lines(text)) {
      ++line_;
      read_line(line);
    }
    if (!kind_)
      throw Error(ExitCode::usage, fmt::format("{}: no line is the title of an OSU test", file_name_),
                  "give all that the test printed");
    if (cases_.empty())
      throw Error(ExitCode::usage, fmt::format("{}: it has no rows", file_name_), "did the test end before its table?");
    ImportedOutput output{.cases = cases_.take()};
    output.bytes_of_one_rank = *kind_ == CollectiveKind::all_gather;
    return output;
  }

 private:
  [[noreturn]] void fail_here(const std::string& what, std::string_view hint) const {
    throw Error(ExitCode::usage, fmt::format("{}:{}: {}", file_name_, line_, what), std::string(hint));
  }

  void read_line(std::string_view line) {
    if (const std::size_t at = title_of(line); at != line.npos) return read_title(line.substr(at));
    if (!kind_) return;
    const std::vector<std::string_view> words = words_of(line);
    if (words.empty()) return;
    constexpr std::string_view kDatatype = "Datatype:";
    if (words.size() > 2 && words[1] == kDatatype) type_ = type_of(words[2]);
    if (words[0].starts_with('#') || words[0] == "Size") return read_head(line);
    if (finite_number(words[0])) read_row(words);
  }

  void read_title(std::string_view title) {
    if (kind_) fail_here("a second test begins", "give each test a file of its own");
    const std::string_view before = title.substr(0, title.find(kEnd));
    const std::size_t blank = before.rfind(' ');
    const std::string_view name = before.substr(blank + 1), library = before.substr(0, blank);
    for (const auto& [known, kind] : kTests)
      if (name == known) kind_ = kind;
    // `OSU MPI Non-blocking Allreduce` has other columns.
    if (!kind_ || title.find(kEnd) == title.npos || words_of(library).size() != 2)
      fail_here(fmt::format("hbench knows no '{}'", title),
                "osu_allreduce, osu_reduce_scatter, osu_allgather or osu_bcast");
    on_gpu_ = library.find('-') != library.npos;
    executor_ = library.find("NCCL") != library.npos ? "osu-nccl" : "osu";
  }

  void read_head(std::string_view line) {
    if (line.find("Size") == line.npos) return;
    if (line.find(kAverage) == line.npos)
      fail_here(fmt::format("it has no column '{}'", kAverage), "times of blocking collectives are imported");
    validated_ = line.find("Validation") != line.npos;
    head_ = true;
  }

  void read_row(const std::vector<std::string_view>& words) {
    const auto bytes = finite_number(words[0]);
    const auto time = words.size() > 1 ? finite_number(words[1]) : std::nullopt;
    if (!head_) fail_here("a row stands before the names of the columns", "give all that the test printed");
    if (!time || *time * 1e-6 <= 0 || *bytes < 0 || *bytes > kMostBytes)
      fail_here(fmt::format("'{}' is not a time in microseconds", words.size() > 1 ? words[1] : ""),
                "a row has the size in bytes and the average latency first");
    Case asked =
        collective_case(executor_, *kind_, static_cast<std::int64_t>(*bytes), type_, reduces(*kind_) ? "sum" : "");
    asked.gpus = 0;
    if (on_gpu_) asked.training.device = kGpuDevice;
    if (validated_ && words.back() == "Fail")
      return cases_.fail(asked, fmt::format("{}:{}: its validation failed", file_name_, line_),
                         static_cast<int>(ExitCode::wrong_data));
    // A broadcast has one buffer; the others get their result in another.
    const std::string_view metric = *kind_ == CollectiveKind::broadcast ? metric::kInPlace : metric::kOutOfPlace;
    cases_.add(asked, metric, std::array{*time * 1e-6}, "s");
  }

  std::string_view file_name_;
  int line_ = 0;
  std::optional<CollectiveKind> kind_;
  bool on_gpu_ = false, head_ = false, validated_ = false;
  std::string_view executor_, type_;
  ImportedCases cases_;
};

ImportedOutput parse(std::string_view text, std::string_view file_name) { return Reader(file_name).read(text); }

}  // namespace

extern const ImportFormat kOsuFormat;
constinit const ImportFormat kOsuFormat{.name = "osu",
                                        .summary = "average latencies of osu_allreduce, osu_bcast and the like",
                                        .example = "mpirun -n 16 osu_allreduce -f > 1.txt",
                                        .recognises = recognises,
                                        .parse = parse};

}  // namespace hbench
