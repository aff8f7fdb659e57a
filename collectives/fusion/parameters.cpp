#include "collectives/fusion/parameters.hpp"

#include <fmt/format.h>

#include <cmath>
#include <span>

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
constexpr double kNanoseconds = 1e9;  // per second
/// Whole numbers up to here are exact in a double.
constexpr double kLargest = 0x1p53;

/// A field's value in whole bytes or whole nanoseconds.
struct Amount {
  std::int64_t count = 0;
  bool is_time = false;

  std::string text() const {
    const std::span<const Unit> units = is_time ? std::span(kTimes) : std::span(kSizes);
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

bool is_time(std::string_view text) { return text.ends_with('s'); }

Amount parse_amount(std::string_view text, bool time) {
  const double count = std::round(time ? parse_seconds(text).value * kNanoseconds : parse_bytes(text).value);
  if (!(count >= 1 && count <= kLargest))
    throw Error(ExitCode::usage, fmt::format("'{}' is out of range", text),
                time ? "from 1 ns on" : "at least one byte");
  return {static_cast<std::int64_t>(count), time};
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
      amounts.push_back(parse_amount(i < texts.size() ? texts[i] : defaults[i], is_time(defaults[i])));
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
    values.push_back(static_cast<double>(amount.count) / (amount.is_time ? kNanoseconds : 1));
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
