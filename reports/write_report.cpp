#include "reports/write_report.hpp"

#include <fmt/format.h>

#include "collectives/base/error.hpp"
#include "collectives/base/file.hpp"
#include "reports/formats/formats.hpp"
#include "reports/formats/gnuplot.hpp"
#include "reports/formats/prepare.hpp"

namespace hbench {
namespace {

namespace fs = std::filesystem;

constexpr int kNoSuchProgram = 127;

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

void move_into_place(const fs::path& path) {
  std::error_code failure;
  fs::rename(partial_file(path), path, failure);
  if (failure) throw cannot_write(path, failure.message());
}

/// The files of one chart, SVG first.
std::vector<fs::path> chart_paths(const fs::path& folder, const Chart& chart) {
  return {folder / (chart.id + ".svg"), folder / (chart.id + ".png")};
}

std::string script_of_all(const std::vector<const Chart*>& charts, const fs::path& folder) {
  const Styles styles(charts);
  std::string script;
  for (const Chart* chart : charts) {
    const auto paths = chart_paths(folder, *chart);
    script += gnuplot_script(*chart, styles,
                             {.svg = partial_file(paths[0]).string(), .png = partial_file(paths[1]).string()});
  }
  return script;
}

/// Draws all charts with one gnuplot. \returns a warning, or nothing.
std::string draw_charts(const std::vector<const Chart*>& charts, const fs::path& folder, const ProcessRunner& runner) {
  if (charts.empty()) return {};
  make_folder(folder);
  // -d: no start-up file of the user's may change what we draw.
  const int code = runner({"gnuplot", "-d", "-"}, script_of_all(charts, folder));
  bool complete = code == 0;
  for (const Chart* chart : charts)
    for (const fs::path& path : chart_paths(folder, *chart)) {
      std::error_code ignored;
      const bool drawn = fs::file_size(partial_file(path), ignored) > 0 && !ignored;
      complete = complete && drawn;
      if (code == 0 && drawn)
        move_into_place(path);
      else
        fs::remove(partial_file(path), ignored);
    }
  if (complete) return {};
  if (code == kNoSuchProgram) return "charts were not drawn as SVG and PNG: gnuplot is not installed";
  return fmt::format("charts were not all drawn as SVG and PNG: gnuplot ended with exit code {}", code);
}

}  // namespace

std::string write_report(const Document& document, const fs::path& folder, const ProcessRunner& runner) {
  make_folder(folder);
  for (const Format* format : formats())
    if (!format->file.empty()) write_or_throw(folder / format->file, format->render(document));
  const Document drawn = drawable(document);
  return draw_charts(charts_of(drawn), folder / "charts", runner);
}

}  // namespace hbench
