// Sums of money, dates of prices, and [price] of a profile with every mistake that it may hold.

#include "collectives/network/price.hpp"

#include <gtest/gtest.h>

#include "collectives/network/profile.hpp"
#include "tests/collectives/profile_text.hpp"
#include "tests/support/expect_error.hpp"

namespace hbench::price_test {
namespace {

using namespace ::hbench::support;

TEST(Money, IsANumberWithTheLettersOfACurrency) {
  EXPECT_EQ(parse_money("500usd"), (Money{500, "USD"}));
  EXPECT_EQ(parse_money("2.5 Eur"), (Money{2.5, "EUR"}));
  EXPECT_EQ(parse_money("4e4INR"), (Money{40000, "INR"}));
  EXPECT_EQ(parse_money("7"), (Money{7, "USD"}));
  EXPECT_EQ(parse_money("7zaZ"), (Money{7, "ZAZ"}));
  EXPECT_EQ(parse_money("7AzZ"), (Money{7, "AZZ"}));
  for (const char* wrong :
       {"", "usd", "-1usd", "0", "1us", "1 usdx", "1 $", "nan", "inf usd", "1e16", "1 u5d", "1 $sd", "1 us$"})
    EXPECT_FALSE(parse_money(wrong)) << wrong;
}

TEST(Money, IsWrittenWithAsManyDigitsAsMatter) {
  EXPECT_EQ(format(Money{6.876, "USD"}), "6.88 USD");
  EXPECT_EQ(format(Money{99.99, "USD"}), "99.99 USD");
  EXPECT_EQ(format(Money{99.999, "USD"}), "100 USD");
  EXPECT_EQ(format(Money{1808, "INR"}), "1808 INR");
}

TEST(PriceDate, MayBeADayAMonthOrAYear) {
  using namespace std::chrono;
  EXPECT_EQ(first_day("2026-09-20"), sys_days(2026y / September / 20));
  EXPECT_EQ(first_day("2018-03"), sys_days(2018y / March / 1));
  EXPECT_EQ(first_day("2026"), sys_days(2026y / January / 1));
  EXPECT_EQ(first_day("2024-02-29"), sys_days(2024y / February / 29));
  for (const char* wrong : {"", "26", "2026-13", "2026-00", "2026-02-30", "2026-9-1", "2026/09/20", "1999",
                            "2026-09-20T", "not stated", "20260920"})
    EXPECT_FALSE(first_day(wrong)) << wrong;
}

TEST(PurchaseModel, IsReadBack) {
  for (const PurchaseModel model :
       {PurchaseModel::on_demand, PurchaseModel::spot, PurchaseModel::reserved, PurchaseModel::capacity_block})
    EXPECT_EQ(parse_purchase_model(to_string(model)), model);
}

Profile parse(const std::string& text) { return parse_profile(text, "my.toml", kProfiles / "gpus"); }

void expect_refused(const std::string& old_text, const std::string& new_text, const std::string& message,
                    const std::string& hint) {
  expect_usage_error([&] { parse(with(old_text, new_text)); }, message, hint);
}

TEST(ProfilePrice, HasItsTermsAndItsSource) {
  const Profile profile = parse(kProfileText);
  ASSERT_TRUE(profile.price);
  EXPECT_EQ(*profile.price, (Price{.per_node_hour = {12, "EUR"},
                                   .region = "north",
                                   .retrieved = "2026-09-20",
                                   .model = PurchaseModel::spot,
                                   .source = "an offer"}));
  EXPECT_EQ(terms(*profile.price), "spot, north, 2026-09-20");
  int figures = 0;
  for (const Figure& figure : profile.figures) {
    if (!figure.key.starts_with("price.")) continue;
    EXPECT_EQ(figure.source, "an offer") << figure.key;
    ++figures;
  }
  EXPECT_EQ(figures, 6);
}

TEST(ProfilePrice, SaysWhereNobodyStatesARegionOrADate) {
  const Profile profile =
      parse(with("\"north\"\nretrieved = \"2026-09-20\"", "\"not stated\"\nretrieved = \"not stated\""));
  EXPECT_EQ(terms(*profile.price), "spot, region not stated, date not stated");
}

TEST(ProfilePrice, IsWholeOrAbsent) {
  const std::size_t begin = kProfileText.find("[price]"), end = kProfileText.find("[rates]");
  EXPECT_FALSE(parse(kProfileText.substr(0, begin) + kProfileText.substr(end)).price);
  for (const char* line : {"per_node_hour = 12\n", "currency = \"EUR\"\n", "region = \"north\"\n",
                           "retrieved = \"2026-09-20\"\n", "model = \"spot\"\n", "source = \"an offer\"\n"}) {
    const std::string key = std::string(line).substr(0, std::string(line).find(' '));
    expect_refused(line, "", "my.toml: 'price." + key + "' is missing", "README.md lists every key");
  }
}

TEST(ProfilePrice, RefusesWhatIsNone) {
  expect_refused("= 12", "= -1", "my.toml:25: price.per_node_hour: -1 is no price", "above 0");
  expect_refused("= 12", "= 0", "my.toml:25: price.per_node_hour: 0 is no price", "above 0");
  expect_refused("= 12", "= 1000000001", "my.toml:25: price.per_node_hour: 1000000001 is no price", "above 0");
  EXPECT_EQ(parse(with("= 12", "= 0.5")).price->per_node_hour.amount, 0.5);
  EXPECT_EQ(parse(with("= 12", "= 1000000000")).price->per_node_hour.amount, 1e9) << "dear, in some currency";
  expect_refused("= 12", "= \"12\"", "my.toml:25: price.per_node_hour: 12 is no price", "without quotes");
  expect_refused("= 12", "= nan", "my.toml:25: price.per_node_hour: nan is no price", "above 0");
  expect_refused("\"EUR\"", "\"Euro\"", "my.toml:26: price.currency: 'Euro' is no currency", "three letters");
  expect_refused("\"EUR\"", "5", "my.toml:26: price.currency: 5 is not a text", "in quotes");
  expect_refused("\"north\"", "\"\"", "my.toml:27: price.region: it is empty", "not stated");
  expect_refused("\"2026-09-20\"", "\"yesterday\"", "my.toml:28: price.retrieved: 'yesterday' is no date", "2026-09");
  expect_refused("\"spot\"", "\"spott\"", "my.toml:29: price.model: no purchase model 'spott'; did you mean 'spot'?",
                 "on-demand");
  expect_refused("per_node_hour", "usd_per_node_hour", "my.toml:25: unknown key 'price.usd_per_node_hour'",
                 "per_node_hour");
}

}  // namespace
}  // namespace hbench::price_test
