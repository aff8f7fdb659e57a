#include "collectives/network/simulator.hpp"

#include <algorithm>
#include <limits>

#include "collectives/base/error.hpp"

namespace hbench {
namespace {

/// A reduction reads two operands and writes one.
constexpr double kReduceTraffic = 3;

double inverse(BytesPerSecond rate) { return rate.value > 0 ? 1 / rate.value : 0; }

/// A queue: begins when it is free, and is free again when all has passed.
double pass(double& free_at, double start, double duration) {
  free_at = std::max(free_at, start) + duration;
  return free_at;
}

}  // namespace

Network::Network(const Profile& profile, const World& world)
    : world_(world),
      memory_seconds_per_byte_(inverse(profile.memory_rate)),
      server_seconds_per_byte_(inverse(profile.server_rate)),
      local_{profile.local_latency.value, profile.local_low_latency.value, inverse(profile.local_rate), 0},
      remote_{profile.network_latency.value, profile.network_low_latency.value, inverse(profile.node_rate()),
              profile.path_rate() < profile.node_rate() ? inverse(profile.path_rate()) : 0} {
  // A co-located server also handles what its own worker (or group) contributes, though that does not travel: of n
  // contributions, n - 1 messages take the time of all.
  if (const int groups = (world.workers + world.group - 1) / world.group; world.colocated && groups > 1)
    server_seconds_per_byte_ *= static_cast<double>(groups) / (groups - 1);
  const int worker_nodes = (world.workers + profile.gpus_per_node - 1) / profile.gpus_per_node;
  const int ranks = world.ranks();
  node_.resize(ranks);
  for (Rank rank = 0; rank < ranks; ++rank)
    node_[rank] = rank < world.workers ? rank / profile.gpus_per_node : worker_nodes + rank - world.workers;
  const int nodes = worker_nodes + (ranks - world.workers);
  link_out_.resize(ranks);
  link_in_.resize(ranks);
  nic_out_.resize(nodes);
  nic_in_.resize(nodes);

  server_.assign(ranks, -1);
  // On one node parameters are passed within a process: no server handles messages there.
  const bool limited = nodes > 1 && server_seconds_per_byte_ > 0;
  for (int server = 0; limited && server < world.servers; ++server) {
    int& queue = server_[world.server_rank(server)];
    if (queue >= 0) continue;  // more servers than ranks: they share one
    queue = static_cast<int>(servers_free_at_.size());
    servers_free_at_.push_back(0);
  }
  reset();
}

void Network::reset() {
  for (auto* free_at : {&link_out_, &link_in_, &nic_out_, &nic_in_, &servers_free_at_}) std::ranges::fill(*free_at, 0);
  streams_.assign(node_.size(), {});
  last_streams_.assign(node_.size(), 0);
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
  const double coding = raw * 2 * encoding.memory_traffic * memory_seconds_per_byte_;
  const double reduction = kind == TransferKind::reduce ? raw * kReduceTraffic * memory_seconds_per_byte_ : 0;
  const double arriving = bytes * std::max(hop.link, hop.streams);
  return {.link = bytes * hop.link,
          .streams = bytes * hop.streams,
          .server = bytes * server_seconds_per_byte_,
          // What arrives is added up as it comes, so only a memory slower than the link takes longer.
          .afterwards = latency + coding + std::max(0.0, reduction - arriving)};
}

double& Network::streams_free_at(Rank from, Rank to) {
  std::vector<Streams>& known = streams_[from];
  std::size_t& last = last_streams_[from];
  // Schedules send to one neighbour, or to all in turn: look where the last search ended, then all around.
  for (std::size_t tried = 0; tried < known.size(); ++tried) {
    if (last >= known.size()) last = 0;
    if (known[last].to == to) return known[last].free_at;
    ++last;
  }
  last = known.size();
  return known.emplace_back(Streams{to, 0}).free_at;
}

SimulatedCollective::SimulatedCollective(Network& network, const Schedule& schedule, const Encoding& encoding,
                                         std::int64_t elements, Seconds start)
    : network_(&network),
      schedule_(&schedule),
      encoding_(encoding),
      chunks_(static_cast<std::size_t>(schedule.chunks)),
      ready_(static_cast<std::size_t>(schedule.world.ranks()) * chunks_, start.value),
      finish_(static_cast<std::size_t>(schedule.world.ranks()), start.value),
      chunk_begin_(chunks_ + 1) {
  for (int chunk = 0; chunk < schedule.chunks; ++chunk)
    chunk_begin_[chunk + 1] = schedule.range(chunk, 1, elements).end;
}

double SimulatedCollective::data_ready(const Transfer& transfer) const {
  const double* at = &ready_[slot(transfer.src, transfer.first_chunk)];
  double latest = *at;
  for (int chunk = 1; chunk < transfer.chunk_count; ++chunk) latest = std::max(latest, at[chunk]);
  return latest;
}

Seconds SimulatedCollective::next_round() const {
  const auto& transfers = schedule_->transfers;
  double earliest = std::numeric_limits<double>::infinity();
  for (std::size_t i = next_; i < transfers.size() && transfers[i].round == transfers[next_].round; ++i)
    earliest = std::min(earliest, data_ready(transfers[i]));
  return Seconds(earliest);
}

const Network::Message& SimulatedCollective::message(bool local, TransferKind kind, std::int64_t elements) {
  Known& known = known_[(local ? 2 : 0) + (kind == TransferKind::reduce ? 1 : 0)];
  if (known.elements != elements) known = {elements, network_->message(local, kind, elements, encoding_)};
  return known.message;
}

double SimulatedCollective::arrival(const Transfer& transfer) {
  Network& net = *network_;
  const auto [round, src, dst, first_chunk, chunk_count, kind] = transfer;
  const std::int64_t elements = chunk_begin_[first_chunk + chunk_count] - chunk_begin_[first_chunk];
  const double start = data_ready(transfer);
  if (elements == 0 || src == dst) return start;

  const int from = net.node_[src];
  const int to = net.node_[dst];
  const bool local = from == to;
  const Network::Message& sent = message(local, kind, elements);
  double passed = pass(local ? net.link_out_[src] : net.nic_out_[from], start, sent.link);
  passed = std::max(passed, pass(local ? net.link_in_[dst] : net.nic_in_[to], start, sent.link));
  if (sent.streams > 0) passed = std::max(passed, pass(net.streams_free_at(src, dst), start, sent.streams));
  // A push is handled by the server that receives it, a pull by the one that sends it.
  // Within a group no server is involved.
  const bool served = !(local && schedule_->world.group > 1);
  const int server = net.server_[kind == TransferKind::reduce ? dst : src];
  if (served && server >= 0) passed = std::max(passed, pass(net.servers_free_at_[server], start, sent.server));
  return passed + sent.afterwards;
}

void SimulatedCollective::advance() {
  const auto& transfers = schedule_->transfers;
  const std::size_t begin = next_;
  arrivals_.clear();
  for (; next_ < transfers.size() && transfers[next_].round == transfers[begin].round; ++next_)
    arrivals_.push_back(arrival(transfers[next_]));
  // Written after all were read: a round reads the state before it.
  for (std::size_t i = begin; i < next_; ++i) {
    const Transfer& transfer = transfers[i];
    const double arrived = arrivals_[i - begin];
    double* at = &ready_[slot(transfer.dst, transfer.first_chunk)];
    for (int chunk = 0; chunk < transfer.chunk_count; ++chunk) at[chunk] = std::max(at[chunk], arrived);
    finish_[transfer.dst] = std::max(finish_[transfer.dst], arrived);
  }
}

Seconds SimulatedCollective::finish() const {
  Seconds last;
  for (Rank rank = 0; rank < schedule_->world.workers; ++rank) last = std::max(last, finish(rank));
  return last;
}

void stop_if(const StopRequested& requested) {
  if (requested && requested()) throw Error(ExitCode::interrupted, "the simulation was interrupted");
}

Seconds simulate(Network& network, const Schedule& schedule, const Encoding& encoding, std::int64_t elements,
                 const StopRequested& stop) {
  network.reset();
  SimulatedCollective collective(network, schedule, encoding, elements, Seconds(0));
  while (!collective.done()) {
    stop_if(stop);
    collective.advance();
  }
  return collective.finish();
}

}  // namespace hbench
