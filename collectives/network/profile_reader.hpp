#pragma once

/// Reads the tables of a profile: keys as checked figures, the price, and curves; private to the profile parser.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/base/toml_reader.hpp"
#include "collectives/network/curve.hpp"
#include "collectives/network/price.hpp"

namespace hbench {

/// Hints where a key is missing, and where a source is wrong.
inline constexpr std::string_view kProfileHelp = "cluster-profiles/README.md lists every key";
inline constexpr std::string_view kSourceHelp = "say where the figure comes from, or leave 'source' out";

/// The way one key is read: `apply` takes the value (its text, and its number when it is one) and throws Error when
/// that is invalid.
struct FigureKey {
  std::string_view name;
  bool required = false;
  std::function<void(std::string_view text, std::optional<double> number)> apply;
  bool is_flag = false;  ///< true or false, which `apply` takes as text
};

/// Reads `[section]` of `table` (the top level when `section` is empty). A value is plain (`"25 Gbit/s"`, `4`) or
/// `{ value = ..., source = "...", assumed = true }`. Appends what it read to `figures`. Unknown keys, unless listed in
/// `other_keys`, and missing required ones are Errors (usage).
void read_section(const TomlReader& read, const toml::table& table, std::string_view section,
                  const std::vector<FigureKey>& keys, const std::vector<std::string_view>& other_keys,
                  std::vector<Figure>& figures);

/// The text of a key whose value may not be a number. \throws Error (usage).
std::string text_alone(std::string_view text, std::optional<double> number);

/// `[price]`, of which every key is required; empty where there is none. Appends to `figures` as `read_section` does.
std::optional<Price> read_price(const TomlReader& read, const toml::table& table, std::vector<Figure>& figures);

struct Profile;
struct StatedCoding;
/// `[rates]`: samples/s by workload, as `resnet50 = 219`, `{ value = 219, batch = 64, source = "..." }` or a list of
/// those. What a later file states of a workload takes the place of all that an earlier one does. \throws Error
/// (usage).
void read_rates(const TomlReader& read, const toml::table& table, Profile& profile);

/// `[coding]`: what compressors were measured to take, as `fp16 = { encode = "0.1 ns", decode = "0.1 ns", call = "2
/// us", source = "..." }`; times for a byte of float32, and for a call. None where there is no such section. \throws
/// Error (usage) for unknown keys and compressors, and for what is no time.
std::map<std::string, StatedCoding, std::less<>> read_coding(const TomlReader& read, const toml::table& table);

/// `[[collectives]]`: the curves of a profile, in file order; none where it has none. `times` is a list of pairs
/// `["64KiB", "44.6 us"]`. \throws Error (usage) with file and line: for keys that are unknown or missing, names that
/// nothing knows, a size or time without its unit, sizes that do not ascend, times that fall (`kMostFall`), and two
/// curves of one question.
std::vector<MeasuredCurve> read_curves(const toml::table& profile, std::string_view file_name);

}  // namespace hbench
