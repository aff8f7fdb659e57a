#include "reports/rows/row.hpp"

#include <algorithm>
#include <map>

#include "reports/formats/formats.hpp"

namespace hbench {
namespace {

std::string csv_cell(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_string()) return csv_field(value.get_ref<const std::string&>());
  if (!value.is_structured()) return value.dump();
  if (value.is_array() || !std::ranges::all_of(value, [](const Json& each) { return each.is_string(); }))
    return csv_field(value.dump());
  std::string pairs;
  for (const auto& [key, text] : value.items())
    pairs += (pairs.empty() ? "" : " ") + key + "=" + text.get_ref<const std::string&>();
  return csv_field(pairs);
}

}  // namespace

void Row::put(std::string_view name, Json json, std::string_view meaning) {
  if (form_ == Form::schema) {
    if (!meaning.empty()) json["description"] = meaning;
    required_.push_back(name);
  }
  fields_[std::string(name)] = std::move(json);
}

void Row::may_lack(bool lacking) {
  if (form_ == Form::schema)
    required_.erase(required_.size() - 1);
  else if (lacking)
    fields_.erase(std::prev(fields_.end()));
}

void Row::print(std::string_view title, std::string_view text, bool numeric, int priority) {
  cells_.push_back({{std::string(title), numeric, priority}, std::string(text)});
}

Json Row::json() const {
  if (form_ == Form::values) return fields_;
  return {{"type", "object"}, {"required", required_}, {"properties", fields_}};
}

void Row::append_to(Table& table) const {
  if (table.rows.empty())
    for (const Cell& cell : cells_) table.columns.push_back(cell.column);
  std::vector<std::string>& row = table.rows.emplace_back();
  for (const Cell& cell : cells_) row.push_back(cell.text);
}

Json table_json(Form form, const Table& table) {
  if (form == Form::schema) return {{"type", "array"}, {"items", kind_of<std::map<std::string, std::string>>()}};
  Json rows = Json::array();
  for (const auto& row : table.rows) {
    Json object;
    for (std::size_t i = 0; i < row.size(); ++i) object[table.columns[i].title] = row[i];
    rows.push_back(std::move(object));
  }
  return rows;
}

std::string csv_lines(const std::vector<Json>& objects) {
  std::string lines;
  const auto add = [&](const Json& object, const auto& text_of) {
    std::string line;
    for (const auto& [name, value] : object.items()) line += (line.empty() ? "" : ",") + text_of(name, value);
    lines += line + "\n";
  };
  if (!objects.empty()) add(objects.front(), [](const std::string& name, const Json&) { return name; });
  for (const Json& object : objects) add(object, [](const auto&, const Json& value) { return csv_cell(value); });
  return lines;
}

std::string json_text(Form form, std::string_view title, Json json) {
  if (form == Form::schema) {
    Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", title}};
    schema.update(json);
    json = std::move(schema);
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace hbench
