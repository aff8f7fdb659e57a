#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "collectives/base/error.hpp"
#include "collectives/base/parameters.hpp"
#include "collectives/base/table.hpp"
#include "workloads/methods/method.hpp"

namespace hbench {

extern const Method kSynchronous;
extern const Method kZero;
extern const Method kFsdp;
extern const Method kFsdpKeeping;
extern const Method kHsdp;
extern const Method kLocalSgd;
extern const Method kPostLocalSgd;
extern const Method kDiloco;
extern const Method kAsyncServers;
extern const Method kStaleServers;
extern const Method kDecentralized;
extern const Method kGossip;
extern const Method kLateCompression;
extern const Method kOneBitAdam;
extern const Method kQAdam;
extern const Method kTensor;
extern const Method kPipeline;

std::span<const Method* const> methods() {
  static constexpr std::array kTable{
      &kSynchronous,     &kZero,       &kFsdp,         &kFsdpKeeping,  &kHsdp,          &kLocalSgd,
      &kPostLocalSgd,    &kDiloco,     &kAsyncServers, &kStaleServers, &kDecentralized, &kGossip,
      &kLateCompression, &kOneBitAdam, &kQAdam,        &kTensor,       &kPipeline};
  return kTable;
}

namespace {

std::string text_of(const Method& method, const std::vector<double>& values) {
  return text_with_numbers(method.name, method.fields, values, 1);
}

}  // namespace

std::string MethodChoice::text() const {
  std::vector<std::string> parts;
  if (division.tensor > 1) parts.push_back(text_of(kTensor, {static_cast<double>(division.tensor)}));
  if (division.stages > 1 || division.micro_batches > 1)
    parts.push_back(
        text_of(kPipeline, {static_cast<double>(division.stages), static_cast<double>(division.micro_batches),
                            static_cast<double>(division.chunks)}));
  if (method != &kSynchronous || parts.empty()) parts.push_back(text_of(*method, values));
  return fmt::format("{}", fmt::join(parts, "+"));
}

bool MethodChoice::is_synchronous() const { return method == &kSynchronous && division.none(); }

namespace {

/// One method of those that go together.
MethodChoice parse_part(std::string_view text) {
  // What DeepSpeed and PyTorch call them.
  if (text == "zero:3") text = kFsdp.name;
  constexpr std::string_view kAverage = "model-average";
  std::string average;
  if (text.starts_with(kAverage)) text = average = fmt::format("{}{}", kLocalSgd.name, text.substr(kAverage.size()));
  const Method& method = find_entry(methods(), split(text, ':').front(), "method");
  std::vector<double> values = parse_numbers(text, method.name, method.fields);
  if (const std::string why = method.refuses == nullptr ? "" : method.refuses(values); !why.empty())
    throw Error(ExitCode::usage, fmt::format("{}: {}", text, why),
                fmt::format("hbench list methods --draw {} shows one that works", method.name));
  return {.method = &method, .values = std::move(values)};
}

/// ZeRO's second stage would scatter gradients for each micro-batch, and a gather of whole units knows no stages.
bool goes_with_divided_models(const MethodChoice& choice) {
  return choice.method == &kSynchronous || (choice.method == &kZero && choice.values[0] == 1);
}

}  // namespace

MethodChoice parse_method(std::string_view text) {
  MethodChoice all{.method = &kSynchronous};
  std::vector<const Method*> seen;
  const std::vector<std::string_view> parts = split(text, '+');
  if (std::ranges::any_of(parts, [](std::string_view part) { return part.empty(); }))
    throw unknown_name("method", text, names_of(methods()));
  for (const std::string_view part : parts) {
    MethodChoice one = parse_part(part);
    const bool repeats = std::ranges::any_of(seen, [&](const Method* other) {
      return other == one.method || (other->divide == nullptr && one.method->divide == nullptr);
    });
    if (repeats)
      throw Error(
          ExitCode::usage, fmt::format("'{}' says twice what its ranks do", text),
          one.trains_alone() || all.trains_alone() ? kNodeAsOneGpu : "write such as tensor:8+pipeline:4:8+zero:1");
    seen.push_back(one.method);
    if (one.method->divide != nullptr) {
      one.method->divide(one.values, all.division);
    } else {
      all.method = one.method;
      all.values = std::move(one.values);
    }
  }
  if (!all.division.none() && !goes_with_divided_models(all))
    throw Error(ExitCode::usage, fmt::format("{} does not go with a model that is divided", all.method->name),
                all.trains_alone() ? kNodeAsOneGpu : "synchronous and zero:1 do");
  return all;
}

bool MethodChoice::trains_alone() const {
  return std::ranges::any_of(method->fields, [](const NumberField& field) { return field.name == "period"; });
}

std::optional<MethodChoice> known_method(std::string_view text) {
  try {
    return parse_method(text.empty() ? kSynchronous.name : text);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace hbench
