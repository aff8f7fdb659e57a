#include "bench/emulation/cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "collectives/base/error.hpp"
#include "collectives/base/json_fields.hpp"
#include "collectives/base/parameters.hpp"
#include "collectives/base/read_json.hpp"
#include "collectives/base/text.hpp"
#include "collectives/network/rank_layout.hpp"
#include "collectives/network/simulator.hpp"

namespace hbench {
namespace {

/// A frame of Ethernet has 1514 bytes, of which TCP/IP leaves its user 1448 (with time stamps).
constexpr double kFrameShare = 1448.0 / 1514.0;

/// As tc writes it: of the frames.
std::string tc_rate(BytesPerSecond payload) { return fmt::format("{:.0f}bit", payload.value * 8 / kFrameShare); }

/// What a link lets pass at once after a pause: a millisecond of its rate. Less starves the timer of a fast link, more
/// gives pauses back; 15 kB hold the segments of a message of the kernel.
int burst_of(BytesPerSecond rate) {
  constexpr double kLeast = 15'000, kMost = 71'680, kTime = 1e-3;
  return static_cast<int>(std::clamp(rate.value * kTime, kLeast, kMost));
}

/// Packets that wait in a class at most.
constexpr int kQueue = 10'000;

/// The slowest link decides how much a sender hands to the next one at once.
BytesPerSecond slowest(const EmulatedLinks& links) {
  BytesPerSecond least = links.local_rate;
  for (const BytesPerSecond rate : links.node_rate) least = std::min(least, rate);
  return links.stream_rate.value > 0 ? std::min(least, links.stream_rate) : least;
}

/// A burst, and what exceeds it is dropped and not queued.
std::string policed(const std::string& device, BytesPerSecond rate) {
  return fmt::format("qdisc add dev {} root tbf rate {} burst {} limit {}\n", device, tc_rate(rate), burst_of(rate),
                     burst_of(rate));
}

/// Classes of one device, of which all that no filter takes pass freely. A packet waits its turn rather than be lost.
///
/// So do acknowledgements without data (20 bytes of IP, 32 of TCP): rates are of payload, which on the links of a
/// cluster these take next to nothing of, and in the deep queues here they would hold up the data that they ask for.
class Classes {
 public:
  explicit Classes(std::string device) : device_(std::move(device)) {
    text_ = fmt::format(
        "qdisc add dev {0} root handle 1: htb default 1\nclass add dev {0} parent 1: classid 1:1 htb rate 100gbit "
        "quantum "
        "60000\nfilter add dev {0} parent 1: protocol ip prio 1 u32 match u16 52 0xffff at 2 flowid 1:1\n",
        device_);
  }

  /// Everything that goes from, or to, a subnet. \param side `src` or `dst`
  void add(BytesPerSecond rate, std::string_view side, std::string_view subnet) {
    add_class("1:", tc_rate(rate), rate, fmt::format("{} {}", side, subnet));
  }

  /// Divides what passes the class of `add` evenly among those who send it, as far as they have something to send.
  ///
  /// Whose packets wait longest on their own links gets least of the next one, and what TCP does against it takes as
  /// long as here, however much time is dilated: servers got tensors late that half of the workers had sent early, and
  /// the steps of 16 ranks differed by a third.
  void share(BytesPerSecond rate, const std::vector<std::string>& senders) {
    if (senders.size() < 2) return;
    const std::string parent = fmt::format("1:{:x}", next_ - 1);
    const std::string part =
        fmt::format("{} ceil {}", tc_rate(rate / static_cast<double>(senders.size())), tc_rate(rate));
    for (const std::string& sender : senders) add_class(parent, part, rate, fmt::format("src {}/32", sender));
  }

  /// Nothing where no class was added.
  std::string text() const { return next_ > 2 ? text_ : ""; }

 private:
  /// \param rates as tc takes them, of which the link has `rate` at most
  void add_class(std::string_view parent, std::string_view rates, BytesPerSecond rate, std::string_view match) {
    const int burst = burst_of(rate);
    text_ += fmt::format("class add dev {} parent {} classid 1:{:x} htb rate {} burst {} cburst {} quantum 60000\n",
                         device_, parent, next_, rates, burst, burst);
    text_ += fmt::format("filter add dev {} parent {} protocol ip prio 2 u32 match ip {} flowid 1:{:x}\n", device_,
                         parent, match, next_);
    ++next_;
  }

  std::string device_, text_;
  int next_ = 2;
};

/// Ranks of a node, or all but those.
std::vector<std::string> addresses(const EmulatedLinks& links, int node, bool of_the_node) {
  std::vector<std::string> all;
  for (Rank rank = 0; rank < links.ranks(); ++rank)
    if ((links.node_of(rank) == node) == of_the_node) all.push_back(links.address(rank));
  return all;
}

/// One end of a node's link, by which these send.
std::string limited(const std::string& device, BytesPerSecond rate, const std::vector<std::string>& senders) {
  Classes all(device);
  all.add(rate, "dst", kEmulatedSubnet);
  all.share(rate, senders);
  return all.text();
}

std::string subnet_of_node(int node) { return fmt::format("10.{}.0.0/16", node + 1); }

/// Whether `rank` shares its node with another.
bool has_company(const EmulatedLinks& links, Rank rank) {
  return std::ranges::count(links.node_of_rank, links.node_of(rank)) > 1;
}

/// In the order of `EmulatedFault::Kind`.
constexpr std::array<std::string_view, 4> kFaultNames{"link", "node", "server", "police"};

EmulatedFault parse_fault(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ':');
  EmulatedFault fault;
  const auto bad = [&] {
    return Error(ExitCode::usage, fmt::format("HBENCH_EMULATED_FAULT: '{}' is no fault", text),
                 "write link:NODE:SHARE, node:NODE:FACTOR, server:SERVER:FACTOR or police:NODE:SHARE, several with "
                 "commas between");
  };
  if (parts.size() != 3) throw bad();
  const auto kind = std::ranges::find(kFaultNames, parts[0]);
  if (kind == kFaultNames.end()) throw bad();
  fault.kind = static_cast<EmulatedFault::Kind>(kind - kFaultNames.begin());
  fault.index = parse_number<int>(parts[1]).value_or(-1);
  fault.factor = parse_number<double>(parts[2]).value_or(0);
  if (fault.index < 0 || !(fault.factor >= 0.01 && fault.factor <= 100)) throw bad();
  return fault;
}

}  // namespace

std::vector<EmulatedFault> parse_emulated_faults(std::string_view text) {
  std::vector<EmulatedFault> faults;
  if (trimmed(text).empty()) return faults;
  for (const std::string_view each : split(text, ',')) faults.push_back(parse_fault(trimmed(each)));
  return faults;
}

std::string to_text(const std::vector<EmulatedFault>& faults) {
  std::string text;
  for (const EmulatedFault& fault : faults) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{}:{}:{}", kFaultNames.at(static_cast<std::size_t>(fault.kind)), fault.index, fault.factor);
  }
  return text;
}

double fault_factor(const std::vector<EmulatedFault>& faults, EmulatedFault::Kind kind, int index) {
  double factor = 1;
  for (const EmulatedFault& fault : faults)
    if (fault.kind == kind && fault.index == index) factor *= fault.factor;
  return factor;
}

std::string EmulatedLinks::address(Rank rank) const {
  const int host = rank + 1;
  return fmt::format("10.{}.{}.{}", node_of(rank) + 1, host / 256, host % 256);
}

EmulatedAddress parse_emulated_address(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, '.');
  std::vector<int> numbers;
  for (const std::string_view part : parts) numbers.push_back(parse_number<int>(part).value_or(-1));
  const bool fits = numbers.size() == 4 && numbers[0] == 10 && numbers[1] > 0 && numbers[2] >= 0 && numbers[3] >= 0;
  if (!fits || numbers[2] * 256 + numbers[3] < 1)
    throw Error(ExitCode::usage, fmt::format("no emulated host is called {}", text),
                "internal verb: hbench sweep --evidence emulated calls it");
  return {numbers[1] - 1, numbers[2] * 256 + numbers[3] - 1};
}

template <class Walk, Either<EmulatedLinks> Links>
void describe_fields(Walk& walk, Links& links) {
  walk("node_of_rank", links.node_of_rank)("local_rate", links.local_rate)("stream_rate", links.stream_rate);
  walk("node_rate", links.node_rate)("police", links.police)("retransmit", links.retransmit);
}

std::string to_json(const EmulatedLinks& links) { return nlohmann::json(links).dump(); }

EmulatedLinks parse_emulated_links(std::string_view text) {
  try {
    auto links = read_json(text).get<EmulatedLinks>();
    if (static_cast<int>(links.node_rate.size()) != links.nodes()) throw Error(ExitCode::usage, "a node has no rate");
    return links;
  } catch (const nlohmann::json::exception& error) {
    throw Error(ExitCode::usage, fmt::format("the links of an emulated cluster cannot be read: {}", error.what()),
                "internal verb: hbench sweep --evidence emulated calls it");
  }
}

EmulatedCluster emulated_cluster(const Profile& profile, const World& world, double dilation,
                                 const std::vector<EmulatedFault>& faults) {
  const RankLayout layout(world, profile.gpus_per_domain());
  EmulatedCluster cluster;
  EmulatedLinks& links = cluster.links;
  links.node_of_rank = layout.node;
  links.local_rate = profile.local_rate_of(world.workers);
  const int nodes = profile.nodes_of_last_domain(world.workers);
  const BytesPerSecond path = profile.path_rate(nodes), node = profile.node_rate(nodes);
  if (path < node) links.stream_rate = path;
  for (int index = 0; index < layout.nodes; ++index)
    links.node_rate.push_back(node * fault_factor(faults, EmulatedFault::Kind::link, index) *
                              fault_factor(faults, EmulatedFault::Kind::police, index));
  links.police =
      std::ranges::any_of(faults, [](const EmulatedFault& each) { return each.kind == EmulatedFault::Kind::police; });
  cluster.costs.local = {profile.local_latency, profile.local_low_latency, seconds_per_byte(links.local_rate)};
  cluster.costs.network = {profile.network_latency, profile.network_low_latency,
                           seconds_per_byte(std::min(path, node))};
  cluster.costs.node_of_rank = layout.node;
  cluster.costs.groups = world.group > 1;
  cluster.costs.server_seconds_per_byte.assign(static_cast<std::size_t>(world.ranks()), 0);
  // On one node parameters are passed within a process: no server handles messages there.
  if (layout.nodes > 1)
    for (int server = 0; server < world.servers; ++server)
      cluster.costs.server_seconds_per_byte[static_cast<std::size_t>(world.server_rank(server))] =
          server_seconds_per_byte(profile, world) * fault_factor(faults, EmulatedFault::Kind::server, server);
  stretch(cluster, dilation);
  return cluster;
}

void stretch(EmulatedCluster& cluster, double factor) {
  cluster.dilation *= factor;
  EmulatedLinks& links = cluster.links;
  links.local_rate = links.local_rate / factor;
  links.stream_rate = links.stream_rate / factor;
  for (BytesPerSecond& rate : links.node_rate) rate = rate / factor;
  links.retransmit = links.retransmit * factor;
  for (EmulatedCosts::Hop* hop : {&cluster.costs.local, &cluster.costs.network}) {
    hop->latency = hop->latency * factor;
    hop->low_latency = hop->low_latency * factor;
    hop->seconds_per_byte *= factor;
  }
  for (double& seconds : cluster.costs.server_seconds_per_byte) seconds *= factor;
}

NetworkBatch bridges_batch(const EmulatedLinks& links, const std::function<std::string(Rank)>& namespace_of) {
  NetworkBatch batch;
  batch.ip = fmt::format("link set lo up\nlink add core type bridge\naddress add {}/8 dev core\nlink set core up\n",
                         kBridgeAddress);
  for (int node = 0; node < links.nodes(); ++node) {
    const BytesPerSecond rate = links.node_rate[static_cast<std::size_t>(node)];
    batch.ip += fmt::format(
        "link add node{0} type bridge\nlink set node{0} up\nlink add up{0} txqueuelen {1} type veth peer name down{0} "
        "txqueuelen {1}\n"
        "link set up{0} master node{0} up\nlink set down{0} master core up\n",
        node, kQueue);
    for (const bool up : {true, false}) {
      const std::string device = fmt::format("{}{}", up ? "up" : "down", node);
      batch.tc += links.police ? policed(device, rate) : limited(device, rate, addresses(links, node, up));
    }
  }
  for (Rank rank = 0; rank < links.ranks(); ++rank) {
    const int node = links.node_of(rank);
    batch.ip += fmt::format(
        "link add port{0} txqueuelen {3} type veth peer name eth0 txqueuelen {3} netns {1}\nlink set port{0} master "
        "node{2} up\n",
        rank, namespace_of(rank), node, kQueue);
    if (!has_company(links, rank)) continue;
    Classes classes(fmt::format("port{}", rank));
    classes.add(links.local_rate, "src", subnet_of_node(node));
    batch.tc += classes.text();
  }
  return batch;
}

int send_buffer(const EmulatedLinks& links) {
  constexpr double kTime = 10e-3, kLeast = 65'536, kMost = 1 << 20;
  return static_cast<int>(std::clamp(slowest(links).value * kTime, kLeast, kMost));
}

NetworkBatch rank_batch(const EmulatedLinks& links, Rank rank) {
  const int node = links.node_of(rank);
  NetworkBatch batch;
  constexpr double kLongest = 60'000;  // half of what the kernel knows
  batch.ip = fmt::format(
      "link set lo up\naddress add {}/8 dev eth0\nlink set eth0 up gso_max_size {}\n"
      "route change {} dev eth0 rto_min {:.0f}ms\n",
      links.address(rank), std::min(65'536, burst_of(slowest(links)) * 9 / 10), kEmulatedSubnet,
      std::min(1e3 * links.retransmit.value, kLongest));
  Classes classes("eth0");
  if (has_company(links, rank)) classes.add(links.local_rate, "dst", subnet_of_node(node));
  for (Rank other = 0; links.stream_rate.value > 0 && other < links.ranks(); ++other)
    if (links.node_of(other) != node) classes.add(links.stream_rate, "dst", links.address(other) + "/32");
  // A sender waits at its own link: bursts of many senders into the bridges would be more than the kernel keeps. Before
  // a policer nobody waits.
  if (links.stream_rate.value == 0 && !links.police)
    classes.add(links.node_rate[static_cast<std::size_t>(node)], "dst", kEmulatedSubnet);
  batch.tc = classes.text();
  return batch;
}

}  // namespace hbench
