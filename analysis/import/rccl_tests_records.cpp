#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <tuple>

#include "analysis/import/format.hpp"
#include "analysis/import/json_value.hpp"
#include "analysis/import/nccl_tests_output.hpp"
#include "analysis/import/words.hpp"
#include "collectives/base/parameters.hpp"
#include "collectives/base/text.hpp"

/// rccl-tests' `-x FILE -Z json` and `-Z csv` (github.com/ROCm/rccl-tests): a record for each size in each way, as JSON
/// objects of a line each, as an array of them, or as lines below their names, which may have been written again by
/// another program (with blanks for commas, without quotes). Times are in us, rates in GB/s.

namespace hbench {
namespace {

/// The names and values of a line.
std::vector<std::string_view> values_of(std::string_view line) {
  std::vector<std::string_view> values = line.find(',') == line.npos ? words_of(line) : split(line, ',');
  for (std::string_view& value : values) {
    value = trimmed(value);
    if (value.size() > 1 && value.starts_with('"') && value.ends_with('"')) value = value.substr(1, value.size() - 2);
  }
  return values;
}

/// The names of the members as JSON has them, and in lower case: it has `busBw`, and CSV `busbw` or that.
std::vector<std::string> names_in(std::string_view line) {
  std::vector<std::string> names;
  for (const std::string_view value : values_of(line))
    names.push_back(value == "collective" ? "name" : lower_case(std::string(value)));
  return names;
}

bool is_head(std::string_view line) {
  if (line.find("size") == line.npos) return false;
  const std::vector<std::string> names = names_in(line);
  return std::ranges::all_of(std::array{"size", "type", "inplace", "busbw"},
                             [&](const char* name) { return std::ranges::find(names, name) != names.end(); });
}

bool is_rccl_tests(std::string_view text) {
  const bool is_json = text.find("\"busBw\"") != text.npos && text.find("\"inPlace\"") != text.npos;
  return is_json || std::ranges::any_of(lines_of(text), is_head);
}

nlohmann::json with_lower_names(const nlohmann::json& record) {
  nlohmann::json lower;
  for (const auto& [name, value] : record.items()) lower[lower_case(name)] = value;
  return lower;
}

/// The members that hold a time and rates.
constexpr std::array<const char*, 3> kFigures{"time", "algbw", "busbw"};

/// A record and where it stands.
struct Record {
  nlohmann::json json;
  std::string place;  ///< in its file: `line 3`
  std::string where;  ///< for errors: `a.json:3`
};

/// Reads the records of a text. What is none is left out.
class Records {
 public:
  Records(std::string_view text, std::string_view file_name) : file_name_(file_name) {
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin != text.npos && text[begin] == '[')
      read_array(text);
    else
      read_lines(text);
  }

  std::vector<Record> records;
  std::vector<std::string> left_out;

 private:
  void read_array(std::string_view text) {
    nlohmann::json all = parse_json(text, file_name_);
    for (std::size_t i = 0; i < all.size(); ++i)
      records.push_back({with_lower_names(all[i]), fmt::format("[{}]", i), fmt::format("{}: [{}]", file_name_, i)});
  }

  void read_lines(std::string_view text) {
    for (const std::string_view line : lines_of(text)) {
      ++line_;
      read_line(trimmed(line));
    }
  }

  void read_line(std::string_view line) {
    const std::string place = fmt::format("line {}", line_), where = fmt::format("{}:{}", file_name_, line_);
    if (line.starts_with('{') && line.ends_with('}')) {
      records.push_back({with_lower_names(parse_json(line, file_name_, line_)), place, where});
    } else if (line.starts_with('{')) {
      left_out.push_back(place + ": it is cut off");
    } else if (is_head(line)) {
      names_ = names_in(line);
    } else if (!names_.empty() && !line.empty()) {
      const std::vector<std::string_view> values = values_of(line);
      // Older versions name no nodes, and print them before the ranks.
      const auto ranks = std::ranges::find(names_, "ranks");
      if (values.size() == names_.size() + 1 && ranks != names_.end() &&
          std::ranges::find(names_, "nodes") == names_.end())
        names_.emplace(ranks, "nodes");
      if (values.size() != names_.size()) {
        left_out.push_back(fmt::format("{}: it has {} values below {} names", place, values.size(), names_.size()));
        return;
      }
      nlohmann::json record;
      for (std::size_t i = 0; i < values.size(); ++i) {
        // The digits of a figure say how far it was rounded.
        const bool is_figure = std::ranges::find(kFigures, names_[i]) != kFigures.end();
        const auto number = is_figure ? std::nullopt : finite_number(values[i]);
        record[names_[i]] = number ? nlohmann::json(*number) : nlohmann::json(std::string(values[i]));
      }
      records.push_back({std::move(record), place, where});
    }
  }

  std::string_view file_name_;
  int line_ = 0;
  std::vector<std::string> names_;
};

/// None where it is no number.
std::optional<PrintedNumber> printed_by_rccl(const JsonValue& value) {
  if (value.is_text()) return PrintedNumber::of(value.text());
  return value.is_number() ? std::optional(PrintedNumber{.value = value.number(), .slack = 5.1e-7}) : std::nullopt;
}

std::string wrong_of(const JsonValue& record) {
  if (!record.has("#wrong") && !record.has("wrong")) return "N/A";
  const JsonValue wrong = record.at(record.has("#wrong") ? "#wrong" : "wrong");
  return wrong.is_text() ? wrong.text() : fmt::format("{:g}", wrong.number());
}

/// Records as tests: one begins with another program or number of ranks, and where one has a record again.
class RcclTests {
 public:
  void read(const Record& read) {
    const JsonValue record(read.json, read.where);
    std::set<std::string> names;
    if (record.has("name")) names.insert(record.at("name").text());
    const auto whole = [&](const char* member, int otherwise) {
      return record.has(member) ? record.at(member).whole(1) : otherwise;
    };
    const int processes = whole("ranks", 0), of_node = whole("rankspernode", 0);
    const int ranks = whole("gpus", processes * whole("gpusperrank", 1));
    const int nodes = whole("nodes", of_node > 0 && processes % of_node == 0 ? processes / of_node : 0);
    NcclTestsRow row{.where = read.where,
                     .bytes = record.at("size").bytes(),
                     .type = record.at("type").text(),
                     .redop = {},
                     .out_of_place = {},
                     .in_place = {}};
    if (record.has("redop")) row.redop = operation_of(record.at("redop").text());
    const bool in_place = record.at("inplace").whole(0) != 0;
    const int cycle = record.has("numcycle") ? record.at("numcycle").whole(0) : 0;
    const auto key = std::tuple(cycle, row.bytes, row.type, row.redop.value_or(""), in_place);
    if (tests.empty() || tests.back().names != names || tests.back().ranks != ranks || tests.back().nodes != nodes ||
        known_.contains(key)) {
      NcclTestsOutput& test = tests.emplace_back();
      test.names = names;
      test.ranks = ranks;
      test.nodes = nodes;
      known_.clear();
    }
    known_.insert(key);
    std::array<PrintedNumber, kFigures.size()> figures{};
    for (std::size_t i = 0; i < figures.size(); ++i) {
      if (!record.has(kFigures[i])) continue;  // it follows from the others
      const JsonValue value = record.at(kFigures[i]);
      const auto number = printed_by_rccl(value);
      if (!number || (i == 0 && number->value <= 0)) {
        tests.back().left_out.push_back(fmt::format("{}: its {} is {}", read.place, kFigures[i], value.shown()));
        return;
      }
      figures[i] = *number * (i == 0 ? 1e-6 : 1e9);
    }
    (in_place ? row.in_place : row.out_of_place) =
        NcclTestsTiming{.seconds = figures[0], .algbw = figures[1], .busbw = figures[2], .wrong = wrong_of(record)};
    tests.back().rows.push_back(std::move(row));
  }

  std::vector<NcclTestsOutput> tests;

 private:
  std::set<std::tuple<int, std::int64_t, std::string, std::string, bool>> known_;  ///< of the last test
};

ImportedOutput parse_rccl_tests(std::string_view text, std::string_view file_name, const ImportHints& hints) {
  const Records read(text, file_name);
  RcclTests tests;
  for (const Record& record : read.records) tests.read(record);
  ImportedOutput output = cases_of(std::move(tests.tests), file_name, hints);
  output.left_out.insert(output.left_out.end(), read.left_out.begin(), read.left_out.end());
  return output;
}

}  // namespace

extern constinit const ImportFormat kRcclTestsRecordsFormat{.name = "rccl-tests-records",
                                                            .summary = "rccl-tests' -Z json and -Z csv",
                                                            .example = "mpirun -n 8 all_reduce_perf -x 1.json -Z json",
                                                            .recognises = is_rccl_tests,
                                                            .parse = parse_rccl_tests};

}  // namespace hbench
