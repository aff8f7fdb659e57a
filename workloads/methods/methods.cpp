#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "collectives/base/error.hpp"
#include "collectives/base/parameters.hpp"
#include "collectives/base/table.hpp"
#include "workloads/methods/method.hpp"

namespace hbench {

extern const Method kSynchronous;
extern const Method kZero;
extern const Method kFsdp;
extern const Method kFsdpKeeping;
extern const Method kLocalSgd;
extern const Method kAsyncServers;
extern const Method kStaleServers;
extern const Method kDecentralized;
extern const Method kGossip;

std::span<const Method* const> methods() {
  static constexpr std::array kTable{&kSynchronous,  &kZero,         &kFsdp,          &kFsdpKeeping, &kLocalSgd,
                                     &kAsyncServers, &kStaleServers, &kDecentralized, &kGossip};
  return kTable;
}

std::string MethodChoice::text() const {
  std::size_t count = values.size();
  while (count > 1 && values[count - 1] == method->fields[count - 1].standard) --count;
  std::string text(method->name);
  for (std::size_t i = 0; i < count; ++i) text += fmt::format(":{}", values[i]);
  return text;
}

bool MethodChoice::is_synchronous() const { return method == &kSynchronous; }

namespace {

/// `zero:1`: the name with the standard values.
std::string example_of(const Method& method) {
  std::string text(method.name);
  for (const MethodField& field : method.fields) text += fmt::format(":{}", field.standard);
  return text;
}

/// \throws Error (usage) where `given` is no number of the field's range.
double parse_value(const Method& method, const MethodField& field, std::string_view given) {
  double value = 0;
  const char* const last = given.data() + given.size();
  const auto [end, error] = std::from_chars(given.data(), last, value);
  const bool in_range = value >= field.smallest && value <= field.largest;
  if (error == std::errc() && end == last && in_range && (!field.whole || value == std::floor(value))) return value;
  throw Error(ExitCode::usage,
              fmt::format("'{}' is not the {} of {}, a {}number from {} to {}", given, field.name, method.name,
                          field.whole ? "whole " : "", field.smallest, field.largest),
              fmt::format("write {}", example_of(method)));
}

}  // namespace

MethodChoice parse_method(std::string_view text) {
  if (text == "zero:3") text = kFsdp.name;  // what DeepSpeed calls it
  const std::vector<std::string_view> parts = split(text, ':');
  const Method& method = find_entry(methods(), parts.front(), "method");
  if (parts.size() > method.fields.size() + 1)
    throw Error(
        ExitCode::usage,
        fmt::format("{} takes {} after its name, and '{}' has more", method.name,
                    method.fields.empty() ? "no number" : fmt::format("{} at most", method.fields.size()), text),
        fmt::format("write {}", example_of(method)));
  MethodChoice choice{.method = &method};
  for (std::size_t i = 0; i < method.fields.size(); ++i)
    choice.values.push_back(i + 1 < parts.size() ? parse_value(method, method.fields[i], parts[i + 1])
                                                 : method.fields[i].standard);
  return choice;
}

}  // namespace hbench
