#include "analysis/import/json_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "collectives/base/error.hpp"
#include "collectives/base/read_json.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

constexpr double kMostWhole = 1e9, kMostBytes = 1e15;
/// What is beyond is no quantity of this world, and would overflow when it is taken to another unit.
constexpr double kLeast = 1e-100, kMost = 1e100;

using Json = nlohmann::json;

/// The JSON of a text: from the first line that begins an object or an array of objects to its end.
struct JsonPart {
  std::string_view text;
  std::size_t begin = 0, end = 0;
  bool cut_off = false;
};

/// Calls `outside` with each position that is not in a JSON string, until it returns false.
template <class Outside>
void for_structure(std::string_view text, std::size_t begin, Outside outside) {
  bool in_string = false;
  for (std::size_t at = begin; at < text.size(); ++at) {
    if (in_string && text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      in_string = !in_string;
    } else if (!in_string && !outside(at)) {
      return;
    }
  }
}

bool begins_json(std::string_view text, std::size_t at) {
  const std::size_t next = text.find_first_not_of(" \t\r\n", at + 1);
  const char follows = next == text.npos ? '\0' : text[next];
  return text[at] == '{' ? follows == '"' || follows == '}' : text[at] == '[' && (follows == '{' || follows == ']');
}

/// Where the first line from `from` on begins JSON; the end of the text where none does.
std::size_t find_json(std::string_view text, std::size_t from) {
  for (std::size_t line = from; line < text.size(); line = std::min(text.find('\n', line), text.size() - 1) + 1) {
    const std::size_t at = std::min(text.find_first_not_of(" \t\r", line), text.size() - 1);
    if (begins_json(text, at)) return at;
  }
  return text.size();
}

/// All of a text in which nothing begins JSON.
JsonPart json_part(std::string_view text) {
  JsonPart part{.text = text, .end = text.size()};
  const std::size_t begin = find_json(text, 0);
  if (begin == text.size()) return part;
  part.begin = begin;
  part.cut_off = true;
  int depth = 0;
  for_structure(text, part.begin, [&](std::size_t at) {
    depth += (text[at] == '{' || text[at] == '[') - (text[at] == '}' || text[at] == ']');
    if (depth > 0) return true;
    part.cut_off = false;
    part.end = at + 1;
    return false;
  });
  part.text = text.substr(part.begin, part.end - part.begin);
  return part;
}

/// With null in place of the words that Python and C write for what is no number.
std::string without_nan(std::string_view text) {
  constexpr std::array<std::string_view, 8> kWords{"-Infinity", "Infinity", "-NaN", "NaN",
                                                   "-nan",      "nan",      "-inf", "inf"};
  std::string result;
  std::size_t copied = 0;
  for_structure(text, 0, [&](std::size_t at) {
    if (at < copied || std::string_view("-INni").find(text[at]) == std::string_view::npos) return true;
    if ((at > 0 && std::string_view(" \t\r\n:,[").find(text[at - 1]) == std::string_view::npos)) return true;
    for (const std::string_view word : kWords) {
      if (text.substr(at, word.size()) != word) continue;
      const std::size_t end = at + word.size();
      if (end < text.size() && std::string_view(" \t\r\n,]}").find(text[end]) == std::string_view::npos) continue;
      result.append(text.substr(copied, at - copied)).append("null");
      copied = end;
      break;
    }
    return true;
  });
  return result.append(text.substr(copied));
}

/// Notices names that stand twice in one object, of which a parser would keep the last.
class Names {
 public:
  bool operator()(int /*depth*/, Json::parse_event_t event, const Json& value) {
    if (event == Json::parse_event_t::object_start) open_.emplace_back();
    if (event == Json::parse_event_t::object_end && !open_.empty()) open_.pop_back();
    if (event != Json::parse_event_t::key || open_.empty() || !twice.empty()) return true;
    const auto& name = value.get_ref<const std::string&>();
    ++known_[name];
    if (!open_.back().insert(name).second) {
      twice = name;
      occurrence = known_[name];
    }
    return true;
  }

  std::string twice;   ///< empty for none
  int occurrence = 0;  ///< which one of the text it is

 private:
  std::vector<std::set<std::string>> open_;
  std::map<std::string, int> known_;
};

/// Where the given occurrence of a name begins; the end of the text where it is written in another way.
std::size_t position_of(std::string_view text, const std::string& name, int occurrence) {
  const std::string quoted = fmt::format("\"{}\"", name);
  for (std::size_t at = text.find(quoted); at != text.npos; at = text.find(quoted, at + 1)) {
    const std::size_t after = text.find_first_not_of(" \t\r\n", at + quoted.size());
    if (after != text.npos && text[after] == ':' && --occurrence == 0) return at;
  }
  return text.size();
}

bool is_whole_line(const ObjectLine& line) { return line.text.ends_with('}') || line.text.ends_with("},"); }

}  // namespace

bool JsonValue::has(const char* name) const { return value_->is_object() && value_->contains(name); }

bool JsonValue::is_set(const char* name) const { return has(name) && !value_->at(name).is_null(); }

JsonValue JsonValue::at(const char* name) const {
  if (!has(name)) fail(fmt::format("has no {}", name));
  return {value_->at(name), file_name_, path_.empty() ? name : fmt::format("{}.{}", path_, name)};
}

std::vector<JsonValue> JsonValue::elements() const {
  if (!value_->is_array()) fail("is no array");
  std::vector<JsonValue> all;
  for (std::size_t i = 0; i < value_->size(); ++i)
    all.emplace_back((*value_)[i], file_name_, fmt::format("{}[{}]", path_, i));
  return all;
}

std::vector<std::pair<std::string, JsonValue>> JsonValue::members() const {
  if (!value_->is_object()) fail("is no object");
  std::vector<std::pair<std::string, JsonValue>> all;
  for (const auto& [name, value] : value_->items())
    all.emplace_back(name, JsonValue(value, file_name_, path_.empty() ? name : fmt::format("{}.{}", path_, name)));
  return all;
}

std::string JsonValue::text() const {
  if (!value_->is_string()) fail("is no text");
  return value_->get<std::string>();
}

double JsonValue::number() const {
  if (!value_->is_number()) fail("is no number");
  if (!(std::abs(value_->get<double>()) < kMost)) fail("is too large");
  return value_->get<double>();
}

double JsonValue::positive() const {
  const double value = number();
  if (!(value > kLeast)) fail("is not above 0");
  return value;
}

std::int64_t JsonValue::bytes() const {
  const double value = number();
  if (value != std::floor(value) || value < 0 || value > kMostBytes) fail("is no number of bytes");
  return static_cast<std::int64_t>(value);
}

int JsonValue::whole(int least) const {
  const double value = number();
  if (value != std::floor(value) || value < least || value > kMostWhole)
    fail(fmt::format("is no whole number from {} on", least));
  return static_cast<int>(value);
}

std::string JsonValue::shown() const {
  constexpr std::size_t kShown = 40;
  if (!value_->is_primitive()) return "";
  const std::string shown = value_->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return shown.size() > kShown ? shown.substr(0, kShown) + "..." : shown;
}

void JsonValue::fail(const std::string& what, std::string hint) const {
  const std::string value = shown();
  throw Error(ExitCode::usage,
              fmt::format("{}: {}{} {}", file_name_, path_.empty() ? "its JSON" : path_,
                          value.empty() ? "" : fmt::format(" ({})", value), what),
              std::move(hint));
}

std::vector<ObjectLine> object_lines(std::string_view text) {
  std::vector<ObjectLine> all;
  int number = 0;
  for (std::string_view line : lines_of(text)) {
    ++number;
    line = trimmed(line);
    if (!line.starts_with('{') || !begins_json(line, 0)) continue;
    if (!all.empty() && !is_whole_line(all.back())) all.pop_back();
    all.push_back({line, number});
  }
  return all;
}

bool has_second_json(std::string_view text) { return find_json(text, json_part(text).end) < text.size(); }

Json parse_json(std::string_view text, std::string_view file_name, int first_line) {
  const JsonPart part = json_part(text);
  const std::string json = without_nan(part.text);
  const auto where = [&](std::size_t at) {
    const std::string_view before = std::string_view(json).substr(0, at);
    return fmt::format(
        "{}:{}", file_name,
        first_line + std::ranges::count(text.substr(0, part.begin), '\n') + std::ranges::count(before, '\n'));
  };
  if (const std::size_t second = find_json(text, part.end); second < text.size())
    throw Error(ExitCode::usage,
                fmt::format("{}:{}: a second JSON document begins", file_name,
                            first_line + std::ranges::count(text.substr(0, second), '\n')),
                "give each a file of its own: a file is one launch");
  if (const std::string_view excess = json_excess(json); !excess.empty())
    throw Error(ExitCode::usage, fmt::format("{}: its JSON cannot be read: {}", file_name, excess),
                "is it as the program wrote it?");
  Names names;
  try {
    Json parsed = Json::parse(json, std::ref(names));
    if (names.twice.empty()) return parsed;
  } catch (const Json::parse_error& error) {
    const bool cut_off = part.cut_off && error.byte > json.size();
    throw Error(ExitCode::usage,
                fmt::format("{}: {}", where(std::min(error.byte, json.size())),
                            cut_off ? "its JSON is cut off here" : "this is no JSON"),
                cut_off ? "was the program that wrote it stopped?" : "is it as the program wrote it?");
  } catch (const Json::exception& error) {
    throw Error(ExitCode::usage, fmt::format("{}: its JSON cannot be read", file_name), error.what());
  }
  throw Error(ExitCode::usage,
              fmt::format("{}: its JSON has '{}' twice in one object",
                          where(position_of(json, names.twice, names.occurrence)), names.twice),
              "which of the two counts nobody knows: leave one out");
}

}  // namespace hbench
