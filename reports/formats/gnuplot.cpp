#include "reports/formats/gnuplot.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace hbench {
namespace {

constexpr std::string_view kSvgTerminal =
    "svg size 1000,640 dynamic noenhanced font 'sans-serif,14' background '#ffffff'";
constexpr std::string_view kPngTerminal =
    "pngcairo size 1500,960 noenhanced font 'sans,16' linewidth 1.5 background '#ffffff'";
constexpr std::string_view kDashTypes[] = {"solid", "(12,6)", "(3,5)", "(14,5,3,5)"};

/// Single quotes keep backslashes, backquotes and macros as text; only the quote itself is doubled.
std::string gnuplot_quoted(std::string_view text) {
  std::string inner;
  for (char c : text) inner += c == '\'' ? "''" : std::string(1, c);
  return fmt::format("'{}'", inner);
}

int point_type(Mark mark) {
  switch (mark) {
    case Mark::measured:
      return 7;  // filled circle
    case Mark::emulated:
      return 9;  // filled triangle
    case Mark::simulated:
      return 7;
    case Mark::published:
      return 2;  // cross
    case Mark::ideal:
      break;
  }
  return 0;
}

class ChartScript {
 public:
  ChartScript(const Chart& chart, const Styles& styles) : chart_(chart), scale_(chart.y_percent ? 100 : 1) {
    for (const Series& series : chart.series)
      if (series.shown && !series.points.empty()) add(series, styles.of(chart, series));
  }

  std::string text(const ChartFiles& files) const {
    return fmt::format(
        "reset\n{}{}{}set terminal {}\nset output {}\n{}\nset terminal {}\nset output {}\nreplot\nunset output\n",
        data_, labels(), x_axis() + y_axis(), kSvgTerminal, gnuplot_quoted(files.svg), plot_command(), kPngTerminal,
        gnuplot_quoted(files.png));
  }

 private:
  double scaled(double y) const { return y * scale_; }

  void add(const Series& series, const SeriesStyle& style) {
    const std::size_t index = count_++;
    std::string points, limits;
    for (const ChartPoint& point : series.points) {
      points += fmt::format("{} {}\n", point.x, scaled(point.y));
      if (point.low || point.high)
        limits += fmt::format("{} {} {} {}\n", point.x, scaled(point.y), scaled(point.low.value_or(point.y)),
                              scaled(point.high.value_or(point.y)));
    }
    data_ += fmt::format("$p{} << END\n{}END\n", index, points);
    if (!limits.empty()) {
      data_ += fmt::format("$i{} << END\n{}END\n", index, limits);
      add_limits(index, style);
    }
    add_points(index, series, style);
  }

  void add_limits(std::size_t index, const SeriesStyle& style) {
    const auto drawn =
        style.band
            ? fmt::format("$i{} using 1:3:4 with filledcurves fs transparent solid 0.1 noborder lc rgb '{}' notitle",
                          index, style.colour.light)
            : fmt::format("$i{} using 1:2:3:4 with yerrorbars pt 0 lw 1.5 lc rgb '{}' notitle", index,
                          style.colour.light);
    (style.band ? bands_ : plots_).push_back(drawn);
  }

  void add_points(std::size_t index, const Series& series, const SeriesStyle& style) {
    const bool ideal = series.mark == Mark::ideal;
    std::string drawn = fmt::format("$p{} using 1:2 with {}", index,
                                    ideal        ? "lines"
                                    : style.line ? "linespoints"
                                                 : "points");
    if (!ideal)
      drawn += fmt::format(" pt {} ps {}", point_type(series.mark),
                           style.small                      ? 0.4
                           : series.mark == Mark::published ? 1.6
                                                            : 1.2);
    drawn += fmt::format(" lw {} dt {} lc rgb '{}' title {}", ideal ? 1 : 2, kDashTypes[style.dash], style.colour.light,
                         gnuplot_quoted(series.label));
    plots_.push_back(drawn);
  }

  std::string labels() const {
    return fmt::format(
        "set encoding utf8\nset title {} noenhanced\nset xlabel {} offset 0,0.3 noenhanced\nset ylabel {} noenhanced\n"
        "set key below vertical Left reverse samplen 3 maxrows {} noenhanced\n"
        "set border 3 lc rgb '#888888'\nset tics nomirror textcolor rgb '#333333'\n"
        "set grid lc rgb '#dddddd' lt 1 lw 0.5\nset bars 0.7\n",
        gnuplot_quoted(chart_.title), gnuplot_quoted(chart_.x_title), gnuplot_quoted(chart_.y_title),
        std::max<std::size_t>(1, (count_ + 1) / 2));
  }

  std::string x_axis() const {
    double least = INFINITY, most = -INFINITY;
    for (const Series& series : chart_.series)
      for (const ChartPoint& point : series.points) {
        least = std::min(least, point.x);
        most = std::max(most, point.x);
      }
    if (count_ == 0) return chart_.x_log2 ? "set xrange [1:128]\n" : "set xrange [0:1]\n";
    if (chart_.x_log2) return log2_axis(least, most);
    const double margin = most > least ? (most - least) * 0.02 : std::max(1.0, std::fabs(most) * 0.5);
    return fmt::format("set xrange [{}:{}]\n", least - margin, most + margin);
  }

  static std::string log2_axis(double least, double most) {
    constexpr double kMostTics = 12;
    const double first = std::ceil(std::log2(least) - 1e-9), last = std::floor(std::log2(most) + 1e-9);
    const double step = std::max(1.0, std::ceil((last - first + 1) / kMostTics));
    std::vector<std::string> tics;
    for (double power = first; power <= last; power += step) tics.push_back(fmt::format("{}", std::exp2(power)));
    if (tics.empty()) tics.push_back(fmt::format("{}", least));
    return fmt::format("set logscale x 2\nset xrange [{}:{}]\nset xtics ({})\n", least / 1.1, most * 1.1,
                       fmt::join(tics, ", "));
  }

  std::string y_axis() const {
    const auto limit = [&](std::optional<double> y) { return y ? fmt::format("{}", scaled(*y)) : "*"; };
    std::string out = count_ == 0 ? "set yrange [0:1]\n"
                                  : fmt::format("set yrange [{}:{}]\n", limit(chart_.y_min), limit(chart_.y_max));
    if (chart_.y_log10) out += "set logscale y 10\n";
    if (chart_.y_percent) out += "set format y '%g %%'\n";
    return out;
  }

  std::string plot_command() const {
    if (count_ == 0) return "set label 'no points' at graph 0.5,0.5 center\nplot NaN notitle";
    // Bands first: what is drawn later lies on top.
    std::vector<std::string> all = bands_;
    all.insert(all.end(), plots_.begin(), plots_.end());
    return fmt::format("plot {}", fmt::join(all, ", \\\n     "));
  }

  const Chart& chart_;
  double scale_;
  std::size_t count_ = 0;
  std::string data_;
  std::vector<std::string> bands_, plots_;
};

}  // namespace

std::string gnuplot_script(const Chart& chart, const Styles& styles, const ChartFiles& files) {
  return ChartScript(chart, styles).text(files);
}

}  // namespace hbench
