#include "reports/formats/gnuplot.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <array>

#include <algorithm>
#include <cmath>

#include "reports/formats/prepare.hpp"

namespace hbench {
namespace {

constexpr std::string_view kSvgTerminal =
    "svg size 1000,640 dynamic noenhanced font 'sans-serif,14' background '#ffffff'";
constexpr std::string_view kPngTerminal =
    "pngcairo size 1500,960 noenhanced font 'sans,16' linewidth 1.5 background '#ffffff'";
constexpr std::string_view kDashTypes[] = {"solid", "(12,6)", "(3,5)", "(14,5,3,5)"};

/// Single quotes keep backslashes, backquotes and macros as text; only the quote itself is doubled. A line break would
/// end the text all the same, and what follows would be a command.
std::string gnuplot_quoted(std::string_view text) {
  std::string inner;
  for (const char c : text) inner += c == '\'' ? "''" : std::string(1, static_cast<unsigned char>(c) < ' ' ? '?' : c);
  return fmt::format("'{}'", inner);
}

int point_type(Mark mark) {
  constexpr int kCircle = 7, kTriangle = 9, kCross = 2;  // filled, but the cross
  return std::array{kCircle, kTriangle, kCircle, kCross, 0}.at(static_cast<std::size_t>(mark));
}

/// The families of the series that are shown, in their order; of a chart without panels one that stands for all.
std::vector<std::string> panels_of(const Chart& chart) {
  std::vector<std::string> families;
  for (const Series& series : chart.series)
    if (chart.panels && series.shown && !series.family.empty() && !series.points.empty() &&
        std::ranges::find(families, series.family) == families.end())
      families.push_back(series.family);
  return families.empty() ? std::vector<std::string>{""} : families;
}

class ChartScript {
 public:
  ChartScript(const Chart& chart, const Styles& styles) : chart_(chart), scale_(chart.y_percent ? 100 : 1) {
    for (const std::string& panel : panels_of(chart)) {
      plots_.emplace_back();
      for (const Series& series : chart.series)
        if (series.shown && !series.points.empty() &&
            (panel.empty() || series.family.empty() || series.family == panel))
          add(series, styles.of(chart, series));
      plots_.back().title = panel;
    }
  }

  std::string text(const ChartFiles& files) const {
    return data_ + picture(kSvgTerminal, files.svg) + picture(kPngTerminal, files.png);
  }

 private:
  struct Plot {
    std::string title;
    std::string band{};  ///< drawn first: what is drawn later lies on top
    std::vector<std::string> others{};
    std::string labels{};
  };

  std::string picture(std::string_view terminal, std::string_view file) const {
    return fmt::format("reset\n{}{}{}set terminal {}\nset output {}\n{}unset output\n", titles(), x_axis(), y_axis(),
                       terminal, gnuplot_quoted(file), plot_commands());
  }

  double scaled(double y) const { return y * scale_; }

  void add(const Series& series, const SeriesStyle& style) {
    const std::size_t index = count_++;
    std::string points, limits, texts;
    for (const ChartPoint& point : series.points) {
      points += fmt::format("{} {}\n", point.x, scaled(point.y));
      if (point.low || point.high)
        limits += fmt::format("{} {} {} {}\n", point.x, scaled(point.y), scaled(point.low.value_or(point.y)),
                              scaled(point.high.value_or(point.y)));
      if (!point.label.empty()) texts += label_of(point, point.label, false);
    }
    if (chart_.end_labels && style.line)
      texts += label_of(*std::ranges::max_element(series.points, {}, &ChartPoint::x), series.label, true);
    data_ += fmt::format("$p{} << END\n{}END\n", index, points);
    if (!limits.empty()) {
      data_ += fmt::format("$i{} << END\n{}END\n", index, limits);
      add_limits(index, style);
    }
    add_points(index, series, style);
    plots_.back().labels += texts;
  }

  std::string label_of(const ChartPoint& point, std::string_view text, bool end) const {
    return fmt::format("set label {} at first {}, first {} {} font ',11' noenhanced\n", gnuplot_quoted(text), point.x,
                       scaled(point.y),
                       end                     ? "left offset 0.8,0"
                       : is_far_right(point.x) ? "right offset -0.5,0.5"
                                               : "left offset 0.5,0.5");
  }

  /// Whether there may be no room for words between here and the picture's edge.
  bool is_far_right(double x) const {
    constexpr double kFar = 0.85;
    const auto [least, most] = x_range();
    const auto place = [&](double at) { return chart_.x_log2 ? std::log2(at) : at; };
    return most > least && place(x) > place(least) + kFar * (place(most) - place(least));
  }

  void add_limits(std::size_t index, const SeriesStyle& style) {
    const auto drawn =
        style.band
            ? fmt::format("$i{} using 1:3:4 with filledcurves fs transparent solid 0.1 noborder lc rgb '{}' notitle",
                          index, style.colour.light)
            : fmt::format("$i{} using 1:2:3:4 with yerrorbars pt 0 lw 1.5 lc rgb '{}' notitle", index,
                          style.colour.light);
    // Several bands on top of each other show nothing.
    if (!style.band) plots_.back().others.push_back(drawn);
    if (style.band && plots_.back().band.empty()) plots_.back().band = drawn;
  }

  void add_points(std::size_t index, const Series& series, const SeriesStyle& style) {
    const bool ideal = series.mark == Mark::ideal;
    std::string look = fmt::format("with {}", ideal ? "lines" : style.line ? "linespoints" : "points");
    if (!ideal)
      look += fmt::format(" pt {} ps {}", point_type(series.mark),
                          style.small                      ? 0.4
                          : series.mark == Mark::published ? 1.6
                                                           : 1.2);
    look += fmt::format(" lw {} dt {} lc rgb '{}'", ideal ? 1 : 2, kDashTypes[style.dash], style.colour.light);
    const std::string name =
        chart_.panels && !ideal ? fmt::format("{} ({})", series.group, to_string(series.mark)) : series.label;
    const bool labelled = chart_.end_labels && style.line;
    plots_.back().others.push_back(fmt::format(
        "$p{} using 1:2 {} {}", index, look, chart_.panels || labelled ? "notitle" : "title " + gnuplot_quoted(name)));
    const std::string key = fmt::format("2 {} title {}", look, gnuplot_quoted(name));
    if (std::ranges::find(keys_, key) == keys_.end()) keys_.push_back(key);
  }

  std::string titles() const {
    return fmt::format(
        "set encoding utf8\nset title {} noenhanced\nset xlabel {} offset 0,0.3 noenhanced\nset ylabel {} noenhanced\n"
        "set key below vertical Left reverse samplen 3 maxrows {} noenhanced\n"
        "set border 3 lc rgb '#888888'\nset tics nomirror textcolor rgb '#333333'\n"
        "set grid lc rgb '#dddddd' lt 1 lw 0.5\nset bars 0.7\n{}",
        gnuplot_quoted(chart_.title), gnuplot_quoted(chart_.x_title), gnuplot_quoted(chart_.y_title),
        std::max<std::size_t>(1, (count_ + 1) / 2), chart_.end_labels ? "set rmargin 26\n" : "");
  }

  std::string reference_lines() const {
    std::string out;
    for (const ReferenceLine& line : chart_.lines) {
      const double at = line.vertical ? line.at : scaled(line.at);
      const std::string from =
          line.vertical ? fmt::format("first {}, graph 0", at) : fmt::format("graph 0, first {}", at);
      const std::string to =
          line.vertical ? fmt::format("first {}, graph 1", at) : fmt::format("graph 1, first {}", at);
      out += fmt::format("set arrow from {} to {} nohead dt (4,4) lc rgb '#555555'\n", from, to);
      out += fmt::format("set label {} at {} left offset 0.5,{} font ',11' textcolor rgb '#555555' noenhanced\n",
                         gnuplot_quoted(line.label), line.vertical ? to : from, line.vertical ? "-0.6" : "0.5");
    }
    return out;
  }

  /// Of points and vertical lines.
  std::pair<double, double> x_range() const {
    double least = INFINITY, most = -INFINITY;
    const auto reach = [&](double x) {
      least = std::min(least, x);
      most = std::max(most, x);
    };
    for (const Series& series : chart_.series)
      for (const ChartPoint& point : series.points) reach(point.x);
    for (const ReferenceLine& line : chart_.lines)
      if (line.vertical && (!chart_.x_log2 || line.at > 0)) reach(line.at);
    return {least, most};
  }

  std::string x_axis() const {
    if (count_ == 0) return chart_.x_log2 ? "set xrange [1:128]\n" : "set xrange [0:1]\n";
    const auto [least, most] = x_range();
    if (chart_.x_log2) return log2_axis(least, most);
    const double margin = most > least ? (most - least) * 0.02 : std::max(1.0, std::fabs(most) * 0.5);
    return fmt::format(
        "{}set xrange [{}:{}]\n",
        chart_.x_dates ? "set xdata time\nset timefmt '%s'\nset format x '%Y-%m-%d'\nset xtics rotate by -30\n" : "",
        least - margin, most + margin);
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

  std::string plot_commands() const {
    if (count_ == 0) return "set label 'no points' at graph 0.5,0.5 center\nplot NaN notitle\n";
    if (!chart_.panels) return plot_command(plots_.front());
    // A cell of the grid has the key of all panels.
    const auto columns = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(plots_.size() + 1))));
    std::string out = fmt::format("set multiplot layout {},{} title {} noenhanced\nset key off\n",
                                  (plots_.size() + columns) / columns, columns, gnuplot_quoted(chart_.title));
    for (const Plot& plot : plots_)
      out += fmt::format("unset label\nunset arrow\nset title {} noenhanced\n{}", gnuplot_quoted(plot.title),
                         plot_command(plot));
    return out + fmt::format(
                     "set key on inside center center vertical\nset xdata\nunset logscale\nset xrange [0:1]\n"
                     "set yrange [0:1]\nunset title\nunset border\nunset tics\nunset label\nunset arrow\n"
                     "set xlabel ' '\nset ylabel ' '\nplot {}\nunset multiplot\n",
                     fmt::join(keys_, ", \\\n     "));
  }

  std::string plot_command(const Plot& plot) const {
    std::vector<std::string> all = plot.others;
    if (!plot.band.empty()) all.insert(all.begin(), plot.band);
    return fmt::format("{}{}plot {}\n", reference_lines(), plot.labels, fmt::join(all, ", \\\n     "));
  }

  const Chart& chart_;
  double scale_;
  std::size_t count_ = 0;
  std::string data_;
  std::vector<Plot> plots_;
  std::vector<std::string> keys_;  ///< of all panels
};

}  // namespace

std::string gnuplot_script(const Chart& chart, const Styles& styles, const ChartFiles& files) {
  return ChartScript(chart, styles).text(files);
}

}  // namespace hbench
