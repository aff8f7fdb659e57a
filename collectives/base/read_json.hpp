#pragma once

/// The one way in which JSON of others is parsed, whoever wrote it.

#include <nlohmann/json.hpp>
#include <string_view>

namespace hbench {

/// Returns why a text of JSON must not be parsed: it is nested more than 64 deep, which nlohmann::json copies by
/// recursion, or has more than 500,000 values, which take many times the memory of their text. Empty: it may be.
std::string_view json_excess(std::string_view text);

/// Parses a text; discarded for what is no JSON and for what `json_excess` names.
template <class Json = nlohmann::json>
Json read_json(std::string_view text) {
  return json_excess(text).empty() ? Json::parse(text, nullptr, false) : Json(Json::value_t::discarded);
}

}  // namespace hbench
