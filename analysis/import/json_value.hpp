#pragma once

/// The JSON of other programs: values that know where they stand, for errors that say so.

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hbench {

/// One value of a file's JSON. Does not own it. All functions \throws Error (usage) such as `a.json: benchmarks[3] has
/// no real_time`.
class JsonValue {
 public:
  JsonValue(const nlohmann::json& value, std::string_view file_name, std::string path = {})
      : value_(&value), file_name_(file_name), path_(std::move(path)) {}

  bool has(const char* name) const;
  /// Returns whether it has that member, and not null, which is what does not apply. Older versions lack members.
  bool is_set(const char* name) const;
  JsonValue at(const char* name) const;
  /// Of an array.
  std::vector<JsonValue> elements() const;
  /// Names and values of an object, in the order of the names.
  std::vector<std::pair<std::string, JsonValue>> members() const;

  bool is_null() const { return value_->is_null(); }
  bool is_number() const { return value_->is_number(); }
  bool is_text() const { return value_->is_string(); }
  bool is_array() const { return value_->is_array(); }
  bool is_object() const { return value_->is_object(); }
  bool is_true() const { return value_->is_boolean() && value_->get<bool>(); }
  std::string text() const;
  /// Of less than 10^100.
  double number() const;
  /// A number above 0.
  double positive() const;
  /// A whole number from 0 to 10^15.
  std::int64_t bytes() const;
  /// A whole number from `least` to 10^9.
  int whole(int least) const;

  /// A number, text, truth or null as it stands there, shortened; empty for arrays and objects.
  std::string shown() const;
  [[noreturn]] void fail(const std::string& what, std::string hint = "is it as the program wrote it?") const;

 private:
  const nlohmann::json* value_;
  std::string_view file_name_;
  std::string path_;
};

/// Parses the JSON of a text that begins in line `first_line` of its file; what a program prints before and after it is
/// not read. Python's NaN and Infinity become null: who reads that number says so. \throws Error (usage) with file and
/// line: for what is no JSON, is cut off, has a name twice in one object, or is too much for `read_json`.
nlohmann::json parse_json(std::string_view text, std::string_view file_name, int first_line = 1);

/// Returns whether a text has a JSON document behind its first one, which `parse_json` refuses.
bool has_second_json(std::string_view text);

/// A line of a text that begins an object, and its number.
struct ObjectLine {
  std::string_view text;
  int number = 0;
};
/// Those that end with it, and the last one, whether it is cut off or not.
std::vector<ObjectLine> object_lines(std::string_view text);

}  // namespace hbench
