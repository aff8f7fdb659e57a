#include "reports/write_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <iterator>
#include <set>

#include "collectives/base/error.hpp"
#include "collectives/base/file.hpp"
#include "reports/formats/formats.hpp"
#include "reports/formats/gnuplot.hpp"
#include "reports/formats/prepare.hpp"

namespace hbench {
namespace {

namespace fs = std::filesystem;

constexpr int kNoSuchProgram = 127;
constexpr const char* kCharts = "charts";

Error cannot_write(const fs::path& path, const std::string& why) {
  return Error(ExitCode::environment, fmt::format("cannot write {}: {}", path.string(), why),
               "name a folder on a disk with room that you may write to");
}

void make_folder(const fs::path& folder) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) throw cannot_write(folder, failure.message());
}

void write_or_throw(const fs::path& path, const std::string& bytes) {
  if (const std::string why = replace_file(path, bytes); !why.empty()) throw cannot_write(path, why);
}

/// The file of a report's folder that has the names of the files that reports have written there, a line each.
constexpr const char* kManifest = ".hbench-report";

std::set<std::string> written_before(const fs::path& folder) {
  std::set<std::string> names;
  std::error_code unknown;
  if (!fs::is_regular_file(folder / kManifest, unknown)) return names;  // a pipe would be waited for
  std::ifstream in(folder / kManifest);
  for (std::string name; std::getline(in, name);) names.insert(name);
  return names;
}

/// \throws Error (usage) where one of these files of a folder is there, and no report has written it.
void check_files(const fs::path& folder, const std::vector<std::string>& names) {
  const std::set<std::string> own = written_before(folder);
  for (const std::string& name : names) {
    std::error_code unknown;
    if (!own.contains(name) && fs::exists(fs::symlink_status(folder / name, unknown)))
      throw Error(ExitCode::usage,
                  fmt::format("{} is there, and no report of hbench has written it", (folder / name).string()),
                  "move it away, also where an older hbench has written it, or name another folder with --report");
  }
}

/// Remembers that these files of a folder are a report's. \throws as `check_files`.
void claim(const fs::path& folder, const std::vector<std::string>& names) {
  check_files(folder, names);
  std::set<std::string> all = written_before(folder);
  all.insert(names.begin(), names.end());
  write_or_throw(folder / kManifest, fmt::format("{}\n", fmt::join(all, "\n")));
}

std::vector<std::string> names_of_documents() {
  std::vector<std::string> names;
  for (const Format* format : formats())
    if (!format->file.empty()) names.emplace_back(format->file);
  return names;
}

/// The files of one chart in a folder, SVG first.
std::vector<fs::path> chart_paths(const fs::path& folder, const Chart& chart) {
  return {folder / (chart.id + ".svg"), folder / (chart.id + ".png")};
}

std::string script_of_all(const std::vector<const Chart*>& charts, const fs::path& folder) {
  const Styles styles(charts);
  std::string script;
  for (const Chart* chart : charts) {
    const auto paths = chart_paths(folder, *chart);
    script += gnuplot_script(*chart, styles, {.svg = paths[0].string(), .png = paths[1].string()});
  }
  return script;
}

/// The picture in a file; empty where there is none.
std::string picture_in(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Draws all charts with one gnuplot, elsewhere first. No picture of an earlier report stays for one that is not drawn.
/// \returns a warning, or nothing.
std::string draw_charts(const std::vector<const Chart*>& charts, const fs::path& report, const ProcessRunner& runner) {
  if (charts.empty()) return {};
  const fs::path folder = report / kCharts;
  make_folder(folder);
  const ScratchFolder scratch;
  // -d: no start-up file of the user's may change what we draw.
  const int code = runner({"gnuplot", "-d", "-"}, script_of_all(charts, scratch.path()));
  bool complete = code == 0;
  for (const Chart* chart : charts)
    for (const fs::path& drawn : chart_paths(scratch.path(), *chart)) {
      const std::string picture = picture_in(drawn);
      complete = complete && !picture.empty();
      std::error_code ignored;
      if (code != 0 || picture.empty())
        fs::remove(folder / drawn.filename(), ignored);  // an earlier report's
      else
        write_or_throw(folder / drawn.filename(), picture);
    }
  if (complete) return {};
  if (code == kNoSuchProgram) return "charts were not drawn as SVG and PNG: gnuplot is not installed";
  if (code == 0)
    return fmt::format(
        "charts were not all drawn as SVG and PNG: gnuplot could not write them into {}: is it full? "
        "TMPDIR names another folder",
        temporary_base().string());
  return fmt::format("charts were not all drawn as SVG and PNG: gnuplot ended with exit code {}", code);
}

}  // namespace

void check_report_files(const fs::path& folder) { check_files(folder, names_of_documents()); }

std::string write_report(const Document& document, const fs::path& folder, const ProcessRunner& runner) {
  const Document drawn = thinned(drawable(document));
  std::vector<std::string> names = names_of_documents();
  for (const Chart* chart : charts_of(drawn))
    for (const fs::path& path : chart_paths(kCharts, *chart)) names.push_back(path.string());
  make_folder(folder);
  claim(folder, names);
  for (const Format* format : formats())
    if (!format->file.empty()) write_or_throw(folder / format->file, format->render(document));
  return draw_charts(charts_of(drawn), folder, runner);
}

}  // namespace hbench
