#include "bench/output/document_output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>

#include "bench/command/common_options.hpp"
#include "bench/command/program.hpp"
#include "bench/launch/process.hpp"
#include "bench/output/console.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/file.hpp"
#include "collectives/base/table.hpp"
#include "collectives/base/text.hpp"
#include "reports/formats/gnuplot.hpp"
#include "reports/formats/prepare.hpp"
#include "reports/short_form.hpp"

namespace hbench {
namespace {

constexpr std::string_view kPicture = ".svg", kJson = ".json";

/// By how the file's name ends.
const Format& format_of(const std::filesystem::path& file, bool toml) {
  const std::string extension = file.extension().string();
  if (extension.empty()) return kHtmlFormat;
  std::vector<std::string_view> known;
  for (const Format* format : formats()) {
    if (format->extension == extension) return *format;
    known.push_back(format->extension);
  }
  throw Error(
      ExitCode::usage, fmt::format("--out {}: no format is written into files '*{}'", file.string(), extension),
      fmt::format("end its name with {}{}, {} or {}", toml ? ".toml, " : "", fmt::join(known, ", "), kJson, kPicture));
}

/// gnuplot draws to its standard output: it writes no file, and knows no name that somebody has given.
std::string drawn(const Document& given, const std::filesystem::path& file) {
  const Document document = drawable(given);
  const std::vector<const Chart*> charts = charts_of(document);
  if (charts.empty()) throw Error(ExitCode::usage, "there is no chart to draw", "write a page: --out FILE.html");
  std::string picture;
  const int code =
      run_process({.argv = {"gnuplot", "-d", "-"},
                   .on_line = [&](std::string_view line) { picture.append(line) += '\n'; },
                   .input = gnuplot_script(*charts.front(), Styles(charts), {.svg = "/dev/stdout", .png = "/dev/null"}),
                   .output_timeout = Seconds(120)})
          .code;
  if (code == 0) return picture;
  throw Error(ExitCode::environment,
              fmt::format("{} was not drawn: gnuplot ended with exit code {}", file.string(), code),
              "install gnuplot, or write a page: --out FILE.html");
}

/// Text and Markdown point at pictures in files beside a report, and here there are none: the figures stay, in Markdown
/// folded away, and a terminal says how to have them drawn.
Document without_pictures(const Document& document, bool terminal) {
  Document plain{.title = document.title};
  std::vector<std::string> titles;
  const auto replace = [&](const Chart& chart) {
    titles.push_back(chart.title);
    if (terminal) return;
    Table figures = chart_table(chart);
    figures.folded = true;
    plain.blocks.emplace_back(std::move(figures));
  };
  for (const Block& block : document.blocks) {
    if (const auto* chart = std::get_if<Chart>(&block))
      replace(*chart);
    else if (const auto* group = std::get_if<ChartGroup>(&block))
      std::ranges::for_each(group->charts, replace);
    else
      plain.blocks.push_back(block);
  }
  if (terminal && !titles.empty())
    plain.blocks.emplace_back(Paragraph{fmt::format("With --out FILE.html also drawn: {}.", fmt::join(titles, "; "))});
  return plain;
}

/// HTML draws charts itself, and CSV has their figures.
std::string rendered(const Document& document, const Format& format, std::size_t most_markdown_bytes) {
  if (&format == &kHtmlFormat || &format == &kCsvFormat) return format.render(document);
  const Document plain = without_pictures(document, &format == &kTextFormat);
  return &format == &kMarkdownFormat ? render_fitting(most_markdown_bytes, plain, format) : format.render(plain);
}

[[noreturn]] void fail(const std::filesystem::path& file, std::string_view flag, std::string_view why) {
  throw Error(ExitCode::environment, fmt::format("cannot write {}: {}", file.string(), why),
              fmt::format("choose another file with {} FILE", flag));
}

}  // namespace

void DocumentOutput::add_options(Arguments& app, const char* out, std::string product) {
  product_ = std::move(product);
  const std::string tools =
      takes_tools_ ? fmt::format("; for other tools {}", fmt::join(names_of(tool_formats()), ", ")) : "";
  Option* format = add_format(app, format_name_, "print html, markdown, csv, text or json" + tools);
  add_out(app, file_,
          (product_.empty() ? "" : "FILE.toml: " + product_ + "; ") +
              "write it there instead: FILE.html, .md, .csv, .txt, .json, or .svg (its first chart); -: print it",
          out);
  Option* wide = add_wide(app, wide_)->excludes(format);
  add_json(app, json_)->excludes(format)->excludes(wide);
}

void DocumentOutput::check() {
  if (file_ == "-") file_.clear();
  if (file_.empty()) {
    json_ = json_ || format_name_ == "json" || tool() != nullptr;
    if (json_ || format_name_.empty()) return;
    std::vector<std::string_view> known = names_of(formats());
    known.push_back("json");
    if (takes_tools_) std::ranges::copy(names_of(tool_formats()), std::back_inserter(known));
    if (std::ranges::find(known, format_name_) == known.end()) throw unknown_name("format", format_name_, known);
    format_ = &find_format(format_name_);
    return;
  }
  if (json_ || wide_ || !format_name_.empty())
    throw Error(ExitCode::usage, fmt::format("--out {}: the end of its name says in which format", file_.string()),
                "leave out --format, --json and --wide, or --out");
  check_writable(file_, "--out");
  json_ = file_.extension() == kJson;
  if (!json_ && file_.extension() != kPicture) format_ = &format_of(file_, !product_.empty());
}

void DocumentOutput::deliver(const Document& document, const std::function<std::string()>& json,
                             const std::function<std::string()>& csv) const {
  const std::string text = json_                           ? json()
                           : format_ == &kCsvFormat && csv ? csv()
                           : format_ != nullptr            ? rendered(document, *format_, most_markdown_bytes_)
                           : !file_.empty()                ? drawn(document, file_)
                                                           : terminal_text(without_pictures(document, true), wide_);
  if (file_.empty()) {
    fmt::print("{}", text);
    return;
  }
  try {
    write_whole(file_, text, "--out");
  } catch (const Error&) {
    fmt::print("{}", terminal_text(without_pictures(document, true), wide_));
    throw;
  }
  fmt::print("{}\n", file_.string());
}

std::string tool_output(const ToolFormat& format, const std::vector<ToolFigure>& figures) {
  if (figures.empty()) inform("hbench: no case of these was timed, and predictions are no benchmarks\n");
  if (const auto left_out = std::ranges::count(figures, false, format.takes); left_out > 0)
    inform("hbench: {} left out, for which {} has no place; bencher takes all\n", counted(left_out, "case"),
           format.name);
  return tool_text(format, figures);
}

void check_writable(const std::filesystem::path& file, std::string_view flag) {
  std::error_code unknown;
  if (std::filesystem::is_regular_file(file, unknown) && first_line(file).starts_with("SQLite format 3"))
    throw Error(ExitCode::usage, fmt::format("{} {} would replace a database of results", flag, file.string()),
                fmt::format("name another file with {}", flag));
  if (const std::string why = why_not_replaceable(file); !why.empty()) fail(file, flag, why);
}

void write_whole(const std::filesystem::path& file, const std::string& text, std::string_view flag) {
  if (const std::string why = replace_file(file, text); !why.empty()) fail(file, flag, why);
}

FolderTrial try_folder(const std::filesystem::path& folder) {
  std::error_code status, ignored;
  FolderTrial trial{.made = std::filesystem::create_directories(folder, status)};
  const std::filesystem::path probe = folder / ".hbench-probe";
  trial.why_not = status ? status.message() : write_file(probe, "probe");
  std::filesystem::remove(probe, ignored);
  return trial;
}

std::string now_utc() {
  const std::time_t now = std::time(nullptr);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  return text;
}

}  // namespace hbench
