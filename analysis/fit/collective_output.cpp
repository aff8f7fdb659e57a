#include "analysis/fit/imported_curve.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "analysis/import/collective_output.hpp"
#include "analysis/prediction/recorded_gpu.hpp"
#include "collectives/algorithms/algorithm.hpp"
#include "collectives/base/error.hpp"

namespace hbench {
namespace {

class Reader {
 public:
  Reader(std::string_view file_name, int ranks, int nodes) : file_name_(file_name), ranks_(ranks), nodes_(nodes) {}

  ImportedCurve read(const CollectiveOutput& output) {
    for (const CollectiveOutputRow& row : output.rows)
      if (!row.peer && (ranks_ == 0 || row.result.asked.gpus == ranks_)) add(row);
    if (times_.empty()) fail("it has no rows of ours", "hbench collective --algorithm ring --json");
    MeasuredCurve& curve = imported_.curve;
    curve.algorithm = only(algorithms_, "algorithms", "--algorithm with one");
    curve.collective = parse_collective_kind(only(collectives_, "collectives", "--collective with one"));
    curve.ranks = std::stoi(only(counts_, "numbers of ranks", "--ranks with one"));
    curve.nodes = nodes_ > 0 ? nodes_ : std::stoi(only(places_, "numbers of nodes", "--nodes"));
    if (curve.ranks < 2 || curve.nodes > curve.ranks) fail("one rank measures no network", "");
    if (const std::size_t sizes = keep_sizes(imported_, times_); sizes < kFewestSizes)
      fail(fmt::format("{} of its sizes can be used, and a curve needs {}", sizes, kFewestSizes),
           "measure more, such as -b 1K -e 1G -f 2");
    return std::move(imported_);
  }

 private:
  void add(const CollectiveOutputRow& row) {
    const Case& asked = row.result.asked;
    const std::int64_t bytes = asked.collective.bytes;
    if (asked.evidence != Evidence::measured)
      fail(fmt::format("its {} B are {}, and only what was measured tells of a cluster", bytes,
                       to_string(asked.evidence)),
           "");
    if (row.result.status != CaseStatus::done || row.in_place_wrong != 0 || !row.in_place_seconds)
      fail(fmt::format("its {} B have failed, were wrong, or were not checked", bytes), "measure them again");
    if (asked.strategy.compresses() || asked.strategy.servers > 0)
      fail("profiles have no curves of compressors and parameter servers", "measure without them");
    algorithms_.insert(asked.strategy.algorithm);
    collectives_.insert(asked.collective.name);
    counts_.insert(std::to_string(asked.gpus));
    places_.insert(std::to_string(std::max(asked.nodes, 1)));
    times_[bytes] = *row.in_place_seconds;
  }

  std::string only(const std::set<std::string>& all, std::string_view what, std::string_view cure) const {
    if (all.size() > 1)
      fail(fmt::format("it has several {}: {}", what, fmt::join(all, ", ")), fmt::format("add {}", cure));
    return *all.begin();
  }

  [[noreturn]] void fail(std::string_view message, std::string_view hint) const {
    throw Error(ExitCode::usage, fmt::format("{}: {}", file_name_, message), std::string(hint));
  }

  std::string_view file_name_;
  int ranks_, nodes_;
  ImportedCurve imported_;
  std::map<std::int64_t, double> times_;
  std::set<std::string> algorithms_, collectives_, counts_, places_;
};

}  // namespace

ImportedCurve parse_collective_output(std::string_view text, std::string_view file_name, int ranks, int nodes) {
  return Reader(file_name, ranks, nodes).read(read_collective_output(text, file_name));
}

std::optional<ImportedCurve> read_curve(const std::string& text, const std::string& file, const ImportHints& hints) {
  std::optional<ImportedCurve> imported;
  std::string by = "hbench collective";
  if (is_collective_output(text)) {
    imported = parse_collective_output(text, file, hints.ranks, hints.nodes);
  } else if (const ImportFormat* format = recognised(text, file)) {
    imported = curve_of(format->parse(text, file, hints), file, hints);
    by = format->name;
  }
  if (imported) imported->curve.source = fmt::format("{}, {}", by, std::filesystem::path(file).filename().string());
  return imported;
}

void note_other_gpu(ImportedCurve& imported, const Profile& profile) {
  if (imported.gpu.empty() || profile.gpu.empty() || is_gpu_of_catalogue(imported.gpu, profile.gpu)) return;
  imported.notes.push_back(fmt::format(
      "Warning: {} was measured on {}, and {} has {}: its rates inside nodes and its workloads are of another GPU.",
      imported.curve.source, imported.gpu, profile.name, profile.gpu));
}

}  // namespace hbench
