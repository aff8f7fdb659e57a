#include "collectives/network/simulator.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

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

double server_seconds_per_byte(const Profile& profile, const World& world) {
  const int groups = (world.workers + world.group - 1) / world.group;
  // A co-located server also handles what its own worker (or group) contributes, though that does not travel: of n
  // contributions, n - 1 messages take the time of all.
  const double own = world.colocated && groups > 1 ? static_cast<double>(groups) / (groups - 1) : 1;
  return inverse(profile.server_rate) * own;
}

Network::Network(const Profile& profile, const World& world)
    : world_(world),
      memory_seconds_per_byte_(inverse(profile.memory_rate)),
      server_seconds_per_byte_(server_seconds_per_byte(profile, world)),
      local_{profile.local_latency.value, profile.local_low_latency.value, inverse(profile.local_rate), 0},
      remote_{profile.network_latency.value, profile.network_low_latency.value, inverse(profile.node_rate()),
              profile.path_rate() < profile.node_rate() ? inverse(profile.path_rate()) : 0},
      layout_(world, profile.gpus_per_node) {
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

SimulatedCollective::SimulatedCollective(Network& network, const SimulationPlan& plan, const Encoding& encoding,
                                         std::int64_t elements, Seconds start)
    : network_(&network),
      plan_(&plan),
      encoding_(encoding),
      ready_(network.layout(), plan, start.value),
      chunk_begin_(plan.chunk_begin(elements)) {}

std::size_t SimulatedCollective::round_end() const {
  const auto& runs = plan_->runs();
  std::size_t end = next_;
  while (end < runs.size() && runs[end].run.first.round == runs[next_].run.first.round) ++end;
  return end;
}

Seconds SimulatedCollective::next_round() const {
  double earliest = std::numeric_limits<double>::infinity();
  for (std::size_t i = next_, end = round_end(); i < end; ++i) {
    const TransferRun& run = plan_->runs()[i].run;
    for (int index = 0; index < run.count; ++index) {
      const Transfer transfer = run.at(index);
      earliest = std::min(earliest,
                          ready_.of(transfer.src, transfer.first_chunk, transfer.chunk_count, plan_->runs()[i].whole));
    }
  }
  return Seconds(earliest);
}

std::int64_t SimulatedCollective::elements_of(const Transfer& transfer) const {
  return chunk_begin_[transfer.first_chunk + transfer.chunk_count] - chunk_begin_[transfer.first_chunk];
}

const Network::Message& SimulatedCollective::message(bool local, TransferKind kind, std::int64_t elements) {
  Known& known = known_[(local ? 2 : 0) + (kind == TransferKind::reduce ? 1 : 0)];
  if (known.elements != elements) known = {elements, network_->message(local, kind, elements, encoding_)};
  return known.message;
}

double SimulatedCollective::arrival(const Transfer& transfer, bool whole) {
  Network& net = *network_;
  const auto [round, src, dst, first_chunk, chunk_count, kind] = transfer;
  const std::int64_t elements = elements_of(transfer);
  const double start = ready_.of(src, first_chunk, chunk_count, whole);
  if (elements == 0 || src == dst) return start;

  const RankLayout& layout = net.layout_;
  const int from = layout.node[src];
  const int to = layout.node[dst];
  const bool local = from == to;
  const Network::Message& sent = message(local, kind, elements);
  double passed = pass(local ? net.link_out_[layout.lane[src]] : net.nic_out_[from], start, sent.link);
  passed = std::max(passed, pass(local ? net.link_in_[layout.lane[dst]] : net.nic_in_[to], start, sent.link));
  if (sent.streams > 0) passed = std::max(passed, pass(net.streams_free_at(src, dst), start, sent.streams));
  // A push is handled by the server that receives it, a pull by the one that sends it.
  // Within a group no server is involved.
  const bool served = !(local && plan_->world().group > 1);
  const int server = net.server_[kind == TransferKind::reduce ? dst : src];
  if (served && server >= 0) passed = std::max(passed, pass(net.servers_free_at_[server], start, sent.server));
  return passed + sent.afterwards;
}

SimulatedCollective::Lockstep SimulatedCollective::next_lockstep(const PlannedRun& planned, int index) const {
  const TransferRun& run = planned.run;
  const Transfer first = run.at(index);
  const auto alike = [&](int further) {
    return elements_of(run.at(index + further * planned.groups)) == elements_of(first);
  };
  // Chunk sizes change once at most: an even split gives the first chunks one element more.
  int same = 0, end = (run.count - 1 - index) / planned.groups;
  while (same < end) {
    const int middle = end - (end - same) / 2;
    if (alike(middle))
      same = middle;
    else
      end = middle - 1;
  }
  return {first, run.src_step * planned.groups, run.dst_step * planned.groups, run.chunk_step * planned.groups,
          same + 1};
}

void SimulatedCollective::arrivals_of(const Lockstep& step, double* arrivals) {
  Network& net = *network_;
  const RankLayout& layout = net.layout_;
  const auto [round, src, dst, first_chunk, chunk_count, kind] = step.first;
  const bool local = layout.node[src] == layout.node[dst];
  const std::int64_t elements = elements_of(step.first);
  const Network::Message sent = message(local, kind, elements);
  if (elements == 0 || (sent.streams > 0 && !claim_streams(step))) return arrivals_one_by_one(step, arrivals);

  const double* fine = ready_.carried_from(first_chunk);
  const double* whole = ready_.whole_from(src);
  double* out = local ? &net.link_out_[layout.lane[src]] : &net.nic_out_[layout.node[src]];
  double* in = local ? &net.link_in_[layout.lane[dst]] : &net.nic_in_[layout.node[dst]];
  double* streams = &net.first_streams_free_at_[layout.lane[src]];
  const auto pass_all = [=, count = step.count](auto has_streams) {
  // No two of these transfers meet, and none of these arrays overlap, which the compiler cannot know.
#pragma GCC ivdep
    for (int i = 0; i < count; ++i) {
      const double begin = std::max(whole[i], fine[i]);
      double passed = pass(out[i], begin, sent.link);
      passed = std::max(passed, pass(in[i], begin, sent.link));
      if constexpr (decltype(has_streams)::value) passed = std::max(passed, pass(streams[i], begin, sent.streams));
      arrivals[i] = passed + sent.afterwards;
    }
  };
  if (sent.streams > 0)
    pass_all(std::true_type());
  else
    pass_all(std::false_type());
}

void SimulatedCollective::arrivals_one_by_one(const Lockstep& step, double* arrivals) {
  Transfer transfer = step.first;
  for (int i = 0; i < step.count; ++i) {
    arrivals[i] = arrival(transfer, false);
    transfer.src += step.src_stride;
    transfer.dst += step.dst_stride;
    transfer.first_chunk += step.chunk_stride;
  }
}

bool SimulatedCollective::claim_streams(const Lockstep& step) {
  int* to = &network_->first_streams_to_[network_->layout_.lane[step.first.src]];
  bool all = true;
  Rank dst = step.first.dst;
  for (int i = 0; i < step.count; ++i, dst += step.dst_stride) {
    if (to[i] < 0) to[i] = dst;
    all = all && to[i] == dst;
  }
  return all;
}

const double* SimulatedCollective::hold(const PlannedRun& planned, const double* arrivals) {
  const TransferRun& run = planned.run;
  if (planned.groups == 0) {
    for (int index = 0; index < run.count; ++index) {
      const Transfer transfer = run.at(index);
      ready_.arrive(transfer.dst, transfer.first_chunk, transfer.chunk_count, planned.whole, *arrivals++);
    }
    return arrivals;
  }
  for (int group = 0; group < std::min(planned.groups, run.count); ++group) {
    const Transfer first = run.at(group);
    const int count = (run.count - 1 - group) / planned.groups + 1;
    double* fine = ready_.carried_from(first.first_chunk);
    double* part = ready_.part_from(first.dst);
#pragma GCC ivdep
    for (int i = 0; i < count; ++i) {
      fine[i] = std::max(fine[i], arrivals[i]);
      part[i] = std::max(part[i], arrivals[i]);
    }
    arrivals += count;
  }
  return arrivals;
}

void SimulatedCollective::advance() {
  const std::size_t begin = next_;
  next_ = round_end();
  arrivals_.clear();
  for (std::size_t i = begin; i < next_; ++i) {
    const PlannedRun& planned = plan_->runs()[i];
    const TransferRun& run = planned.run;
    if (planned.groups == 0)
      for (int index = 0; index < run.count; ++index) arrivals_.push_back(arrival(run.at(index), planned.whole));
    for (int group = 0; group < std::min(planned.groups, run.count); ++group)
      for (int index = group; index < run.count;) {
        const Lockstep step = next_lockstep(planned, index);
        const std::size_t known = arrivals_.size();
        arrivals_.resize(known + static_cast<std::size_t>(step.count));
        arrivals_of(step, &arrivals_[known]);
        index += step.count * planned.groups;
      }
  }
  // Written after all were read: a round reads the state before it.
  const double* arrivals = arrivals_.data();
  for (std::size_t i = begin; i < next_; ++i) arrivals = hold(plan_->runs()[i], arrivals);
}

Seconds SimulatedCollective::finish() const {
  Seconds last;
  for (Rank rank = 0; rank < plan_->world().workers; ++rank) last = std::max(last, finish(rank));
  return last;
}

void stop_if(const StopRequested& requested) {
  if (requested && requested()) throw Error(ExitCode::interrupted, "the simulation was interrupted");
}

Seconds simulate(Network& network, const SimulationPlan& plan, const Encoding& encoding, std::int64_t elements,
                 const StopRequested& stop) {
  network.reset();
  SimulatedCollective collective(network, plan, encoding, elements, Seconds(0));
  while (!collective.done()) {
    stop_if(stop);
    collective.advance();
  }
  return collective.finish();
}

Seconds simulate(Network& network, const Schedule& schedule, const Encoding& encoding, std::int64_t elements,
                 const StopRequested& stop) {
  return simulate(network, SimulationPlan(network.layout(), to_runs(schedule)), encoding, elements, stop);
}

}  // namespace hbench
