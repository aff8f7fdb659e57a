#include "bench/collective/contender.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "collectives/base/error.hpp"
#include "collectives/base/table.hpp"
#include "collectives/executors/executor.hpp"
#include "collectives/executors/wait.hpp"

namespace hbench {
namespace {

bool is_ours(const Case& asked) {
  return std::ranges::any_of(executors(),
                             [&](const ExecutorKind* kind) { return kind->name == asked.collective.executor; });
}

std::int64_t element_count(const Case& asked) {
  return asked.collective.bytes / static_cast<std::int64_t>(size_of(parse_data_type(asked.collective.data_type)));
}

}  // namespace

Traffic traffic_of(const Schedule& schedule, const Encoding& encoding, std::int64_t elements) {
  std::vector<Traffic> ranks(static_cast<std::size_t>(schedule.world.ranks()));
  std::set<std::tuple<std::int32_t, Rank, std::int32_t, std::int32_t>> encoded;
  for (const Transfer& transfer : schedule.transfers) {
    if (transfer.src == transfer.dst) continue;
    const std::int64_t count = schedule.range(transfer.first_chunk, transfer.chunk_count, elements).size();
    Traffic& from = ranks[static_cast<std::size_t>(transfer.src)];
    from.wire_bytes += encoding.wire_bytes(count);
    from.plain_bytes += count * static_cast<std::int64_t>(encoding.element_size);
    if (encoded.insert({transfer.round, transfer.src, transfer.first_chunk, transfer.chunk_count}).second)
      from.encoded += count;
    ranks[static_cast<std::size_t>(transfer.dst)].decoded += count;
  }
  Traffic busiest;
  for (const Traffic& rank : ranks) {
    busiest.wire_bytes = std::max(busiest.wire_bytes, rank.wire_bytes);
    busiest.plain_bytes = std::max(busiest.plain_bytes, rank.plain_bytes);
    busiest.encoded = std::max(busiest.encoded, rank.encoded);
    busiest.decoded = std::max(busiest.decoded, rank.decoded);
  }
  return busiest;
}

World world_of_collective(const Case& asked) {
  World world{asked.gpus, asked.strategy.servers, asked.strategy.server_mode == "colocated"};
  if (asked.collective.ranks_per_node > 0) world.group = asked.collective.ranks_per_node;
  return world;
}

AlgorithmChoice algorithm_of(const Case& asked, std::int64_t bytes) {
  const Goal goal = parse_goal(asked.collective.name);
  if (goal != Goal::all_reduce) return parse_algorithm(asked.strategy.algorithm, goal);
  return parse_algorithm_rule(asked.strategy.algorithm).at(bytes);
}

Schedule schedule_of(const Case& asked, const AlgorithmChoice& algorithm, std::int64_t elements) {
  const World world = world_of_collective(asked);
  const auto size = static_cast<std::int64_t>(size_of(parse_data_type(asked.collective.data_type)));
  const int segments =
      asked.collective.segments > 0 ? asked.collective.segments : algorithm.segments(world, elements * size);
  return algorithm.build(world, segments);
}

std::vector<ElementRange> parts_of(const Schedule* schedule, int workers, std::int64_t elements) {
  std::vector<ElementRange> parts;
  for (int worker = 0; worker < workers; ++worker) {
    if (schedule != nullptr && schedule->chunks % workers == 0) {
      const int chunks = schedule->chunks / workers;
      parts.push_back(schedule->range(worker * chunks, chunks, elements));
    } else {
      parts.push_back({elements / workers * worker, elements / workers * (worker + 1)});
    }
  }
  return parts;
}

Contender::Contender(const Case& asked, std::span<const std::int64_t> tensors, Endpoint& endpoint,
                     std::span<std::byte> buffer, PeerLibraries* peers)
    : compressor_(parse_compressor(asked.strategy.compressor)),
      what_(fmt::format("{} {} of {} B, rank {}", asked.collective.name, asked.strategy.algorithm,
                        asked.collective.bytes, endpoint.transport().rank())) {
  const DataType type = parse_data_type(asked.collective.data_type);
  const ReduceOp op = parse_reduce_op(asked.collective.operation);
  std::size_t begin = 0;
  for (const std::int64_t elements : tensors) {
    const std::size_t bytes = static_cast<std::size_t>(elements) * size_of(type);
    add(asked, {buffer.subspan(begin, bytes), type, op}, endpoint, peers);
    begin += bytes;
  }
  if (parts_.empty()) parts_ = parts_of(nullptr, asked.gpus, element_count(asked));
}

void Contender::add(const Case& asked, const Operand& operand, Endpoint& endpoint, PeerLibraries* peers) {
  if (!is_ours(asked)) {
    if (peers == nullptr)
      throw Error(ExitCode::usage, fmt::format("this program knows no {}", asked.collective.executor));
    operations_.push_back(peers->make(asked.strategy.algorithm, operand));
    return;
  }
  const AlgorithmChoice algorithm = algorithm_of(asked, static_cast<std::int64_t>(operand.buffer.size()));
  if (algorithm.algorithm->opaque()) {
    operations_.push_back(endpoint.vendor(parse_goal(asked.collective.name), operand));
    return;
  }
  const Schedule schedule = schedule_of(asked, algorithm, operand.elements());
  Encoding encoding = compressor_.encoding();
  encoding.element_size = size_of(operand.type);
  operations_.push_back(endpoint.prepare(schedule, operand, encoding.codec));
  parts_ = parts_of(&schedule, asked.gpus, operand.elements());
  const Traffic traffic = traffic_of(schedule, encoding, operand.elements());
  if (!traffic_) traffic_.emplace();
  traffic_->wire_bytes += traffic.wire_bytes;
  traffic_->plain_bytes += traffic.plain_bytes;
  traffic_->encoded += traffic.encoded;
  traffic_->decoded += traffic.decoded;
}

void Contender::run(Seconds timeout) {
  for (const std::unique_ptr<Operation>& operation : operations_) {
    if (used_) operation->restart();
    wait_for(*operation, timeout, what_);
  }
  used_ = true;
}

}  // namespace hbench
