#include "analysis/published/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "collectives/base/error.hpp"

namespace hbench {
namespace {

class Reader {
 public:
  Reader(std::string text, std::string_view file) : text_(std::move(text)), file_(file) {}

  std::vector<CsvRow> rows() {
    std::vector<CsvRow> all;
    while (at_ < text_.size()) {
      if (line_break()) continue;
      CsvRow row = this->row();
      if (!all.empty() && row.fields.size() != all.front().fields.size())
        fail(row.line, fmt::format("{} fields, but the header has {}", row.fields.size(), all.front().fields.size()));
      all.push_back(std::move(row));
    }
    return all;
  }

 private:
  [[noreturn]] void fail(std::size_t line, std::string_view what) const {
    throw Error(
        ExitCode::usage, fmt::format("{}:{}: {}", file_, line, what),
        "fields with commas, quotes or line breaks stand in double quotes, quotes within are doubled (RFC 4180)");
  }

  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  /// Consumes LF or CRLF.
  bool line_break() {
    if (text_.compare(at_, 2, "\r\n") == 0) ++at_;
    if (!take('\n')) return false;
    ++line_;
    return true;
  }

  CsvRow row() {
    CsvRow row{line_, {}};
    do row.fields.push_back(take('"') ? quoted() : plain());
    while (take(','));
    if (at_ < text_.size() && !line_break()) fail(line_, "text after a closing quote");
    return row;
  }

  std::string plain() {
    const std::size_t end = std::min(text_.find_first_of(",\r\n\"", at_), text_.size());
    std::string field = text_.substr(at_, end - at_);
    at_ = end;
    if (at_ < text_.size() && text_[at_] == '"') fail(line_, "a quote within an unquoted field");
    if (at_ < text_.size() && text_[at_] == '\r' && text_.compare(at_, 2, "\r\n") != 0)
      fail(line_, "a carriage return without a line feed");
    return field;
  }

  std::string quoted() {
    const std::size_t opened = line_;
    std::string field;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"' && !take('"')) return field;
      if (c == '\n') ++line_;
      field += c;
    }
    fail(opened, "a quoted field that begins here is never closed");
  }

  std::string text_;
  std::string_view file_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
};

}  // namespace

std::vector<CsvRow> read_csv(std::istream& in, std::string_view file_name) {
  return Reader(std::string(std::istreambuf_iterator<char>(in), {}), file_name).rows();
}

}  // namespace hbench
