#include "bench/calibrate/nccl_tests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "collectives/base/error.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

using Words = std::vector<std::string_view>;

Words words_of(std::string_view line) {
  Words words;
  while (!line.empty()) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) break;
    line.remove_prefix(begin);
    const std::size_t end = std::min(line.find_first_of(" \t\r"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return words;
}

/// `0: `, ` 12:`, `[1,0]<stdout>:`: who printed the line.
std::string_view without_prefix(std::string_view line) {
  const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  std::string_view rest = line.substr(begin);
  if (rest.starts_with('[')) {
    const std::size_t end = rest.find(">:");
    return end == std::string_view::npos ? line : rest.substr(end + 2);
  }
  const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  return digits > 0 && digits < rest.size() && rest[digits] == ':' ? rest.substr(digits + 1) : line;
}

std::optional<double> number(std::string_view word) {
  double value = 0;
  const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (status != std::errc() || end != word.data() + word.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string size_text(std::int64_t bytes) { return exact_text(Bytes(static_cast<double>(bytes))); }

/// `all_reduce_perf` and so on.
constexpr std::array<std::pair<std::string_view, CollectiveKind>, 4> kTests = {
    {{"all_reduce", CollectiveKind::all_reduce},
     {"reduce_scatter", CollectiveKind::reduce_scatter},
     {"all_gather", CollectiveKind::all_gather},
     {"broadcast", CollectiveKind::broadcast}}};

/// One pass over the lines.
class Reader {
 public:
  Reader(std::string_view text, std::string_view file_name) : rest_(text), file_name_(file_name) {}

  ImportedCurve read(int ranks, int nodes) {
    for (; !rest_.empty(); ++line_) {
      const std::size_t end = std::min(rest_.find('\n'), rest_.size());
      read_line(without_prefix(rest_.substr(0, end)));
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
    }
    curve_.ranks = ranks > 0 ? ranks : static_cast<int>(devices_.size());
    curve_.nodes = nodes > 0 ? nodes : static_cast<int>(hosts_.size());
    if (curve_.ranks < 2 || curve_.nodes < 1 || curve_.nodes > curve_.ranks)
      fail("its list of devices does not say on how many GPUs of how many nodes it ran",
           "add such as --ranks 16 --nodes 2");
    curve_.algorithm = "vendor";
    curve_.collective = collective();
    ImportedCurve imported{std::move(curve_), std::move(notes_)};
    if (const std::size_t sizes = keep_sizes(imported, times_); sizes < kFewestSizes)
      fail(fmt::format("{} of its sizes can be used, and a curve needs {}", sizes, kFewestSizes),
           "measure more, such as -b 1K -e 1G -f 2");
    return imported;
  }

 private:
  [[noreturn]] void fail(const std::string& what, std::string_view hint) const {
    throw Error(ExitCode::usage, fmt::format("{}: {}", file_name_, what), std::string(hint));
  }
  [[noreturn]] void fail_here(const std::string& what, std::string_view hint) const {
    throw Error(ExitCode::usage, fmt::format("{}:{}: {}", file_name_, line_, what), std::string(hint));
  }

  void read_line(std::string_view line) {
    const Words words = words_of(line);
    if (words.empty()) return;
    if (words[0] == "#" || words[0].starts_with('#'))
      read_comment(words);
    else if (words.size() >= 11 && number(words[0]) && number(words[1]))
      read_row(words);
  }

  /// `#  Rank  0 Group  0 Pid 7100 on node-a device  0 [...] NVIDIA H100`, `# Collective test starting:
  /// all_reduce_perf`.
  void read_comment(const Words& words) {
    const auto at = [&](std::size_t i) { return i < words.size() ? words[i] : std::string_view(); };
    if (at(1) == "nThread") {
      if (begun_) fail_here("a second test begins", "give the output of one test");
      begun_ = true;
    }
    if (at(1) == "Collective" && at(3) == "starting:") test_ = at(4);
    if (at(1) != "Rank") return;
    const auto on = std::ranges::find(words, "on");
    const auto device = std::ranges::find(words, "device");
    if (on + 1 >= words.end() || device + 1 >= words.end()) return;
    devices_.insert(at(2));
    hosts_.insert(*(on + 1));
  }

  /// size count type redop [root], then time algbw busbw #wrong, out of place and in place.
  void read_row(const Words& words) {
    const auto size = number(words[0]);
    const std::size_t first = words.size() - 8;
    std::array<double, 2> times{};
    for (std::size_t way = 0; way < 2; ++way) {
      const auto time = number(words[first + 4 * way]), busbw = number(words[first + 4 * way + 2]);
      if (!time || !busbw || *time <= 0)
        fail_here(fmt::format("'{}' is not a time in microseconds", words[first + 4 * way]),
                  "a row has size, count, type, redop, root, then time, algbw, busbw and #wrong twice");
      check_data(*size, words[first + 4 * way + 3]);
      times[way] = *time * 1e-6;
      if (*size > 0) bus_factors_.push_back(*busbw * 1e3 * *time / *size);
    }
    redop_ = words[3];
    if (*size < 1) return;
    auto [known, is_new] = times_.try_emplace(static_cast<std::int64_t>(*size), times[0]);
    known->second = std::min({known->second, times[0], times[1]});
  }

  /// nccl-tests counts wrong elements, older versions print the largest error.
  void check_data(double size, std::string_view wrong) const {
    const auto count = number(wrong);
    if (count && *count >= 1)
      fail_here(fmt::format("{} elements of {} were wrong", wrong, size_text(static_cast<std::int64_t>(size))),
                "wrong data are no measurement: repair the machine, and measure again");
  }

  CollectiveKind collective() const {
    for (const auto& [name, kind] : kTests)
      if (test_.starts_with(name)) return kind;
    if (!test_.empty())
      fail(fmt::format("profiles have no curves of {}", test_), "all_reduce, reduce_scatter, all_gather or broadcast");
    if (bus_factors_.empty()) fail("it has no rows", "give the output of nccl-tests with its table");
    // The largest size has the bus bandwidth with the most digits.
    const double factor = bus_factors_.back(), share = (curve_.ranks - 1.0) / curve_.ranks;
    const auto near = [&](double expected) { return std::abs(factor / expected - 1) < 0.02; };
    if (near(2 * share)) return CollectiveKind::all_reduce;
    if (near(share)) return redop_ == "none" ? CollectiveKind::all_gather : CollectiveKind::reduce_scatter;
    if (near(1)) return CollectiveKind::broadcast;
    fail(fmt::format("its bus bandwidth is {:.3g} times its algorithm's, which no collective of {} ranks has", factor,
                     curve_.ranks),
         "are the numbers of ranks and nodes right?");
  }

  std::string_view rest_, file_name_;
  int line_ = 1;
  bool begun_ = false;
  std::string_view test_, redop_;
  std::set<std::string_view> devices_, hosts_;
  std::vector<double> bus_factors_;
  std::map<std::int64_t, double> times_;  ///< seconds, by bytes
  MeasuredCurve curve_;
  std::vector<std::string> notes_;
};

}  // namespace

bool is_nccl_tests_output(std::string_view text) {
  return text.find("# nThread") != std::string_view::npos || text.find("out-of-place") != std::string_view::npos;
}

ImportedCurve parse_nccl_tests(std::string_view text, std::string_view file_name, int ranks, int nodes) {
  return Reader(text, file_name).read(ranks, nodes);
}

}  // namespace hbench
