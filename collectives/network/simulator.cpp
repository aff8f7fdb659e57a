#include "collectives/network/simulator.hpp"

#include <algorithm>
#include <limits>

namespace hbench {
namespace {

/// A reduction reads two operands and writes one.
constexpr double kReduceTraffic = 3;

double inverse(BytesPerSecond rate) { return rate.value > 0 ? 1 / rate.value : 0; }

}  // namespace

Network::Network(const Profile& profile, const World& world)
    : world_(world),
      reduce_seconds_per_byte_(kReduceTraffic * inverse(profile.memory_rate)),
      memory_seconds_per_byte_(inverse(profile.memory_rate)),
      local_{profile.local_latency.value, profile.local_low_latency.value, inverse(profile.local_rate), false},
      remote_{profile.network_latency.value, profile.network_low_latency.value, inverse(profile.path_rate()),
              profile.path_rate() < profile.node_rate()} {
  const int worker_nodes = (world.workers + profile.gpus_per_node - 1) / profile.gpus_per_node;
  const int ranks = world.ranks();
  node_.resize(ranks);
  for (Rank rank = 0; rank < ranks; ++rank)
    node_[rank] = rank < world.workers ? rank / profile.gpus_per_node : worker_nodes + rank - world.workers;
  nodes_ = worker_nodes + (ranks - world.workers);

  seconds_per_byte_.assign(2 * (ranks + nodes_), inverse(profile.local_rate));
  std::fill(seconds_per_byte_.begin() + 2 * ranks, seconds_per_byte_.end(), inverse(profile.node_rate()));
  server_resource_.assign(ranks, -1);
  for (int server = 0; server < world.servers; ++server) {
    int& resource = server_resource_[world.server_rank(server)];
    if (resource >= 0) continue;  // more servers than ranks: they share one
    resource = static_cast<int>(seconds_per_byte_.size());
    seconds_per_byte_.push_back(inverse(profile.server_rate));
  }
  reset();
}

void Network::reset() {
  free_at_.assign(seconds_per_byte_.size(), 0);
  streams_.assign(node_.size(), {});
  last_streams_.assign(node_.size(), 0);
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

double Network::pass(int resource, double start, double bytes) {
  double& free_at = free_at_[resource];
  free_at = std::max(free_at, start) + bytes * seconds_per_byte_[resource];
  return free_at;
}

SimulatedCollective::SimulatedCollective(Network& network, const Schedule& schedule, const Compressor& compressor,
                                         std::int64_t elements, Seconds start)
    : network_(&network),
      schedule_(&schedule),
      compressor_(&compressor),
      chunks_(static_cast<std::size_t>(schedule.chunks)),
      ready_(static_cast<std::size_t>(schedule.world.ranks()) * chunks_, start.value),
      chunk_elements_(chunks_) {
  for (int chunk = 0; chunk < schedule.chunks; ++chunk)
    chunk_elements_[chunk] = schedule.range(chunk, 1, elements).size();
}

std::size_t SimulatedCollective::round_end() const {
  const auto& transfers = schedule_->transfers;
  std::size_t end = next_;
  while (end < transfers.size() && transfers[end].round == transfers[next_].round) ++end;
  return end;
}

double SimulatedCollective::data_ready(const Transfer& transfer) const {
  double latest = 0;
  for (int chunk = transfer.first_chunk; chunk < transfer.first_chunk + transfer.chunk_count; ++chunk)
    latest = std::max(latest, ready(transfer.src, chunk));
  return latest;
}

Seconds SimulatedCollective::next_round() const {
  double earliest = std::numeric_limits<double>::infinity();
  for (std::size_t i = next_, end = round_end(); i < end; ++i)
    earliest = std::min(earliest, data_ready(schedule_->transfers[i]));
  return Seconds(earliest);
}

double SimulatedCollective::arrival(const Transfer& transfer) {
  Network& net = *network_;
  std::int64_t elements = 0;
  for (int chunk = transfer.first_chunk; chunk < transfer.first_chunk + transfer.chunk_count; ++chunk)
    elements += chunk_elements_[chunk];
  const double start = data_ready(transfer);
  if (elements == 0 || transfer.src == transfer.dst) return start;

  const double raw = static_cast<double>(elements) * sizeof(float);
  const int from = net.node_[transfer.src];
  const int to = net.node_[transfer.dst];
  const bool local = from == to;
  const Network::Hop& hop = local ? net.local_ : net.remote_;
  double bytes = static_cast<double>(compressor_->wire_bytes(elements));
  double latency = hop.latency;
  if (hop.low_latency > 0 && hop.low_latency + bytes * hop.seconds_per_byte < hop.latency) {
    latency = hop.low_latency;
    bytes *= 2;
  }
  double passed = net.pass(local ? net.local_out(transfer.src) : net.nic_out(from), start, bytes);
  passed = std::max(passed, net.pass(local ? net.local_in(transfer.dst) : net.nic_in(to), start, bytes));
  if (!local && hop.own_queue) {
    double& free_at = net.streams_free_at(transfer.src, transfer.dst);
    free_at = std::max(free_at, start) + bytes * hop.seconds_per_byte;
    passed = std::max(passed, free_at);
  }
  // A push is handled by the server that receives it, a pull by the one that sends it.
  const int server = net.server_resource_[transfer.kind == TransferKind::reduce ? transfer.dst : transfer.src];
  if (server >= 0) passed = std::max(passed, net.pass(server, start, bytes));

  const double codec = 2 * raw * compressor_->memory_traffic * net.memory_seconds_per_byte_;
  const double reduction = transfer.kind == TransferKind::reduce ? raw * net.reduce_seconds_per_byte_ : 0;
  return passed + latency + codec + reduction;
}

void SimulatedCollective::advance() {
  const std::size_t end = round_end();
  arrivals_.clear();
  for (std::size_t i = next_; i < end; ++i) arrivals_.push_back(arrival(schedule_->transfers[i]));
  // Written after all were read: a round reads the state before it.
  for (std::size_t i = next_; i < end; ++i) {
    const Transfer& transfer = schedule_->transfers[i];
    for (int chunk = transfer.first_chunk; chunk < transfer.first_chunk + transfer.chunk_count; ++chunk) {
      double& at = ready_[static_cast<std::size_t>(transfer.dst) * chunks_ + chunk];
      at = std::max(at, arrivals_[i - next_]);
    }
  }
  next_ = end;
}

Seconds SimulatedCollective::finish(Rank rank) const {
  const auto begin = ready_.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(rank) * chunks_);
  return Seconds(*std::max_element(begin, begin + static_cast<std::ptrdiff_t>(chunks_)));
}

Seconds SimulatedCollective::finish() const {
  Seconds last;
  for (Rank rank = 0; rank < schedule_->world.workers; ++rank) last = std::max(last, finish(rank));
  return last;
}

Seconds simulate(Network& network, const Schedule& schedule, const Compressor& compressor, std::int64_t elements) {
  network.reset();
  SimulatedCollective collective(network, schedule, compressor, elements, Seconds(0));
  while (!collective.done()) collective.advance();
  return collective.finish();
}

}  // namespace hbench
