#include "collectives/network/price.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "collectives/base/table.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// More than anybody has.
constexpr double kMostMoney = 1e15;
constexpr std::array<std::string_view, 4> kModels{"on-demand", "spot", "reserved", "capacity-block"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// The next `digits` digits of `text`, which is shortened by them.
std::optional<int> take_number(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  int number = 0;
  for (const char c : text.substr(0, digits)) {
    if (c < '0' || c > '9') return std::nullopt;
    number = 10 * number + (c - '0');
  }
  text.remove_prefix(digits);
  return number;
}

/// The number after a dash; 1 where nothing follows.
std::optional<int> take_part(std::string_view& text) {
  if (text.empty()) return 1;
  if (text.front() != '-') return std::nullopt;
  text.remove_prefix(1);
  return take_number(text, 2);
}

}  // namespace

std::string_view to_string(PurchaseModel model) { return kModels.at(static_cast<std::size_t>(model)); }

PurchaseModel parse_purchase_model(std::string_view text) {
  for (std::size_t i = 0; i < kModels.size(); ++i)
    if (kModels[i] == text) return static_cast<PurchaseModel>(i);
  throw unknown_name("purchase model", text, kModels);
}

std::string parse_currency(std::string_view text) {
  if (text.size() != 3 || !is_letter(text[0]) || !is_letter(text[1]) || !is_letter(text[2])) return {};
  std::string code(text);
  for (char& c : code) c = static_cast<char>(c & ~0x20);
  return code;
}

std::optional<Money> parse_money(std::string_view text) {
  const auto [amount, unit] = parse_leading_number<double>(text).value_or(std::pair(0.0, text));
  if (!(amount > 0 && amount < kMostMoney)) return std::nullopt;
  Money money{.amount = amount, .currency = "USD"};
  if (const std::string_view letters = trimmed(unit); !letters.empty()) money.currency = parse_currency(letters);
  if (money.currency.empty()) return std::nullopt;
  return money;
}

std::string format(const Money& money) {
  return fmt::format("{:.{}f} {}", money.amount, money.amount < 99.995 ? 2 : 0, money.currency);
}

std::optional<std::chrono::sys_days> first_day(std::string_view retrieved) {
  const auto year = take_number(retrieved, 4);
  const auto month = take_part(retrieved), day = take_part(retrieved);
  if (!year || !month || !day || !retrieved.empty()) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok() || *year < 2000) return std::nullopt;
  return std::chrono::sys_days(date);
}

std::string date_text(std::chrono::sys_days day) {
  const std::chrono::year_month_day date(day);
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

std::string terms(const Price& price) {
  const std::string where = price.region == kNotStated ? "region not stated" : price.region;
  const std::string when = price.retrieved == kNotStated ? "date not stated" : price.retrieved;
  return fmt::format("{}, {}, {}", to_string(price.model), where, when);
}

}  // namespace hbench
