#pragma once

/// Typed tables: one description of a row's fields gives JSON, the schema of that JSON, CSV and the printed table. A
/// description is a function that adds the fields of one value to a `Row`, each with its name and in JSON's order:
///
///     void step_fields(Row& row, const Step& step) {
///       row.field("workload", step.workload).in("workload");
///       row.field("step_seconds", step.seconds, "median of the launches").in("median step", seconds_text);
///       row.field("p", if_known(step.compared, step.p), "of the rank test").in("p", short_number, 3);
///     }
///     Table table = table_of(steps, step_fields, {.caption = "Steps"});
///     std::string json = rows_text(form, "hbench steps --json", steps, step_fields);
///
/// The type of a value decides the type in the schema, and whether a column has numbers. A schema is made of the same
/// call with a default value, so that a description must not need more than that. Pure.

#include <concepts>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "reports/document/document.hpp"

namespace hbench {

using Json = nlohmann::ordered_json;

/// What a description is asked for: the values of an answer, or the JSON Schema of all such answers.
enum class Form : std::uint8_t { values, schema };

/// Null in JSON where the text is empty.
inline std::optional<std::string> if_stated(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional<std::string>(text);
}
/// Null in JSON where `known` is false.
template <class T>
std::optional<T> if_known(bool known, T value) {
  return known ? std::optional(std::move(value)) : std::nullopt;
}
/// Null in JSON for 0 and less, which stand for "not stated".
template <class T>
std::optional<T> if_positive(T value) {
  return if_known(value > 0, value);
}

template <class T>
constexpr bool kIsOptional = false;
template <class T>
constexpr bool kIsOptional<std::optional<T>> = true;

/// Whether a column of the type is words, and stands at the left.
template <class T>
constexpr bool kIsWords = std::same_as<T, bool> || std::convertible_to<const T&, std::string_view>;
template <class T>
constexpr bool kIsWords<std::optional<T>> = kIsWords<T>;

/// The schema of all values of a type.
template <class T>
Json kind_of() {
  if constexpr (kIsOptional<T>) {
    Json kind = kind_of<typename T::value_type>();
    kind["type"] = Json::array({kind["type"], "null"});
    return kind;
  } else if constexpr (std::same_as<T, bool>) {
    return {{"type", "boolean"}};
  } else if constexpr (std::integral<T>) {
    return {{"type", "integer"}};
  } else if constexpr (std::floating_point<T>) {
    return {{"type", "number"}};
  } else if constexpr (std::convertible_to<const T&, std::string_view>) {
    return {{"type", "string"}};
  } else if constexpr (requires { typename T::mapped_type; }) {
    return {{"type", "object"}, {"additionalProperties", kind_of<typename T::mapped_type>()}};
  } else {
    return {{"type", "array"}, {"items", kind_of<typename T::value_type>()}};
  }
}

template <class T>
Json json_of(const T& value) {
  if constexpr (kIsOptional<T>)
    return value ? json_of(*value) : Json();
  else
    return Json(value);
}

/// A value as people read it where nothing else is asked for; `-` where there is none.
template <class T>
std::string cell_text(const T& value) {
  if constexpr (kIsOptional<T>)
    return value ? cell_text(*value) : "-";
  else if constexpr (std::same_as<T, bool>)
    return value ? "yes" : "no";
  else if constexpr (std::integral<T>)
    return std::to_string(value);
  else
    return std::string(value);
}

class Row;

/// A field that a row has just got, with its value: `in` prints it too.
template <class T>
class Field {
 public:
  Field(Row& row, const T& value) : row_(row), value_(value) {}
  /// The next column of a printed table; `priority` as in `Table`. `text` is a text, or makes one of a value that is
  /// there; `absent` is printed where there is none, a reason if one is known.
  void in(std::string_view title, int priority = 0) const { in(title, cell_text(value_), priority); }
  template <class Text>
  requires(!std::convertible_to<Text, int>) void in(std::string_view title, Text text, int priority = 0,
                                                    std::string_view absent = "-") const;
  /// The same for a text that is a number with its unit.
  void in_number(std::string_view title, int priority = 0) const;

 private:
  Row& row_;
  const T& value_;
};

class Row {
 public:
  explicit Row(Form form = Form::values) : form_(form) {}
  Form form() const { return form_; }

  /// A value with its name in JSON and what the schema says of it. \pre `value` outlives the call of `in`.
  template <class T>
  Field<T> field(std::string_view name, const T& value, std::string_view meaning = {}) {
    put(name, form_ == Form::values ? json_of(value) : kind_of<T>(), meaning);
    return {*this, value};
  }
  /// A value with fields of its own, or an optional one.
  template <class T, class Describe>
  Field<T> object(std::string_view name, const T& value, Describe describe, std::string_view meaning = {});
  /// A list of values with fields of their own. Pointers stand for what they point to.
  template <class Items, class Describe>
  void rows(std::string_view name, const Items& items, Describe describe, std::string_view meaning = {});
  /// JSON made elsewhere: a value, or, where `form` asks for it, a schema.
  void put(std::string_view name, Json json, std::string_view meaning = {});
  /// The last field is left out of JSON where `lacking`, and so no schema requires it.
  void may_lack(bool lacking);

  /// A column that only printed tables have.
  void words(std::string_view title, std::string_view text, int priority = 0) { print(title, text, false, priority); }
  void number(std::string_view title, std::string_view text, int priority = 0) { print(title, text, true, priority); }
  void print(std::string_view title, std::string_view text, bool numeric, int priority);

  /// All fields as an object, or its schema.
  Json json() const;
  /// Appends what is printed; the first row of a table gives it its columns.
  void append_to(Table& table) const;

 private:
  struct Cell {
    TableColumn column;
    std::string text;
  };
  Form form_;
  Json fields_ = Json::object();
  Json required_ = Json::array();
  std::vector<Cell> cells_;
};

template <class T>
const T& target(const T& value) {
  return value;
}
template <class T>
const T& target(const T* value) {
  return *value;
}

template <class T, class Describe>
Json json_of(Form form, const T& value, Describe describe) {
  Row row(form);
  describe(row, value);
  return row.json();
}

template <class Items, class Describe>
Json rows_json(Form form, const Items& items, Describe describe) {
  using Item = std::remove_cvref_t<decltype(target(*std::begin(items)))>;
  if (form == Form::schema)
    return {{"type", "array"},
            {"items", std::empty(items) ? json_of(form, Item{}, describe)
                                        : json_of(form, target(*std::begin(items)), describe)}};
  Json array = Json::array();
  for (const auto& item : items) array.push_back(json_of(form, target(item), describe));
  return array;
}

template <class T, class Describe>
Field<T> Row::object(std::string_view name, const T& value, Describe describe, std::string_view meaning) {
  if constexpr (kIsOptional<T>) {
    Json json;
    if (value || form_ == Form::schema) json = json_of(form_, value.value_or(typename T::value_type{}), describe);
    if (form_ == Form::schema) json["type"] = Json::array({"object", "null"});
    put(name, std::move(json), meaning);
  } else {
    put(name, json_of(form_, value, describe), meaning);
  }
  return {*this, value};
}

template <class Items, class Describe>
void Row::rows(std::string_view name, const Items& items, Describe describe, std::string_view meaning) {
  put(name, rows_json(form_, items, describe), meaning);
}

template <class T>
template <class Text>
requires(!std::convertible_to<Text, int>) void Field<T>::in(std::string_view title, Text text, int priority,
                                                            std::string_view absent) const {
  if constexpr (std::convertible_to<Text, std::string_view>)
    row_.print(title, text, !kIsWords<T>, priority);
  else if constexpr (kIsOptional<T>)
    row_.print(title, value_ ? std::string(text(*value_)) : std::string(absent), !kIsWords<T>, priority);
  else
    row_.print(title, text(value_), !kIsWords<T>, priority);
}

template <class T>
void Field<T>::in_number(std::string_view title, int priority) const {
  row_.number(title, cell_text(value_), priority);
}

/// The printed columns of all items in a table that has its caption and other marks already.
template <class Items, class Describe>
Table table_of(const Items& items, Describe describe, Table table = {}) {
  for (const auto& item : items) {
    Row row;
    describe(row, target(item));
    row.append_to(table);
  }
  return table;
}

/// A table of texts as an array of objects, whose names are the columns'.
Json table_json(Form form, const Table& table);

/// JSON objects as CSV: a line for each after the names of the first. Null is empty, labels are `branch=main
/// commit=abc`.
std::string csv_lines(const std::vector<Json>& objects);

/// JSON as files and the terminal get it; text that is no UTF-8 is replaced. A schema gets the title.
std::string json_text(Form form, std::string_view title, Json json);
/// One value as an object, or the schema of that.
template <class T, class Describe>
std::string object_text(Form form, std::string_view title, const T& value, Describe describe) {
  return json_text(form, title, json_of(form, value, describe));
}
/// Values as an array, or the schema of that.
template <class Items, class Describe>
std::string rows_text(Form form, std::string_view title, const Items& items, Describe describe) {
  return json_text(form, title, rows_json(form, items, describe));
}

}  // namespace hbench
