#include "collectives/network/simulator.hpp"

#include <limits>

#include "collectives/base/error.hpp"
#include "collectives/network/concurrent_collectives.hpp"

namespace hbench {

SimulatedCollective::SimulatedCollective(Network& network, const SimulationPlan& plan, const Encoding& encoding,
                                         std::int64_t elements, Seconds start)
    : network_(&network),
      plan_(&plan),
      messages_(network, encoding),
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

double SimulatedCollective::arrival(const Transfer& transfer, bool whole) {
  const auto [round, src, dst, first_chunk, chunk_count, kind] = transfer;
  const std::int64_t elements = elements_of(transfer);
  const double start = ready_.of(src, first_chunk, chunk_count, whole);
  if (elements == 0 || src == dst) return start;
  const Network::Message& sent = messages_.of(network_->is_local(src, dst), kind, elements);
  return network_->pass_links(src, dst, sent, start) + sent.afterwards;
}

SimulatedCollective::Lockstep SimulatedCollective::next_lockstep(const PlannedRun& planned, int index) const {
  const TransferRun& run = planned.run;
  const Transfer first = run.at(index);
  const int stride = run.chunk_step * planned.groups;
  const int count = (run.count - 1 - index) / planned.groups + 1;
  // An even split gives the first chunks one element more.
  const auto chunks = static_cast<std::int64_t>(chunk_begin_.size()) - 1;
  const int longer = static_cast<int>(chunk_begin_.back() % chunks) - first.first_chunk;
  return {first, run.src_step * planned.groups, run.dst_step * planned.groups, stride,
          longer > 0 ? std::min(count, (longer + stride - 1) / stride) : count};
}

void SimulatedCollective::arrivals_of(const Lockstep& step, double* arrivals) {
  Network& net = *network_;
  const RankLayout& layout = net.layout_;
  const auto [round, src, dst, first_chunk, chunk_count, kind] = step.first;
  const double* fine = ready_.carried_from(first_chunk);
  const double* whole = ready_.whole_from(src);
  const auto begin = [=](int i) { return std::max(whole[i], fine[i]); };
  const std::int64_t elements = elements_of(step.first);
  if (elements == 0) {
    for (int i = 0; i < step.count; ++i) arrivals[i] = begin(i);
    return;
  }
  const bool local = layout.node[src] == layout.node[dst];
  const Network::Message sent = messages_.of(local, kind, elements);
  if (sent.streams > 0 && !claim_streams(step)) return arrivals_one_by_one(step, arrivals);

  double* out = local ? &net.link_out_[layout.lane[src]] : &net.nic_out_[layout.node[src]];
  double* in = local ? &net.link_in_[layout.lane[dst]] : &net.nic_in_[layout.node[dst]];
  double* streams = &net.first_streams_free_at_[layout.lane[src]];
  const auto pass_all = [=, count = step.count](auto has_streams) {
  // No two of these transfers meet, and none of these arrays overlap, which the compiler cannot know.
#pragma GCC ivdep
    for (int i = 0; i < count; ++i) {
      double passed = Network::pass(out[i], begin(i), sent.link);
      passed = std::max(passed, Network::pass(in[i], begin(i), sent.link));
      if constexpr (decltype(has_streams)::value)
        passed = std::max(passed, Network::pass(streams[i], begin(i), sent.streams));
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

namespace {

Seconds simulate_concurrent(Network& network, const SimulationPlan& plan, const Encoding& encoding,
                            std::int64_t elements, const StopRequested& stop) {
  ConcurrentCollectives collectives(network, encoding);
  collectives.begin(std::make_shared<const ConcurrentPlan>(network.layout(), plan, elements), Seconds(0));
  Seconds finish;
  while (!collectives.idle()) {
    stop_if(stop);
    finish = collectives.next_event();
    collectives.advance();
  }
  return finish;
}

}  // namespace

Seconds simulate(Network& network, const SimulationPlan& plan, const Encoding& encoding, std::int64_t elements,
                 const StopRequested& stop) {
  network.reset();
  if (plan.world().servers > 0) return simulate_concurrent(network, plan, encoding, elements, stop);
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
