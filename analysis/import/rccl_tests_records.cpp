#include <fmt/format.h>

#include <set>
#include <tuple>

#include "analysis/import/format.hpp"
#include "analysis/import/json_value.hpp"
#include "analysis/import/nccl_tests_output.hpp"
#include "analysis/import/words.hpp"
#include "collectives/base/parameters.hpp"
#include "collectives/base/text.hpp"

/// rccl-tests' `-x FILE -Z json` and `-Z csv` (github.com/ROCm/rccl-tests): a record for each size in each way, as JSON
/// objects of a line each, as an array of them, or as lines below their names. Times are in us, rates in GB/s.

namespace hbench {
namespace {

bool is_rccl_tests(std::string_view text) {
  return text.find("algBw") != text.npos && text.find("busBw") != text.npos && text.find("inPlace") != text.npos;
}

/// The names and values of a line of CSV.
std::vector<std::string_view> values_of(std::string_view line) {
  std::vector<std::string_view> values = split(line, ',');
  for (std::string_view& value : values) {
    value = trimmed(value);
    if (value.size() > 1 && value.starts_with('"') && value.ends_with('"')) value = value.substr(1, value.size() - 2);
  }
  return values;
}

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
      records.push_back({std::move(all[i]), fmt::format("[{}]", i), fmt::format("{}: [{}]", file_name_, i)});
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
      records.push_back({parse_json(line, file_name_, line_), place, where});
    } else if (line.starts_with('{')) {
      left_out.push_back(place + ": it is cut off");
    } else if (is_rccl_tests(line)) {
      names_ = values_of(line);
    } else if (!names_.empty() && !line.empty()) {
      const std::vector<std::string_view> values = values_of(line);
      if (values.size() != names_.size()) {
        left_out.push_back(fmt::format("{}: it has {} values below {} names", place, values.size(), names_.size()));
        return;
      }
      nlohmann::json record;
      for (std::size_t i = 0; i < values.size(); ++i) {
        const auto number = finite_number(values[i]);
        record[std::string(names_[i])] = number ? nlohmann::json(*number) : nlohmann::json(std::string(values[i]));
      }
      records.push_back({std::move(record), place, where});
    }
  }

  std::string_view file_name_;
  int line_ = 0;
  std::vector<std::string_view> names_;
};

PrintedNumber printed_by_rccl(const JsonValue& value, double unit) {
  return PrintedNumber{.value = value.number(), .slack = 5.1e-7} * unit;
}

std::string wrong_of(const JsonValue& record) {
  const JsonValue wrong = record.at(record.has("#wrong") ? "#wrong" : "wrong");
  return wrong.is_text() ? wrong.text() : fmt::format("{:g}", wrong.number());
}

/// Records as tests: one begins with another program or number of ranks, and where one has a record again.
class RcclTests {
 public:
  void read(const Record& read) {
    const JsonValue record(read.json, read.where);
    const std::string name = record.at("name").text();
    const int ranks = record.has("gpus") ? record.at("gpus").whole(1)
                                         : record.at("ranks").whole(1) *
                                               (record.has("gpusPerRank") ? record.at("gpusPerRank").whole(1) : 1);
    const int nodes = record.has("nodes") ? record.at("nodes").whole(1) : 0;
    NcclTestsRow row{.where = read.where,
                     .bytes = record.at("size").bytes(),
                     .type = record.at("type").text(),
                     .redop = operation_of(record.at("redop").text()),
                     .out_of_place = {},
                     .in_place = {}};
    const bool in_place = record.at("inPlace").whole(0) != 0;
    const int cycle = record.has("numCycle") ? record.at("numCycle").whole(0) : 0;
    const auto key = std::tuple(cycle, row.bytes, row.type, *row.redop, in_place);
    if (tests.empty() || !tests.back().names.contains(name) || tests.back().ranks != ranks ||
        tests.back().nodes != nodes || known_.contains(key)) {
      NcclTestsOutput& test = tests.emplace_back();
      test.names = {name};
      test.ranks = ranks;
      test.nodes = nodes;
      known_.clear();
    }
    known_.insert(key);
    const JsonValue time = record.at("time");
    if (!time.is_number() || time.number() <= 0) {
      tests.back().left_out.push_back(fmt::format("{}: its time is {}", read.place, time.shown()));
      return;
    }
    (in_place ? row.in_place : row.out_of_place) = NcclTestsTiming{.seconds = printed_by_rccl(time, 1e-6),
                                                                   .algbw = printed_by_rccl(record.at("algBw"), 1e9),
                                                                   .busbw = printed_by_rccl(record.at("busBw"), 1e9),
                                                                   .wrong = wrong_of(record)};
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
