#include "reports/write_report.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "collectives/base/error.hpp"
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

fs::path partial(fs::path path) { return path += ".partial"; }

void move_into_place(const fs::path& path) {
  std::error_code failure;
  fs::rename(partial(path), path, failure);
  if (failure) throw cannot_write(path, failure.message());
}

void write_file(const fs::path& path, const std::string& bytes) {
  const fs::path temporary = partial(path);
  errno = 0;
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) {
    const std::string why = std::strerror(errno != 0 ? errno : EIO);
    std::error_code ignored;
    fs::remove(temporary, ignored);
    throw cannot_write(path, why);
  }
  move_into_place(path);
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
    script += gnuplot_script(*chart, styles, {.svg = partial(paths[0]).string(), .png = partial(paths[1]).string()});
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
      const bool drawn = fs::file_size(partial(path), ignored) > 0 && !ignored;
      complete = complete && drawn;
      if (code == 0 && drawn)
        move_into_place(path);
      else
        fs::remove(partial(path), ignored);
    }
  if (complete) return {};
  if (code == kNoSuchProgram) return "charts were not drawn as SVG and PNG: gnuplot is not installed";
  return fmt::format("charts were not all drawn as SVG and PNG: gnuplot ended with exit code {}", code);
}

}  // namespace

std::string write_report(const Document& document, const fs::path& folder, const ProcessRunner& runner) {
  make_folder(folder);
  for (const Format* format : formats())
    if (!format->file.empty()) write_file(folder / format->file, format->render(document));
  const Document drawn = drawable(document);
  return draw_charts(charts_of(drawn), folder / "charts", runner);
}

}  // namespace hbench
