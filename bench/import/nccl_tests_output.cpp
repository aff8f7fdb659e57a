#include "bench/import/nccl_tests_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/import/words.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

using Words = std::vector<std::string_view>;

/// `all_reduce_perf` and so on.
constexpr std::array<std::pair<std::string_view, CollectiveKind>, 4> kTests = {
    {{"all_reduce", CollectiveKind::all_reduce},
     {"reduce_scatter", CollectiveKind::reduce_scatter},
     {"all_gather", CollectiveKind::all_gather},
     {"broadcast", CollectiveKind::broadcast}}};

/// One pass over the lines.
class Reader {
 public:
  Reader(std::string_view text, std::string_view file_name) : text_(text), file_name_(file_name) {}

  NcclTestsOutput read() {
    for (const std::string_view line : printed_lines(text_)) {
      ++line_;
      read_line(line);
    }
    // A list with gaps was cut off, and of several groups each is a world of its own.
    if (last_rank_ + 1 == static_cast<double>(devices_.size()) && groups_.size() <= 1) {
      output_.ranks = static_cast<int>(devices_.size());
      output_.nodes = static_cast<int>(hosts_.size());
    }
    return std::move(output_);
  }

 private:
  std::string where() const { return fmt::format("{}:{}", file_name_, line_); }
  [[noreturn]] void fail_here(const std::string& what, std::string_view hint) const {
    throw Error(ExitCode::usage, fmt::format("{}: {}", where(), what), std::string(hint));
  }

  void read_line(std::string_view line) {
    const Words words = words_of(line);
    if (words.empty()) return;
    if (words[0].starts_with('#'))
      read_comment(line, words);
    else if (words.size() >= 11 && finite_number(words[0]) && finite_number(words[1]))
      read_row(words);
  }

  /// `#  Rank  0 Group  0 Pid 7100 on node-a device  0 [...] NVIDIA H100`, `# Collective test starting:
  /// all_reduce_perf`.
  void read_comment(std::string_view line, const Words& words) {
    const auto at = [&](std::size_t i) { return i < words.size() ? words[i] : std::string_view(); };
    if (at(1) == "nThread") {
      if (begun_) fail_here("a second test begins", "give the output of one test");
      begun_ = true;
    }
    if (at(1) == "Collective" && at(3) == "starting:") output_.test = at(4);
    constexpr std::string_view kLibrary = "nccl-library=";
    for (const std::string_view word : words)
      if (word.starts_with(kLibrary)) output_.nccl = nccl_version_text(word.substr(kLibrary.size()));
    if (std::ranges::find(words, "cputime") != words.end())
      fail_here("its times are those of the CPU's calls", "measure without -C, so that it prints how long each took");
    if (at(1) == "Rank") read_device(line, words);
  }

  void read_device(std::string_view line, const Words& words) {
    const auto on = std::ranges::find(words, "on");
    const auto device = std::ranges::find(words, "device");
    if (on + 1 >= words.end() || device + 1 >= words.end()) return;
    const auto group = std::ranges::find(words, "Group");
    if (group + 1 < words.end()) groups_.insert(*(group + 1));
    if (const auto rank = finite_number(words[2])) last_rank_ = std::max(last_rank_, *rank);
    devices_.insert(words[2]);
    hosts_.insert(*(on + 1));
    const std::size_t bracket = line.find(']', static_cast<std::size_t>(device->data() - line.data()));
    if (bracket == std::string_view::npos) return;
    std::string model;
    for (const std::string_view word : words_of(line.substr(bracket + 1)))
      model += (model.empty() ? "" : " ") + std::string(word);
    if (!model.empty()) output_.gpus.insert(model);
  }

  /// size count type redop [root], then time algbw busbw #wrong, out of place and in place.
  void read_row(const Words& words) {
    const std::size_t first = words.size() - 8;
    NcclTestsRow row{.where = where(),
                     .bytes = static_cast<std::int64_t>(std::clamp(*finite_number(words[0]), 0.0, 1e15)),
                     .type = std::string(words[2]),
                     .redop = operation_of(words[3]),
                     .out_of_place = timing(words, first),
                     .in_place = timing(words, first + 4)};
    output_.rows.push_back(std::move(row));
  }

  NcclTestsTiming timing(const Words& words, std::size_t first) const {
    const auto time = finite_number(words[first]), busbw = finite_number(words[first + 2]);
    if (!time || !busbw || *time * 1e-6 <= 0)
      fail_here(fmt::format("'{}' is not a time in microseconds", words[first]),
                "a row has size, count, type, redop, root, then time, algbw, busbw and #wrong twice");
    return {.seconds = *time * 1e-6, .busbw = *busbw * 1e9, .wrong = std::string(words[first + 3])};
  }

  std::string_view text_, file_name_;
  int line_ = 0;
  bool begun_ = false;
  std::set<std::string_view> devices_, hosts_, groups_;
  double last_rank_ = -1;
  NcclTestsOutput output_;
};

/// Bus bandwidth / algorithm bandwidth, of the largest size: it has the most digits. 0 without rows.
double bus_factor_of(const std::vector<NcclTestsRow>& rows) {
  for (auto row = rows.rbegin(); row != rows.rend(); ++row)
    if (row->bytes > 0) return row->in_place.busbw * row->in_place.seconds / static_cast<double>(row->bytes);
  return 0;
}

}  // namespace

std::string operation_of(std::string_view redop) { return redop == "none" ? "" : std::string(redop); }

std::optional<double> NcclTestsTiming::wrong_elements() const {
  const auto count = finite_number(wrong);
  if (!count) return std::nullopt;
  return *count >= 1 ? *count : 0;
}

// NCCL_VERSION_CODE is 10000 X + 100 Y + Z since 2.9, and was 1000 X + 100 Y + Z before.
std::string nccl_version_text(std::string_view code) {
  const auto number = finite_number(code);
  if (!number || *number < 2000 || *number > 999999) return "";
  const int whole = static_cast<int>(*number), major = whole < 10000 ? 1000 : 10000;
  return fmt::format("{}.{}.{}", whole / major, whole % major / 100, whole % 100);
}

bool is_nccl_tests_output(std::string_view text) {
  return text.find("# nThread") != std::string_view::npos || text.find("out-of-place") != std::string_view::npos;
}

NcclTestsOutput read_nccl_tests(std::string_view text, std::string_view file_name) {
  return Reader(text, file_name).read();
}

CollectiveKind collective_of(const NcclTestsOutput& output, int ranks, std::string_view file_name) {
  const auto fail = [&](const std::string& what, std::string_view hint) {
    throw Error(ExitCode::usage, fmt::format("{}: {}", file_name, what), std::string(hint));
  };
  for (const auto& [name, kind] : kTests)
    if (output.test.starts_with(name)) return kind;
  if (!output.test.empty())
    fail(fmt::format("hbench has no collective of {}", output.test),
         "all_reduce, reduce_scatter, all_gather or broadcast");
  if (output.rows.empty()) fail("it has no rows", "give the output of nccl-tests with its table");
  if (ranks < 2)
    fail("it names no collective, and its list of devices does not say how many ranks it has",
         "give all that the test printed");
  const double factor = bus_factor_of(output.rows), share = (ranks - 1.0) / ranks;
  const auto near = [&](double expected) { return std::abs(factor / expected - 1) < 0.02; };
  if (near(2 * share)) return CollectiveKind::all_reduce;
  if (near(share))
    return output.rows.back().redop.empty() ? CollectiveKind::all_gather : CollectiveKind::reduce_scatter;
  if (!near(1))
    fail(fmt::format("its bus bandwidth is {:.3g} times its algorithm's, which no collective of {} ranks has", factor,
                     ranks),
         "are the numbers of ranks and nodes right?");
  return CollectiveKind::broadcast;
}

}  // namespace hbench
