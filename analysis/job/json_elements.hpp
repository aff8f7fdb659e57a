#pragma once

/// Recordings are JSON of up to gigabytes: a list of small objects, alone or as a member of one object. They are read
/// one element at a time, so that memory stays small.

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "analysis/job/text_source.hpp"

namespace hbench {

struct JsonVisitor {
  /// The member whose array is not kept but visited: `traceEvents`. A list at the top is visited as well.
  std::string_view list;
  /// Called with each other member of the object at the top.
  std::function<void(const std::string& name, const nlohmann::json& value)> member;
  /// Called with the text of each element of the list: `{...}`.
  std::function<void(std::string_view text)> element;
};

/// Reads a file's JSON to its end. Returns false where the list is never closed, as of a program that was stopped or
/// still runs; what came before has been visited. \throws Error (usage) for what is no JSON, and for members of more
/// than 16 MiB; it names the place in bytes.
bool visit_json(TextSource& source, const JsonVisitor& visitor);

/// Reads a file of objects that stand one after the other, or in lists: one per line, or each over several lines.
/// Returns false where the last one is cut off. \throws as `visit_json`.
bool visit_json_stream(TextSource& source, const std::function<void(std::string_view text)>& element);

/// Parses one element, as `read_json`; NaN and Infinity, which Python writes, are null. \throws Error (usage) that
/// names the file.
nlohmann::json parse_element(std::string_view text, std::string_view file_name);

/// Returns a member of an object; null where there is none.
const nlohmann::json* json_member(const nlohmann::json& object, const char* name);
/// Returns a member that is an object itself; one without members where there is none.
const nlohmann::json& json_object(const nlohmann::json& object, const char* name);
/// Returns the text of a member; empty where there is none.
std::string json_text(const nlohmann::json& object, const char* name);
/// Returns the number of a member; NaN where there is none.
double json_number(const nlohmann::json& object, const char* name);
/// Returns the whole part of a number from 1 to less than 10^15 as such; 0 for others.
std::int64_t known_whole(double number);
/// Returns the first element of a list of texts; empty where `list` is null, no list, or does not begin with a text.
std::string json_first_text(const nlohmann::json* list);

/// Returns the elements of a tensor of the shape `[64, 3, 7, 7]`, 1 of `[]`; NaN for what is no shape.
double elements_of_shape(const nlohmann::json& shape);
/// Returns a number of elements as such; 0, which stands for "not known", for what is none from 1 to 10^12: beyond it,
/// sums of bytes would be lost.
std::int64_t known_elements(double number);

/// Returns the first character of a text that is no blank; 0 where there is none.
char first_mark(std::string_view text);

}  // namespace hbench
