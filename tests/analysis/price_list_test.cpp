// Lists of prices that others keep, as SkyPilot's.

#include "analysis/prediction/price_list.hpp"

#include <gmock/gmock.h>

#include <sstream>

#include "tests/support/expect_error.hpp"

namespace hbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

/// Rows as SkyPilot's files have them: a Python dictionary in quotes, no GPUs, a kind in three zones of two regions.
constexpr const char* kRows =
    "InstanceType,AcceleratorName,AcceleratorCount,vCPUs,MemoryGiB,GpuInfo,Price,SpotPrice,Region,AvailabilityZone\n"
    "cpu.large,,,2,8,,0.1,0.05,us-east-1,a\n"
    "p5.48xlarge,H100,8,192,2048,\"{'Gpus': [{'Name': 'H100', 'Count': 8}]}\",55.04,20.5,us-east-1,a\n"
    "p5.48xlarge,H100,8,192,2048,\"{'Gpus': [{'Name': 'H100', 'Count': 8}]}\",55.04,19.25,us-east-1,b\n"
    "p5.48xlarge,H100,8,192,2048,\"{'Gpus': [{'Name': 'H100', 'Count': 8}]}\",62,,eu-west-1,a\n"
    "p4d.24xlarge,A100,8.0,96,1152,,21.96,,us-east-1,a\n"
    "odd.8,H100,12,96,1152,,98,,us-east-1,a\n";

PriceList list_of(PriceList::Wanted wanted = {}, const std::string& text = kRows) {
  std::istringstream in(text);
  return {in, "vms.csv", "2026-11-20", wanted};
}

Profile machine(std::string name, std::string instance_type) {
  Profile profile;
  profile.name = std::move(name);
  profile.instance_type = std::move(instance_type);
  profile.gpus_per_node = 8;
  return profile;
}

TEST(PriceList, HasThePriceOfTheCheapestRegionAndSaysWhichThatIs) {
  const Price price = list_of().price_of(machine("aws-p5", "p5.48xlarge"));
  EXPECT_EQ(price.per_node_hour, (Money{55.04, "USD"}));
  EXPECT_EQ(price.region, "us-east-1");
  EXPECT_EQ(price.retrieved, "2026-11-20");
  EXPECT_EQ(price.model, PurchaseModel::on_demand);
  EXPECT_EQ(price.source, "vms.csv: p5.48xlarge, the cheapest of 2 regions; dated by the file's last change");
}

TEST(PriceList, HasTheRegionAndTheWayToBuyThatAreAskedFor) {
  const Profile p5 = machine("aws-p5", "p5.48xlarge");
  EXPECT_EQ(list_of({.region = "eu-west-1"}).price_of(p5).per_node_hour.amount, 62);
  const Price spot = list_of({.model = PurchaseModel::spot}).price_of(p5);
  EXPECT_EQ(spot.per_node_hour.amount, 19.25) << "of two zones the cheaper";
  EXPECT_EQ(spot.model, PurchaseModel::spot);
  EXPECT_THAT(list_of({.model = PurchaseModel::spot}).refuses(machine("aws-p4d", "p4d.24xlarge")),
              HasSubstr("no spot price of p4d.24xlarge"));
}

TEST(PriceList, FindsItsColumnsByTheirNames) {
  const PriceList list =
      list_of({}, "Region,SpotPrice,Price,AcceleratorCount,InstanceType\nIN,1.39,2.78,2.0,2x_A100\n");
  Profile two = machine("two", "2x_A100");
  two.gpus_per_node = 2;
  EXPECT_EQ(list.price_of(two).per_node_hour.amount, 2.78);
}

TEST(PriceList, RefusesWhatIsNoList) {
  const auto refused = [](const std::string& text, const char* what, PriceList::Wanted wanted = {}) {
    expect_error([&] { list_of(wanted, text); }, ExitCode::usage, HasSubstr(what));
  };
  refused("", "vms.csv is empty");
  refused("InstanceType,Price,Region\n", "vms.csv: there is no column AcceleratorCount");
  refused("InstanceType,AcceleratorCount,Price,Region\nx,8,dear,here\n", "vms.csv:2: Price is 'dear'");
  refused("InstanceType,AcceleratorCount,Price,Region\nx,-1,5,here\n", "vms.csv:2: AcceleratorCount is '-1'");
  refused("InstanceType,AcceleratorCount,Price,Region\nx,8,nan,here\n", "vms.csv:2: Price is 'nan'");
  refused("InstanceType,AcceleratorCount,Price,Region\nx,8\n", "vms.csv:2");
  refused("InstanceType,AcceleratorCount,Price,Region\nx,8,5,here\n", "there is no column SpotPrice",
          {.model = PurchaseModel::spot});
  refused(kRows, "no row is of the region 'mars'", {.region = "mars"});
}

TEST(TakePrices, ReplacesThoseOfClustersInTheListAndCountsWhatMatchesNone) {
  Profile p5 = machine("aws-p5", "p5.48xlarge"), odd = machine("odd", "odd.8"), unknown = machine("far", "x"),
          mine = machine("mine", "");
  p5.price = odd.price = Price{.per_node_hour = {1, "USD"}};
  Profile* clusters[] = {&p5, &odd, &unknown, &mine};
  const PriceList lists[] = {list_of()};
  const ListedPrices listed = take_prices(clusters, lists);
  EXPECT_THAT(listed.taken, ElementsAre("aws-p5"));
  EXPECT_EQ(p5.price->per_node_hour.amount, 55.04);
  EXPECT_EQ(odd.price->per_node_hour.amount, 1) << "a row of other machines than the profile's";
  EXPECT_THAT(listed.kept, ElementsAre(Pair("far", "vms.csv has no on-demand price of x"),
                                       Pair("odd", "odd.8 has 12 GPUs in vms.csv and 8 in the profile")));
  EXPECT_EQ(listed.kinds, 3);
  EXPECT_EQ(listed.unmatched, 2);
  EXPECT_THAT(listed.files, ElementsAre("vms.csv"));
}

TEST(TakePrices, PrefersTheFirstListThatHasAPrice) {
  Profile p5 = machine("aws-p5", "p5.48xlarge");
  Profile* clusters[] = {&p5};
  const PriceList lists[] = {list_of({}, "InstanceType,AcceleratorCount,Price,Region\nother,8,5,here\n"),
                             list_of({.region = "eu-west-1"})};
  take_prices(clusters, lists);
  EXPECT_EQ(p5.price->per_node_hour.amount, 62);
}

}  // namespace
}  // namespace hbench
