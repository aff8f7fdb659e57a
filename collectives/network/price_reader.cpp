#include <fmt/format.h>

#include "collectives/base/error.hpp"
#include "collectives/network/profile_reader.hpp"

namespace hbench {
namespace {

constexpr double kMostPrice = 1e9;

Error not_text(std::string_view text) {
  return {ExitCode::usage, fmt::format("{} is not a text", text), "write it in quotes"};
}

void read_amount(std::string_view text, std::optional<double> number, double& out) {
  if (!number || !(*number > 0 && *number <= kMostPrice))
    throw Error(ExitCode::usage, fmt::format("{} is no price", text), "write a number above 0 without quotes");
  out = *number;
}

std::string read_currency(std::string_view text) {
  std::string currency = parse_currency(text);
  if (currency.empty())
    throw Error(ExitCode::usage, fmt::format("'{}' is no currency", text), "write its three letters, such as \"USD\"");
  return currency;
}

std::string read_date(std::string_view text) {
  if (text != kNotStated && !first_day(text))
    throw Error(ExitCode::usage, fmt::format("'{}' is no date", text),
                fmt::format("write \"2026-09-20\", \"2026-09\", \"2026\" or \"{}\"", kNotStated));
  return std::string(text);
}

std::string read_name(std::string_view text) {
  if (text.empty())
    throw Error(ExitCode::usage, "it is empty", fmt::format("write \"{}\" where nobody says it", kNotStated));
  return std::string(text);
}

}  // namespace

std::optional<Price> read_price(const toml::table& table, std::string_view file_name, std::vector<Figure>& figures) {
  if (!table.contains("price")) return std::nullopt;
  Price price;
  const auto text_by = [](auto read, auto& out) {
    return [read, &out](std::string_view text, std::optional<double> number) {
      if (number) throw not_text(text);
      out = read(text);
    };
  };
  std::vector<Figure> read;
  read_section(table, "price", file_name,
               {{"per_node_hour", true,
                 [&price](std::string_view text, std::optional<double> number) {
                   read_amount(text, number, price.per_node_hour.amount);
                 }},
                {"currency", true, text_by(read_currency, price.per_node_hour.currency)},
                {"region", true, text_by(read_name, price.region)},
                {"retrieved", true, text_by(read_date, price.retrieved)},
                {"model", true, text_by(parse_purchase_model, price.model)},
                {"source", true, text_by(read_name, price.source)}},
               {}, read);
  for (Figure& figure : read) {
    figure.source = price.source;
    figures.push_back(std::move(figure));
  }
  return price;
}

}  // namespace hbench
