#include "analysis/import/nccl_tests_output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>

#include "analysis/import/number_pattern.hpp"
#include "analysis/import/words.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

using Words = std::vector<std::string_view>;

/// The programs that a line names: what ends with `_perf`.
std::set<std::string> programs_in(std::string_view line) {
  constexpr std::string_view kEnd = "_perf", kLetters = "abcdefghijklmnopqrstuvwxyz_";
  std::set<std::string> names;
  for (std::size_t at = line.find(kEnd); at != line.npos; at = line.find(kEnd, at + 1)) {
    const std::size_t before = at == 0 ? line.npos : line.find_last_not_of(kLetters, at - 1);
    const std::size_t begin = before == line.npos ? 0 : before + 1;
    if (begin < at) names.emplace(line.substr(begin, at - begin + kEnd.size()));
  }
  return names;
}

/// A line of the list of devices, such as `#  Rank  0 Group  0 Pid 7100 on node-a device  0 [...] NVIDIA H100`.
struct TestedDevice {
  double rank = 0;
  std::string host, process, group, model;

  static std::optional<TestedDevice> of(std::string_view line, const Words& words) {
    const auto index_of = [&](std::string_view name) {
      return static_cast<std::size_t>(std::ranges::find(words, name) - words.begin());
    };
    const auto after = [&](std::string_view name) {
      const std::size_t next = index_of(name) + 1;
      return next < words.size() ? words[next] : std::string_view();
    };
    const std::size_t device = index_of("device");
    const auto rank = finite_number(after("Rank"));
    if (!rank || *rank < 0 || index_of("Rank") > index_of("on") || index_of("on") > device || after("device").empty())
      return std::nullopt;
    TestedDevice read{.rank = *rank,
                      .host = std::string(after("on")),
                      .process = std::string(after("Pid")),
                      .group = std::string(after("Group")),
                      .model = {}};
    const std::size_t bracket = line.find(']', static_cast<std::size_t>(words[device].data() - line.data()));
    if (bracket == line.npos) return read;
    for (const std::string_view word : words_of(line.substr(bracket + 1)))
      read.model += (read.model.empty() ? "" : " ") + std::string(word);
    return read;
  }
};

/// The list of devices of one test.
class Devices {
 public:
  void add(const TestedDevice& device) {
    last_ = std::max(last_, device.rank);
    ranks_.insert(device.rank);
    hosts_.insert(device.host);
    groups_.insert(device.group);
    if (device.rank == 0) first_ranks_.insert(device.process + " " + device.host);
    if (!device.model.empty()) models_.insert(device.model);
  }

  void complete(NcclTestsOutput& test) && {
    test.gpus = std::move(models_);
    if (first_ranks_.size() > 1) test.alone = static_cast<int>(first_ranks_.size());
    // A list with gaps was cut off, and of several groups each is a world of its own.
    if (last_ + 1 != static_cast<double>(ranks_.size()) || groups_.size() > 1) return;
    test.ranks = static_cast<int>(ranks_.size());
    test.nodes = static_cast<int>(hosts_.size());
  }

 private:
  std::set<double> ranks_;
  std::set<std::string> hosts_, groups_, first_ranks_, models_;
  double last_ = -1;
};

/// Puts blanks in the place of the bars that Markdown has between columns, and of the commas and quotes of a table of
/// CSV; commas between quotes part thousands.
std::string plain_table(std::string_view text) {
  std::string plain;
  bool commas = false;
  for (const std::string_view line : lines_of(text)) {
    const bool has_commas = line.find(',') != line.npos;
    commas = has_commas && (commas || (line.find("size") != line.npos && line.find("busbw") != line.npos));
    bool quoted = false;
    for (const char c : line) {
      quoted = quoted != (commas && c == '"');
      if (c != ',' || !quoted) plain += c == '|' || (commas && (c == ',' || c == '"')) ? ' ' : c;
    }
    plain += '\n';
  }
  return plain;
}

/// \throws Error (usage) where pdsh, clush or a collector has put names of several machines before the lines of tables:
/// rows of one would be read as further iterations of the other.
void refuse_several_nodes(std::string_view text, std::string_view file_name) {
  constexpr std::string_view kNode =
      R"((?m)^[ \t]*(\[pod/[^\]\n]+\]|[A-Za-z][\w.-]*:|[A-Za-z][\w.-]* +\|)[ \t][^\n]*\bsize\b[^\n]*\bbusbw\b)";
  std::set<std::string_view> nodes;
  for (const TextMatch& match : matches_of(kNode, text)) nodes.insert(match[1]);
  if (nodes.size() > 1)
    refuse_file(file_name, fmt::format("its tables are of several machines: {}", fmt::join(nodes, " ")),
                fmt::format("give each a file: grep -F '{0}' {1} > {1}.1", *nodes.begin(), file_name));
}

/// One pass over the lines.
class NcclTestsReader {
 public:
  explicit NcclTestsReader(std::string_view file_name) : file_name_(file_name) {}

  std::vector<NcclTestsOutput> read(std::string_view text) {
    for (const std::string_view line : lines_of(text)) {
      ++line_;
      read_line(line);
      above_ = line;
    }
    finish();
    return std::move(tests_);
  }

 private:
  std::string where() const { return fmt::format("{}:{}", file_name_, line_); }
  [[noreturn]] void fail_here(const std::string& what, std::string_view hint) const {
    throw Error(ExitCode::usage, fmt::format("{}: {}", where(), what), std::string(hint));
  }

  void check_units(const std::string& fault) const {
    if (!fault.empty()) fail_here(fault, "nccl-tests prints times in us and bandwidths in GB/s");
  }

  bool has_rows() const { return !test_.rows.empty() || !faults_.empty(); }

  void begin() {
    if (!has_rows()) return;
    finish();
    table_ = {};
    test_.names = std::move(later_names_);
    later_names_.clear();
  }

  void finish() {
    std::move(devices_).complete(test_);
    for (const auto& [fault, lines] : faults_) test_.left_out.push_back(note_of(fault, lines));
    if (has_rows()) tests_.push_back(std::move(test_));
    devices_ = {};
    test_ = {};
    faults_.clear();
  }

  void read_line(std::string_view line) {
    // Figures of the second half of each row would be lost.
    if (is_wrapped_head(above_, line))
      refuse_file(fmt::format("{}:{}", file_name_, line_ - 1),
                  fmt::format("its table is wrapped at {} characters, as a terminal shows it", above_.size()),
                  "give the file that the program wrote (> 1.txt), or what a wider terminal shows");
    const Words words = words_of(line);
    const auto after = [&](std::string_view a, std::string_view b) {
      const auto found = std::ranges::search(words, std::array{a, b}).begin();
      return found != words.end();
    };
    if (after("test", "starting:") || std::ranges::find(words, "nThread") != words.end()) begin();
    read_names(line, after("test", "concluded:"));
    read_verdict(line);
    if (const auto device = TestedDevice::of(line, words)) {
      begin();
      devices_.add(*device);
      return;
    }
    if (auto table = NcclTestsTable::of_names(line, above_)) {
      begin();
      if (table->has_cpu_times())
        fail_here("its times are those of the CPU's calls", "measure without -C, so that it prints how long each took");
      table_ = std::move(*table);
      check_units(table_.fault());
    } else if (const std::string fault = table_.read_units(line); !fault.empty()) {
      check_units(fault);
    } else if (auto read = table_.read(line)) {
      add(std::move(*read), line);
    }
    constexpr std::string_view kLibrary = "nccl-library=";
    for (const std::string_view word : words) {
      if (!word.starts_with(kLibrary)) continue;
      begin();
      test_.nccl = nccl_version_text(word.substr(kLibrary.size()));
    }
  }

  /// Names that follow rows are of the next test, unless that line says that the test has ended.
  void read_names(std::string_view line, bool of_this_test) {
    (has_rows() && !of_this_test ? later_names_ : test_.names).merge(programs_in(line));
  }

  /// `# Out of bounds values : 1 FAILED`, `# Bitwise mismatches : 1 FAILED`.
  void read_verdict(std::string_view line) {
    constexpr std::string_view kFailed = " FAILED";
    for (const std::string_view check : {"Out of bounds values", "Bitwise mismatches"})
      if (const std::size_t at = line.find(check), end = line.find(kFailed); at < end && end != line.npos)
        test_.failed_check = line.substr(at, end + kFailed.size() - at);
  }

  void add(NcclTestsTable::Read read, std::string_view line) {
    if (!read.row.timings().empty()) {
      read.row.where = where();
      test_.rows.push_back(std::move(read.row));
    }
    if (read.fault.empty()) return;
    const bool broken = line.find(" NCCL ") != line.npos;
    faults_[broken ? "broken by NCCL's messages: measure with NCCL_DEBUG_FILE" : std::move(read.fault)].push_back(
        line_);
  }

  /// `line 9: it is cut off`, `lines 9, 12, 15 and 4 more: ...`.
  static std::string note_of(const std::string& fault, const std::vector<int>& lines) {
    constexpr std::size_t kNamed = 3;
    const std::size_t named = std::min(lines.size(), kNamed);
    return fmt::format("line{} {}{}: {}", lines.size() > 1 ? "s" : "",
                       fmt::join(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(named), ", "),
                       lines.size() > named ? fmt::format(" and {} more", lines.size() - named) : "", fault);
  }

  std::string_view file_name_, above_;
  int line_ = 0;
  NcclTestsTable table_;
  Devices devices_;
  NcclTestsOutput test_;
  std::map<std::string, std::vector<int>> faults_;  ///< of each fault of rows, their lines
  std::set<std::string> later_names_;
  std::vector<NcclTestsOutput> tests_;
};

/// Returns whether a line has all of the usual columns: `grep -v '^#'` leaves nothing else.
bool is_row(std::string_view line) {
  const std::optional<NcclTestsTable::Read> row = NcclTestsTable().read(line);
  return row && row->fault.empty();
}

}  // namespace

bool is_nccl_tests_output(std::string_view text) {
  const std::string plain = plain_table(text);
  for (const std::string_view line : lines_of(plain))
    if (line.find("nThread ") != line.npos || line.find("out-of-place") != line.npos ||
        NcclTestsTable::of_names(line, "") || is_row(line))
      return true;
  return false;
}

std::string missing_columns(std::string_view text) {
  const std::string plain = plain_table(text);
  for (const std::string_view line : lines_of(plain)) {
    const Words words = words_of(line);
    const auto has = [&](std::string_view name) { return std::ranges::find(words, name) != words.end(); };
    Words found{"size", "type", "busbw", "algbw", "time", "redop"}, missing{"size", "type", "busbw"};
    std::erase_if(found, std::not_fn(has));
    std::erase_if(missing, has);
    // There may be units, and columns of others.
    if (!missing.empty() && found.size() >= missing.size() && (found.size() > 2 || 2 * found.size() >= words.size()))
      return fmt::format("its table lacks the column{} {} (it has {})", missing.size() > 1 ? "s" : "",
                         fmt::join(missing, " and "), fmt::join(found, ", "));
  }
  return "";
}

std::vector<NcclTestsOutput> read_nccl_tests(std::string_view text, std::string_view file_name) {
  refuse_several_nodes(text, file_name);
  return NcclTestsReader(file_name).read(plain_table(text));
}

}  // namespace hbench
