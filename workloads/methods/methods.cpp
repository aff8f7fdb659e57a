#include <fmt/format.h>

#include <array>
#include <charconv>

#include "collectives/base/error.hpp"
#include "collectives/base/table.hpp"
#include "workloads/methods/method.hpp"

namespace hbench {

extern const Method kSynchronous;
extern const Method kZero;
extern const Method kFsdp;
extern const Method kFsdpKeeping;
extern const Method kLocalSgd;

std::span<const Method* const> methods() {
  static constexpr std::array kTable{&kSynchronous, &kZero, &kFsdp, &kFsdpKeeping, &kLocalSgd};
  return kTable;
}

std::string MethodChoice::text() const {
  return parameter == 0 ? std::string(method->name) : fmt::format("{}:{}", method->name, parameter);
}

bool MethodChoice::is_synchronous() const { return method == &kSynchronous; }

namespace {

/// \throws Error (usage) where it is no whole number within the method's range.
int parse_parameter(const Method& method, std::string_view given) {
  if (method.field.empty())
    throw Error(ExitCode::usage, fmt::format("{} has no parameter, and '{}' follows it", method.name, given),
                fmt::format("write {}", method.name));
  int value = 0;
  const char* const last = given.data() + given.size();
  const auto [end, error] = std::from_chars(given.data(), last, value);
  if (error == std::errc() && end == last && value >= 1 && value <= method.largest) return value;
  throw Error(ExitCode::usage,
              fmt::format("'{}' is not the {} of {}, a whole number from 1 to {}", given, method.field, method.name,
                          method.largest),
              fmt::format("write {}:{}", method.name, method.standard));
}

}  // namespace

MethodChoice parse_method(std::string_view text) {
  if (text == "zero:3") text = kFsdp.name;  // what DeepSpeed calls it
  const std::size_t colon = text.find(':');
  const Method& method = find_entry(methods(), text.substr(0, colon), "method");
  if (colon != std::string_view::npos) return {&method, parse_parameter(method, text.substr(colon + 1))};
  return {&method, method.field.empty() ? 0 : parse_parameter(method, method.standard)};
}

}  // namespace hbench
