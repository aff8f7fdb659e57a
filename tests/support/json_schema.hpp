#pragma once

/// JSON against the JSON Schemas that are published: the keywords that they use, and no others.

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace hbench {

/// Whether a value is of a type as JSON Schema names it.
inline bool is_of_type(const nlohmann::json& value, const std::string& type) {
  if (type == "integer") return value.is_number_integer();
  return type == (value.is_number() ? "number" : value.type_name());
}

/// The first place where `value` breaks `schema`, and why; empty where it keeps it. A field that the schema does not
/// name is a break too, so that each field is documented. `root` is what `$ref` points into.
inline std::string broken_by(const nlohmann::json& value, const nlohmann::json& schema, const nlohmann::json& root,
                             const std::string& place = "$") {
  using nlohmann::json;
  static const std::set<std::string> kSilent{"$schema", "$defs",      "title",    "description",         "format",
                                             "items",   "properties", "required", "additionalProperties"};
  for (const auto& [key, limit] : schema.items()) {
    bool holds = true;
    if (key == "$ref")
      return broken_by(value, root.at(json::json_pointer(limit.get<std::string>().substr(1))), root, place);
    if (key == "type") {
      holds = false;
      for (const json& type : limit.is_array() ? limit : json::array({limit}))
        holds = holds || is_of_type(value, type.get<std::string>());
    } else if (key == "enum") {
      holds = std::ranges::find(limit, value) != limit.end();
    } else if (key == "const") {
      holds = value == limit;
    } else if (key == "minLength") {
      holds = !value.is_string() || value.get<std::string>().size() >= limit.get<std::size_t>();
    } else if (key == "minimum" || key == "exclusiveMinimum" || key == "maximum" || key == "exclusiveMaximum") {
      holds = !value.is_number() || (key == "minimum"            ? value >= limit
                                     : key == "exclusiveMinimum" ? value > limit
                                     : key == "maximum"          ? value <= limit
                                                                 : value < limit);
    } else if (!kSilent.contains(key)) {
      return place + ": the schema has " + key + ", which nothing here reads";
    }
    if (!holds) return place + ": " + value.dump() + " breaks " + key + " " + limit.dump();
  }
  std::string broken;
  if (value.is_array() && schema.contains("items"))
    for (std::size_t i = 0; i < value.size() && broken.empty(); ++i)
      broken = broken_by(value[i], schema["items"], root, place + "[" + std::to_string(i) + "]");
  if (!value.is_object()) return broken;
  for (const json& name : schema.value("required", json::array()))
    if (!value.contains(name.get<std::string>())) return place + " lacks " + name.dump();
  for (const auto& [name, field] : value.items()) {
    const json* known = nullptr;
    if (schema.contains("properties") && schema["properties"].contains(name))
      known = &schema["properties"][name];
    else if (schema.contains("additionalProperties"))
      known = &schema["additionalProperties"];
    else if (schema.contains("properties"))
      return place + "." + name + " is in no schema";
    if (known != nullptr) broken = broken_by(field, *known, root, place + "." + name);
    if (!broken.empty()) return broken;
  }
  return broken;
}

/// The same for texts.
inline std::string broken_by(const std::string& text, const std::string& schema) {
  const nlohmann::json root = nlohmann::json::parse(schema);
  return broken_by(nlohmann::json::parse(text), root, root);
}

}  // namespace hbench
