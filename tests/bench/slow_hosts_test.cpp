#include "bench/hosts/slow_hosts.hpp"

#include <cmath>
#include <functional>
#include <random>

#include "tests/support/matchers.hpp"

namespace hbench::slow_hosts_test {
namespace {

using Kind = SlowPart::Kind;

constexpr double kCore = 2e9, kRate = 1e9;

/// Equal hosts of which all pairs are measured, each as often as it takes. \param noise gives a factor for each value.
HostSpeeds equal_hosts(
    int hosts, const std::function<double()>& noise = [] { return 1.0; }) {
  HostSpeeds speeds;
  const auto passes = static_cast<std::size_t>(passes_needed(hosts, hosts * (hosts - 1) / 2));
  const auto values = [&](double middle) {
    std::vector<double> drawn(passes);
    for (double& value : drawn) value = middle * noise();
    return drawn;
  };
  for (int host = 0; host < hosts; ++host) {
    speeds.hosts.push_back("n" + std::to_string(host + 1));
    speeds.computed.push_back(values(kCore));
    for (int other = host + 1; other < hosts; ++other) speeds.links.push_back({host, other, values(kRate)});
  }
  return speeds;
}

void multiply(std::vector<double>& values, double factor) {
  for (double& value : values) value *= factor;
}

/// All links of a host.
void slow_network(HostSpeeds& speeds, int host, double factor) {
  for (LinkSpeeds& link : speeds.links)
    if (link.a == host || link.b == host) multiply(link.rates, factor);
}

void slow_link(HostSpeeds& speeds, int a, int b, double factor) {
  for (LinkSpeeds& link : speeds.links)
    if (link.a == a && link.b == b) multiply(link.rates, factor);
}

/// What is found, without its figures.
std::vector<std::string> names_of(const HostSpeeds& speeds) {
  std::vector<std::string> names;
  for (const SlowPart& part : slow_parts(speeds))
    names.push_back(part.kind == Kind::compute   ? "compute " + std::to_string(part.host)
                    : part.kind == Kind::network ? "network " + std::to_string(part.host)
                                                 : std::to_string(part.host) + "-" + std::to_string(part.other));
  return names;
}

// Four hosts with six links are 14 comparisons; 16 of 2^15 outcomes have 14 or more of 15 slow, 14 * 16 / 2^15 = 0.7 %,
// and 14 * 15 / 2^14 = 1.3 % is more than 1 %. Two hosts with a link are five: 5 * 13 / 2^12 = 1.6 %, 5 * 14 / 2^13 =
// 0.9 %.
TEST(PassesNeeded, AreThoseOfWhichOneMayDisagree) {
  EXPECT_EQ(passes_needed(4, 6), 15);
  EXPECT_EQ(passes_needed(2, 1), 13);
}

TEST(SlowParts, AreNoneOfEqualHosts) {
  for (const int hosts : {2, 3, 4, 9}) EXPECT_THAT(slow_parts(equal_hosts(hosts)), IsEmpty()) << hosts;
}

TEST(SlowParts, NameAHostThatComputesSlowlyWithItsConfidence) {
  HostSpeeds speeds = equal_hosts(4);
  multiply(speeds.computed[2], 0.75);
  const std::vector<SlowPart> found = slow_parts(speeds);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].kind, Kind::compute);
  EXPECT_EQ(found[0].host, 2);
  EXPECT_DOUBLE_EQ(found[0].less, 0.25);
  EXPECT_EQ(found[0].passes, 15);
  EXPECT_EQ(found[0].slower, 15);
  EXPECT_NEAR(found[0].confidence, 1 - 14.0 / 32768, 1e-12);
}

TEST(SlowParts, LetOnePassDisagreeButNotTwo) {
  HostSpeeds speeds = equal_hosts(4);
  multiply(speeds.computed[2], 0.75);
  speeds.computed[2][7] = kCore;
  const std::vector<SlowPart> found = slow_parts(speeds);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].slower, 14);
  EXPECT_NEAR(found[0].confidence, 1 - 14 * 16.0 / 32768, 1e-12);
  speeds.computed[2][0] = kCore;
  EXPECT_THAT(slow_parts(speeds), IsEmpty());
}

TEST(SlowParts, CountOnlyWhatIsBeyondTheMargin) {
  HostSpeeds speeds = equal_hosts(4);
  multiply(speeds.computed[0], 1 - kSlowCompute + 0.001);
  slow_network(speeds, 1, 1 - kSlowLink + 0.001);
  EXPECT_THAT(slow_parts(speeds), IsEmpty());
  multiply(speeds.computed[0], 0.99);
  slow_network(speeds, 1, 0.99);
  EXPECT_THAT(names_of(speeds), ElementsAre("compute 0", "network 1"));
}

TEST(SlowParts, NameTheHostWhoseLinksAreAllSlowAndNoLinkOfIt) {
  for (const int hosts : {3, 4, 5, 8})
    for (int slow = 0; slow < hosts; ++slow) {
      HostSpeeds speeds = equal_hosts(hosts);
      slow_network(speeds, slow, 0.2);
      EXPECT_THAT(names_of(speeds), ElementsAre("network " + std::to_string(slow))) << hosts;
    }
}

TEST(SlowParts, NameASlowLinkBetweenHostsThatAreFine) {
  for (const int hosts : {3, 4, 5, 8}) {
    HostSpeeds speeds = equal_hosts(hosts);
    slow_link(speeds, 0, 2, 0.5);
    EXPECT_THAT(names_of(speeds), ElementsAre("0-2")) << hosts;
  }
}

TEST(SlowParts, AreToldApartWhereThereAreSeveral) {
  HostSpeeds speeds = equal_hosts(8);
  multiply(speeds.computed[7], 0.5);
  slow_network(speeds, 1, 0.2);
  slow_network(speeds, 3, 0.1);
  slow_link(speeds, 0, 2, 0.5);
  EXPECT_THAT(names_of(speeds), ElementsAre("compute 7", "network 1", "network 3", "0-2"));
}

TEST(SlowParts, OfTwoHostsAreTheSlowerOneButNoLink) {
  HostSpeeds speeds = equal_hosts(2);
  multiply(speeds.computed[0], 0.5);
  multiply(speeds.links[0].rates, 0.01);
  EXPECT_THAT(names_of(speeds), ElementsAre("compute 0"));
}

TEST(SlowParts, AreNotSlowIfOnlySometimes) {
  HostSpeeds speeds = equal_hosts(4);
  for (std::size_t pass = 0; pass < 10; ++pass) speeds.computed[1][pass] *= 0.1;
  EXPECT_THAT(slow_parts(speeds), IsEmpty()) << "10 of 15 passes are 15 % of the outcomes of a coin";
}

/// Factors that scatter by `sigma`, the same on every platform (Box & Muller, 1958).
class Noise {
 public:
  Noise(std::uint64_t seed, double sigma) : source_(seed), sigma_(sigma) {}
  double operator()() {
    const double u = uniform(), v = uniform();
    return std::exp(sigma_ * std::sqrt(-2 * std::log(u)) * std::cos(2 * M_PI * v));
  }

 private:
  double uniform() { return (static_cast<double>(source_() >> 11) + 0.5) * 0x1p-53; }
  std::mt19937_64 source_;
  double sigma_;
};

/// Of so many draws of four hosts: in how many anything is named.
int named(int draws, double sigma, const std::function<void(HostSpeeds&)>& plant) {
  int count = 0;
  for (int draw = 0; draw < draws; ++draw) {
    HostSpeeds speeds = equal_hosts(4, Noise(static_cast<std::uint64_t>(draw), sigma));
    plant(speeds);
    count += slow_parts(speeds).empty() ? 0 : 1;
  }
  return count;
}

TEST(SlowParts, AreFalseAlarmsInLessThanOneOfAHundredNoisyMeasurements) {
  for (const double sigma : {0.02, 0.1, 0.5}) EXPECT_LT(named(2000, sigma, [](HostSpeeds&) {}), 20) << sigma;
}

// What is as slow as hosts may be is beyond the margin in every other pass: the hardest case. Of 2000 draws chance
// names the host in one (16 of 32768 outcomes).
TEST(SlowParts, AreFalseAlarmsAsSeldomWhereAHostIsJustNotSlow) {
  const int count = named(2000, 0.01, [](HostSpeeds& speeds) { multiply(speeds.computed[0], 1 - kSlowCompute); });
  EXPECT_LT(count, 20);
}

TEST(SlowParts, AreFoundDespiteNoise) {
  EXPECT_GT(named(500, 0.03, [](HostSpeeds& speeds) { multiply(speeds.computed[0], 0.85); }), 490);
  EXPECT_GT(named(500, 0.1, [](HostSpeeds& speeds) { slow_network(speeds, 0, 0.5); }), 490);
  EXPECT_GT(named(500, 0.1, [](HostSpeeds& speeds) { slow_link(speeds, 0, 1, 0.5); }), 490);
}

/// `n3: it computes ...`.
std::vector<std::string> words_of(const HostSpeeds& speeds) {
  std::vector<std::string> lines;
  for (const Finding& finding : slow_findings(speeds)) lines.push_back(finding.what + ": " + finding.state);
  return lines;
}

TEST(SlowFindings, SayWhoIsSlowByHowMuchAndHowSureThatIs) {
  HostSpeeds speeds = equal_hosts(5);
  multiply(speeds.computed[2], 0.75);
  slow_network(speeds, 1, 0.2);
  slow_link(speeds, 0, 3, 0.5);
  // 5 hosts and 10 links are 20 comparisons, of 2^15 outcomes: 0.06 %.
  EXPECT_THAT(words_of(speeds),
              ElementsAre("n3: it computes 25 % slower than the others: 1.5 GFLOP/s a core, in 15 of 15 passes "
                          "(confidence 99.9 %)",
                          "n2: its links carry 80 % less than those of the others: 1.6 Gbit/s, in 15 of 15 passes "
                          "(confidence 99.9 %)",
                          "n1 - n4: this link carries 50 % less than the others: 4 Gbit/s, in 15 of 15 passes "
                          "(confidence 99.9 %)"));
  for (const Finding& finding : slow_findings(speeds)) EXPECT_NE(finding.cure, "");
}

TEST(SlowFindings, SayThatNothingIsSlow) {
  EXPECT_THAT(words_of(equal_hosts(4)),
              ElementsAre("compute speed: no host is more than 5 % slower than the others",
                          "link speed: none of 6 links is more than 20 % slower than the others"));
  for (const Finding& finding : slow_findings(equal_hosts(4))) EXPECT_EQ(finding.cure, "");
}

TEST(SlowFindings, SayWhatCannotBeToldOfTwoHosts) {
  HostSpeeds speeds = equal_hosts(2);
  multiply(speeds.computed[0], 0.5);
  EXPECT_THAT(words_of(speeds),
              ElementsAre(HasSubstr("n1: it computes 50 % slower than n2: "),
                          "link speed: 8 Gbit/s: two hosts have one link, and no other to compare it with"));
}

TEST(SpeedTables, PutTheSlowestLinkFirst) {
  HostSpeeds speeds = equal_hosts(4);
  multiply(speeds.computed[3], 0.75);
  slow_link(speeds, 1, 3, 0.5);
  const std::vector<Table> tables = speed_tables(speeds);
  ASSERT_THAT(tables, SizeIs(2));
  EXPECT_THAT(tables[0].rows, ElementsAre(ElementsAre("n1", "2 GFLOP/s", "+0 %", "8 Gbit/s", "+0 %"),
                                          ElementsAre("n2", "2 GFLOP/s", "+0 %", "8 Gbit/s", "+0 %"),
                                          ElementsAre("n3", "2 GFLOP/s", "+0 %", "8 Gbit/s", "+0 %"),
                                          ElementsAre("n4", "1.5 GFLOP/s", "-25 %", "8 Gbit/s", "+0 %")));
  EXPECT_THAT(tables[1].rows, SizeIs(6));
  EXPECT_THAT(tables[1].rows.front(), ElementsAre("n2 - n4", "4 Gbit/s", "-50 %"));
}

}  // namespace
}  // namespace hbench::slow_hosts_test
