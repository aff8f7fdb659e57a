#include "analysis/import/json_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "collectives/base/error.hpp"

namespace hbench {
namespace {

constexpr double kMostWhole = 1e9, kMostBytes = 1e15;
/// What is beyond is no quantity of this world, and would overflow when it is taken to another unit.
constexpr double kLeast = 1e-100, kMost = 1e100;

}  // namespace

bool JsonValue::has(const char* name) const { return value_->is_object() && value_->contains(name); }

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

}  // namespace hbench
