#include "analysis/job/json_elements.hpp"

#include <fmt/format.h>

#include <cmath>

#include "analysis/import/json_value.hpp"
#include "collectives/base/read_json.hpp"

namespace hbench {
namespace {

constexpr std::size_t kMostValueBytes = std::size_t{16} << 20;

bool is_blank(int byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }

/// Takes a file apart at the commas and brackets of its outermost levels.
class Splitter {
 public:
  Splitter(TextSource& source, const JsonVisitor& visitor) : source_(source), visitor_(visitor) {}

  bool run() {
    const int first = next();
    if (first != '[' && first != '{') fail(first < 0 ? "it is empty" : "this is no JSON");
    if (!(first == '[' ? list() : object())) return false;
    if (look() >= 0) fail("more comes behind its JSON: each recording is a file of its own");
    return true;
  }

  /// Returns whether the last of the values is complete.
  bool stream() {
    for (int byte = look(); byte >= 0; byte = look()) {
      if (byte == '[') {
        take();
        if (!list()) return false;
      } else {
        if (byte != '{') fail("this is no JSON");
        if (!value()) return false;
        visitor_.element(text_);
      }
    }
    return true;
  }

 private:
  /// Skips blanks; the byte after them stays.
  int look() {
    while (is_blank(source_.peek())) take();
    return source_.peek();
  }
  int take() {
    ++position_;
    return source_.take();
  }
  int next() {
    look();
    return take();
  }

  bool object() {
    for (int byte = look(); byte != '}'; byte = look()) {
      if (byte == ',') {
        take();
        continue;
      }
      if (byte < 0) return false;
      if (byte != '"') fail("this is no JSON");
      if (!value()) return false;
      const std::string name = parse_element(text_, source_.file_name()).get<std::string>();
      if (next() != ':') fail("this is no JSON");
      if (name == visitor_.list && look() == '[') {
        take();
        if (!list()) return false;
        continue;
      }
      if (!value()) return false;
      visitor_.member(name, parse_element(text_, source_.file_name()));
    }
    take();
    return true;
  }

  bool list() {
    for (int byte = look(); byte != ']'; byte = look()) {
      if (byte == ',') {
        take();
        continue;
      }
      if (byte < 0) return false;
      // What is no object is no event; some writers end a list with `{}` or `null`.
      if (!value()) return false;
      if (text_.front() == '{') visitor_.element(text_);
    }
    take();
    return true;
  }

  /// Reads one value into `text_`; false where the file ends in it.
  bool value() {
    text_.clear();
    look();
    int depth = 0;
    do {
      const int byte = take();
      if (byte < 0) return false;
      add(byte);
      if (byte == '"') {
        if (!rest_of_string()) return false;
      } else if (byte == '{' || byte == '[') {
        ++depth;
      } else if (byte == '}' || byte == ']') {
        if (--depth < 0) fail("a bracket closes nothing");
      } else if (depth == 0) {
        return scalar();
      }
    } while (depth > 0);
    return true;
  }

  bool rest_of_string() {
    for (int byte = take(); byte >= 0; byte = take()) {
      add(byte);
      if (byte == '"') return true;
      if (byte != '\\') continue;
      if ((byte = take()) < 0) return false;
      add(byte);
    }
    return false;
  }

  /// A number, or a word.
  bool scalar() {
    for (int byte = source_.peek(); byte >= 0 && !is_blank(byte) && byte != ',' && byte != '}' && byte != ']';
         byte = source_.peek()) {
      if (byte == '"' || byte == '{' || byte == '[') fail("this is no JSON");
      add(take());
    }
    return true;
  }

  void add(int byte) {
    if (text_.size() == kMostValueBytes) fail("one of its values has more than 16 MiB");
    text_.push_back(static_cast<char>(byte));
  }

  [[noreturn]] void fail(std::string_view why) const {
    throw Error(ExitCode::usage, fmt::format("{}: {} (at byte {})", source_.file_name(), why, position_),
                "is it as the program wrote it?");
  }

  TextSource& source_;
  const JsonVisitor& visitor_;
  std::string text_;
  std::size_t position_ = 0;
};

}  // namespace

bool visit_json(TextSource& source, const JsonVisitor& visitor) { return Splitter(source, visitor).run(); }

bool visit_json_stream(TextSource& source, const std::function<void(std::string_view text)>& element) {
  const JsonVisitor visitor{.list = {}, .member = {}, .element = element};
  return Splitter(source, visitor).stream();
}

nlohmann::json parse_element(std::string_view text, std::string_view file_name) {
  nlohmann::json parsed = read_json(text);
  return parsed.is_discarded() ? parse_json(text, file_name) : parsed;
}

const nlohmann::json* json_member(const nlohmann::json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : &*found;
}

const nlohmann::json& json_object(const nlohmann::json& object, const char* name) {
  static const nlohmann::json kNone = nlohmann::json::object();
  const nlohmann::json* member = json_member(object, name);
  return member != nullptr && member->is_object() ? *member : kNone;
}

std::string json_text(const nlohmann::json& object, const char* name) {
  const nlohmann::json* value = json_member(object, name);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

double json_number(const nlohmann::json& object, const char* name) {
  const nlohmann::json* value = json_member(object, name);
  return value != nullptr && value->is_number() ? value->get<double>() : std::nan("");
}

std::string json_first_text(const nlohmann::json* list) {
  const bool begins = list != nullptr && list->is_array() && !list->empty() && list->front().is_string();
  return begins ? list->front().get<std::string>() : std::string();
}

double elements_of_shape(const nlohmann::json& shape) {
  if (!shape.is_array()) return std::nan("");
  double product = 1;
  for (const nlohmann::json& size : shape) product *= size.is_number() ? size.get<double>() : std::nan("");
  return product;
}

std::int64_t known_whole(double number) { return number >= 1 && number < 1e15 ? static_cast<std::int64_t>(number) : 0; }

std::int64_t known_elements(double number) {
  return number >= 1 && number <= 1e12 ? static_cast<std::int64_t>(number) : 0;
}

char first_mark(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first == text.npos ? '\0' : text[first];
}

}  // namespace hbench
