#pragma once

/// What a node of a cluster costs for an hour, and everything that a reader must know to judge it: prices change more
/// often than clusters do. Sums of money are never converted from one currency to another.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hbench {

/// What stands for a region or date that the source of a price does not state.
inline constexpr std::string_view kNotStated = "not stated";

/// How a node is bought.
enum class PurchaseModel : std::uint8_t { on_demand, spot, reserved, capacity_block };

/// `on-demand`, `spot`, `reserved`, `capacity-block`: as profiles write it.
std::string_view to_string(PurchaseModel model);
/// \throws Error (usage) with a suggestion.
PurchaseModel parse_purchase_model(std::string_view text);

/// A sum of money.
struct Money {
  double amount = 0;
  std::string currency;  ///< ISO 4217 code: `USD`
  bool operator==(const Money&) const = default;
};

/// The three letters of a currency, `usd` or `USD`, as `USD`; empty where `text` is none.
std::string parse_currency(std::string_view text);
/// `500usd`, `500 EUR`, `500` (dollars). Empty where that is no sum above 0.
std::optional<Money> parse_money(std::string_view text);
/// `6.88 USD`: two decimals below 100, whole above.
std::string format(const Money& money);

/// See the top of the file.
struct Price {
  Money per_node_hour;
  std::string region;     ///< as the provider calls it, or `kNotStated`
  std::string retrieved;  ///< when the source stated it: `2026-09-20`, `2018-03`, `2026`, or `kNotStated`
  PurchaseModel model = PurchaseModel::on_demand;
  std::string source;
  bool operator==(const Price&) const = default;
};

/// The first day that a date of a price may mean; empty where it is none or not stated.
std::optional<std::chrono::sys_days> first_day(std::string_view retrieved);
/// `2026-09-20`: a day as `Price::retrieved` has it.
std::string date_text(std::chrono::sys_days day);
/// `on-demand, us-east-1, 2026-11-09`: what a figure in money is worth nothing without.
std::string terms(const Price& price);

}  // namespace hbench
