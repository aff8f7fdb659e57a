#include "collectives/network/network.hpp"

namespace hbench {
namespace {

/// A reduction reads two operands and writes one.
constexpr double kReduceTraffic = 3;

/// The nodes of a domain whose NICs a message between domains can use: of all domains as many as the last one has, as
/// one rate is that of all links of a kind. A dedicated server has the NICs of its own node.
int nodes_to_send_from(const Profile& profile, const World& world) {
  return world.ranks() > world.workers ? 1 : profile.nodes_of_last_domain(world.workers);
}

}  // namespace

double server_seconds_per_byte(const Profile& profile, const World& world) {
  const int groups = (world.workers + world.group - 1) / world.group;
  // A co-located server also handles what its own worker (or group) contributes, though that does not travel: of n
  // contributions, n - 1 messages take the time of all.
  const double own = world.colocated && groups > 1 ? static_cast<double>(groups) / (groups - 1) : 1;
  return seconds_per_byte(profile.server_rate) * own;
}

Network::Hop Network::remote_hop(const Profile& profile, int nodes) {
  const BytesPerSecond all = profile.node_rate(nodes), path = profile.path_rate(nodes);
  return {profile.network_latency.value, profile.network_low_latency.value, seconds_per_byte(all),
          path < all ? seconds_per_byte(path) : 0};
}

Network::Network(const Profile& profile, const World& world, int together)
    : world_(world),
      memory_seconds_per_byte_(seconds_per_byte(profile.memory_rate)),
      server_seconds_per_byte_(server_seconds_per_byte(profile, world)),
      local_{profile.local_latency.value, profile.local_low_latency.value,
             seconds_per_byte(profile.local_rate_of(together > 0 ? together : world.workers)), 0},
      remote_(remote_hop(profile, nodes_to_send_from(profile, world))),
      layout_(world, profile.gpus_per_domain()) {
  const int ranks = world.ranks();
  link_out_.resize(layout_.lanes);
  link_in_.resize(layout_.lanes);
  nic_out_.resize(layout_.nodes);
  nic_in_.resize(layout_.nodes);

  server_.assign(ranks, -1);
  // On one node parameters are passed within a process: no server handles messages there.
  const bool limited = layout_.nodes > 1 && server_seconds_per_byte_ > 0;
  for (int server = 0; limited && server < world.servers; ++server) {
    server_[world.server_rank(server)] = static_cast<int>(servers_free_at_.size());
    servers_free_at_.push_back(0);
  }
  reset();
}

void Network::reset() {
  for (auto* free_at : {&link_out_, &link_in_, &nic_out_, &nic_in_, &servers_free_at_}) std::ranges::fill(*free_at, 0);
  first_streams_to_.assign(layout_.lanes, -1);
  first_streams_free_at_.assign(layout_.lanes, 0);
  streams_.assign(layout_.lanes, {});
  last_streams_.assign(layout_.lanes, 0);
}

Network::Message Network::message(bool local, TransferKind kind, std::int64_t elements,
                                  const Encoding& encoding) const {
  const Hop& hop = local ? local_ : remote_;
  double bytes = static_cast<double>(encoding.wire_bytes(elements));
  double latency = hop.latency;
  // Twice the bytes at the low latency: sooner where it saves more latency than the second half takes.
  if (hop.low_latency > 0 && hop.low_latency + bytes * std::max(hop.link, hop.streams) < hop.latency) {
    latency = hop.low_latency;
    bytes *= 2;
  }
  const double raw = static_cast<double>(elements) * static_cast<double>(encoding.element_size);
  const double coding = encoding.coding(raw, 1, 1, memory_seconds_per_byte_);
  const double reduction = kind == TransferKind::reduce ? raw * kReduceTraffic * memory_seconds_per_byte_ : 0;
  const double arriving = bytes * std::max(hop.link, hop.streams);
  return {.link = bytes * hop.link,
          .streams = bytes * hop.streams,
          .server = bytes * server_seconds_per_byte_,
          // What arrives is added up as it comes, so only a memory slower than the link takes longer.
          .afterwards = latency + coding + std::max(0.0, reduction - arriving)};
}

double& Network::streams_free_at(Rank from, Rank to) {
  const int lane = layout_.lane[from];
  if (first_streams_to_[lane] < 0) first_streams_to_[lane] = to;
  if (first_streams_to_[lane] == to) return first_streams_free_at_[lane];
  std::vector<Streams>& known = streams_[lane];
  std::size_t& last = last_streams_[lane];
  // Schedules send to one neighbour, or to all in turn: look where the last search ended, then all around.
  for (std::size_t tried = 0; tried < known.size(); ++tried) {
    if (last >= known.size()) last = 0;
    if (known[last].to == to) return known[last].free_at;
    ++last;
  }
  last = known.size();
  return known.emplace_back(Streams{to, 0}).free_at;
}

double Network::pass_links(Rank src, Rank dst, const Message& message, double start) {
  const int from = layout_.node[src], to = layout_.node[dst];
  const bool local = from == to;
  double passed = pass(local ? link_out_[layout_.lane[src]] : nic_out_[from], start, message.link);
  passed = std::max(passed, pass(local ? link_in_[layout_.lane[dst]] : nic_in_[to], start, message.link));
  if (message.streams > 0) passed = std::max(passed, pass(streams_free_at(src, dst), start, message.streams));
  return passed;
}

double Network::pass_server(Rank src, Rank dst, TransferKind kind, double work, double start) {
  const int server = server_[kind == TransferKind::reduce ? dst : src];
  if (server < 0 || (world_.group > 1 && is_local(src, dst))) return start;
  return pass(servers_free_at_[server], start, work);
}

}  // namespace hbench
