#pragma once

/// Types as JSON and back, for what programs of ours tell each other. A type describes its fields once, for both ways:
///
///     template <class Walk, Either<StepLine> Line>
///     void describe_fields(Walk& walk, Line& line) {
///       walk("rank", line.rank)("seconds", line.seconds);
///     }
///
/// From then on `nlohmann::json` makes an object of it, `get_to` reads one, and so do containers of it. What is read
/// throws `nlohmann::json::exception` for a field that lacks or has another type.

#include <concepts>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <nlohmann/json.hpp>

#include "collectives/base/units.hpp"

namespace hbench {

/// A `T` that is written, and is const, or one that is read.
template <class Given, class T>
concept Either = std::same_as<std::remove_const_t<Given>, T>;

class JsonFieldWriter {
 public:
  explicit JsonFieldWriter(nlohmann::json& object) : object_(object) {}

  template <class T>
  JsonFieldWriter& operator()(const char* name, const T& value) {
    object_[name] = value;
    return *this;
  }
  template <class T>
  JsonFieldWriter& operator()(const char* name, const std::optional<T>& value) {
    object_[name] = value ? nlohmann::json(*value) : nlohmann::json(nullptr);
    return *this;
  }
  template <class T>
  JsonFieldWriter& if_there(const char* name, const T& value) {
    return (*this)(name, value);
  }

 private:
  nlohmann::json& object_;
};

class JsonFieldReader {
 public:
  explicit JsonFieldReader(const nlohmann::json& object) : object_(object) {}

  template <class T>
  JsonFieldReader& operator()(const char* name, T& value) {
    object_.at(name).get_to(value);
    return *this;
  }
  template <class T>
  JsonFieldReader& operator()(const char* name, std::optional<T>& value) {
    const nlohmann::json& field = object_.at(name);
    value = field.is_null() ? std::nullopt : std::optional(field.get<T>());
    return *this;
  }
  /// Leaves `value` as it is where the field lacks.
  template <class T>
  JsonFieldReader& if_there(const char* name, T& value) {
    return object_.contains(name) ? (*this)(name, value) : *this;
  }
  /// JSON has no infinity and no NaN: what is written of them is null, which is read as infinity.
  JsonFieldReader& operator()(const char* name, std::vector<double>& values) {
    values.clear();
    for (const nlohmann::json& value : object_.at(name))
      values.push_back(value.is_null() ? std::numeric_limits<double>::infinity() : value.get<double>());
    return *this;
  }

 private:
  const nlohmann::json& object_;
};

template <class T>
concept Described = requires(JsonFieldWriter& walk, const T& value) {
  describe_fields(walk, value);
};

template <Described T>
void to_json(nlohmann::json& object, const T& value) {
  object = nlohmann::json::object();
  JsonFieldWriter walk(object);
  describe_fields(walk, value);
}
template <Described T>
void from_json(const nlohmann::json& object, T& value) {
  JsonFieldReader walk(object);
  describe_fields(walk, value);
}

template <class Tag>
void to_json(nlohmann::json& json, const Quantity<Tag>& quantity) {
  json = quantity.value;
}
template <class Tag>
void from_json(const nlohmann::json& json, Quantity<Tag>& quantity) {
  json.get_to(quantity.value);
}

/// One line, in which what is no UTF-8 is replaced.
inline std::string json_line(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace hbench
