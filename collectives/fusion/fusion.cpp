#include "collectives/fusion/fusion.hpp"

#include <fmt/format.h>

#include <cmath>

#include "collectives/base/error.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t size;
};

constexpr Unit kSizes[] = {{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}};
constexpr Unit kTimes[] = {{"s", 1'000'000'000}, {"ms", 1'000'000}, {"us", 1'000}, {"ns", 1}};
constexpr Unit kRates[] = {{"Gbit/s", 125'000'000}, {"Mbit/s", 125'000}, {"kbit/s", 125}, {"B/s", 1}};
constexpr double kNanoseconds = 1e9;  // per second
/// Whole numbers up to here are exact in a double.
constexpr double kLargest = 0x1p53;

enum class FieldKind : std::uint8_t { size, time, rate };

FieldKind kind_of(std::string_view text) {
  if (text.ends_with("/s")) return FieldKind::rate;
  return text.ends_with('s') ? FieldKind::time : FieldKind::size;
}

/// A field's value in whole bytes, nanoseconds, or bytes per second.
struct Amount {
  std::int64_t count = 0;
  FieldKind kind = FieldKind::size;

  std::string text() const {
    const std::span<const Unit> units = kind == FieldKind::time   ? std::span<const Unit>(kTimes)
                                        : kind == FieldKind::rate ? std::span<const Unit>(kRates)
                                                                  : std::span<const Unit>(kSizes);
    const Unit* unit = units.data();
    while (count % unit->size != 0) ++unit;
    return fmt::format("{}{}", count / unit->size, unit->name);
  }
};

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> fields;
  if (text.empty()) return fields;
  for (std::size_t colon = 0; (colon = text.find(':')) != std::string_view::npos; text.remove_prefix(colon + 1))
    fields.push_back(text.substr(0, colon));
  fields.push_back(text);
  return fields;
}

double count_of(std::string_view text, FieldKind kind) {
  switch (kind) {
    case FieldKind::time:
      return std::round(parse_seconds(text).value * kNanoseconds);
    case FieldKind::rate:
      return std::round(parse_rate(text).value);
    case FieldKind::size:
      break;
  }
  return std::round(parse_bytes(text).value);
}

Amount parse_amount(std::string_view text, FieldKind kind) {
  static constexpr std::string_view kLeast[] = {"at least one byte", "from 1 ns on", "from 8 bit/s on"};
  const double count = count_of(text, kind);
  if (!(count >= 1 && count <= kLargest))
    throw Error(ExitCode::usage, fmt::format("'{}' is out of range", text),
                std::string(kLeast[static_cast<std::size_t>(kind)]));
  return {static_cast<std::int64_t>(count), kind};
}

std::string right_form(const Fusion& fusion) {
  if (fusion.fields.empty()) return fmt::format("write {}", fusion.name);
  return fmt::format("write {0}:{1}, such as {0}:{2}", fusion.name, fusion.fields, fusion.defaults);
}

Error too_many(const Fusion& fusion, std::size_t known, std::string_view given, std::size_t count) {
  const std::string but =
      known == 0 ? fmt::format("takes no parameters, but '{}' was given", given)
                 : fmt::format("takes {} parameter{}, but '{}' has {}", known, known == 1 ? "" : "s", given, count);
  return Error(ExitCode::usage, fmt::format("fusion policy '{}' {}", fusion.name, but), right_form(fusion));
}

std::vector<Amount> read(const Fusion& fusion, std::string_view given) {
  const auto names = split(fusion.fields);
  const auto defaults = split(fusion.defaults);
  const auto texts = split(given);
  if (texts.size() > names.size()) throw too_many(fusion, names.size(), given, texts.size());
  std::vector<Amount> amounts;
  for (std::size_t i = 0; i < names.size(); ++i) {
    try {
      amounts.push_back(parse_amount(i < texts.size() ? texts[i] : defaults[i], kind_of(defaults[i])));
    } catch (const Error& error) {
      throw Error(ExitCode::usage, fmt::format("{} of fusion policy '{}': {}", names[i], fusion.name, error.what()),
                  fmt::format("{} ({})", right_form(fusion), error.hint()));
    }
  }
  return amounts;
}

}  // namespace

std::vector<double> read_parameters(const Fusion& fusion, std::string_view given) {
  std::vector<double> values;
  for (const Amount& amount : read(fusion, given))
    values.push_back(static_cast<double>(amount.count) / (amount.kind == FieldKind::time ? kNanoseconds : 1));
  return values;
}

std::string canonical_parameters(const Fusion& fusion, std::string_view given) {
  std::string text;
  for (const Amount& amount : read(fusion, given)) {
    if (!text.empty()) text += ':';
    text += amount.text();
  }
  return text;
}

}  // namespace hbench
