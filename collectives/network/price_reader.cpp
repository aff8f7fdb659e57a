#include <fmt/format.h>

#include "collectives/network/profile_reader.hpp"

namespace hbench {
namespace {

constexpr double kMostPrice = 1e9;

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

std::optional<Price> read_price(const TomlReader& read, const toml::table& table, std::vector<Figure>& figures) {
  if (!table.contains("price")) return std::nullopt;
  Price price;
  const auto text_by = [](auto parse, auto& out) {
    return
        [parse, &out](std::string_view text, std::optional<double> number) { out = parse(text_alone(text, number)); };
  };
  std::vector<Figure> terms;
  read_section(read, table, "price",
               {{"per_node_hour", true,
                 [&price](std::string_view text, std::optional<double> number) {
                   read_amount(text, number, price.per_node_hour.amount);
                 }},
                {"currency", true, text_by(read_currency, price.per_node_hour.currency)},
                {"region", true, text_by(read_name, price.region)},
                {"retrieved", true, text_by(read_date, price.retrieved)},
                {"model", true, text_by(parse_purchase_model, price.model)},
                {"source", true, text_by(read_name, price.source)}},
               {}, terms);
  for (Figure& figure : terms) {
    figure.source = price.source;
    figures.push_back(std::move(figure));
  }
  return price;
}

}  // namespace hbench
