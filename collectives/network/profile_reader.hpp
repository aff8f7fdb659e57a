#pragma once

/// Reads keys of a TOML table as checked figures; private to the profile parser.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/base/toml_file.hpp"
#include "collectives/network/figure.hpp"
#include "collectives/network/price.hpp"

namespace hbench {

/// The way one key is read: `apply` takes the value (its text, and its number when it is one) and throws Error when
/// that is invalid.
struct FigureKey {
  std::string_view name;
  bool required = false;
  std::function<void(std::string_view text, std::optional<double> number)> apply;
};

/// Reads `[section]` of `table` (the top level when `section` is empty). A value is plain (`"25 Gbit/s"`, `4`) or
/// `{ value = ..., source = "...", assumed = true }`. Appends what it read to `figures`. Unknown keys, unless listed in
/// `other_keys`, and missing required ones are Errors (usage).
void read_section(const toml::table& table, std::string_view section, std::string_view file_name,
                  const std::vector<FigureKey>& keys, const std::vector<std::string_view>& other_keys,
                  std::vector<Figure>& figures);

/// `[price]`, of which every key is required; empty where there is none. Appends to `figures` as `read_section` does.
std::optional<Price> read_price(const toml::table& table, std::string_view file_name, std::vector<Figure>& figures);

}  // namespace hbench
