#include "bench/worker/candidate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/prediction/case_strategy.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/table.hpp"
#include "collectives/executors/executor.hpp"
#include "collectives/transport/transport.hpp"

namespace hbench {
namespace {

std::int64_t element_count(const Case& asked) {
  return asked.collective.bytes / static_cast<std::int64_t>(size_of(parse_data_type(asked.collective.data_type)));
}

}  // namespace

bool is_ours(const Case& asked) {
  return std::ranges::any_of(executors(),
                             [&](const ExecutorKind* kind) { return kind->name == asked.collective.executor; });
}

std::int64_t plain_bytes_of(const Schedule& schedule, std::int64_t elements, std::int64_t element_size) {
  std::vector<std::int64_t> sent(static_cast<std::size_t>(schedule.world.ranks()));
  for (const Transfer& transfer : schedule.transfers)
    if (transfer.src != transfer.dst)
      sent[static_cast<std::size_t>(transfer.src)] +=
          schedule.range(transfer.first_chunk, transfer.chunk_count, elements).size() * element_size;
  return std::ranges::max(sent);
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

Candidate::Candidate(const Case& asked, std::span<const std::int64_t> tensors, const CandidateTools& tools)
    : compressor_(parse_compressor(asked.strategy.compressor)),
      what_(fmt::format("{} {} of {} B, rank {}", asked.collective.name, asked.strategy.algorithm,
                        asked.collective.bytes, tools.endpoint.transport().rank())) {
  const DataType type = parse_data_type(asked.collective.data_type);
  const ReduceOp op = parse_reduce_op(asked.collective.operation);
  std::size_t begin = 0;
  for (const std::int64_t elements : tensors) {
    const std::size_t bytes = static_cast<std::size_t>(elements) * size_of(type);
    add(asked, {tools.buffer.subspan(begin, bytes), type, op}, tools);
    begin += bytes;
  }
  if (parts_.empty()) parts_ = parts_of(nullptr, asked.gpus, element_count(asked));
}

void Candidate::add(const Case& asked, const Operand& operand, const CandidateTools& tools) {
  if (!is_ours(asked)) {
    if (tools.peers == nullptr)
      throw Error(ExitCode::usage, fmt::format("this program knows no {}", asked.collective.executor));
    operations_.push_back(tools.peers->make(asked.strategy.algorithm, operand));
    return;
  }
  const World world = world_of_collective(asked);
  const auto bytes = static_cast<std::int64_t>(operand.buffer.size());
  const AlgorithmChoice algorithm = algorithm_of(asked, bytes);
  const int segments = asked.collective.segments > 0 ? asked.collective.segments : algorithm.segments(world, bytes);
  operations_.push_back(prepare_exchange(tools.endpoint, {.world = world,
                                                          .algorithm = algorithm,
                                                          .compressor = compressor_,
                                                          .operand = operand,
                                                          .segments = asked.collective.segments,
                                                          .times = tools.times}));
  if (algorithm.algorithm->is_vendor()) return;
  const Schedule& schedule = tools.endpoint.schedules().of(algorithm, world, segments);
  parts_ = parts_of(&schedule, asked.gpus, operand.elements());
  plain_bytes_ += plain_bytes_of(schedule, operand.elements(), static_cast<std::int64_t>(size_of(operand.type)));
}

void Candidate::run(Seconds timeout) {
  for (const std::unique_ptr<Operation>& operation : operations_) {
    if (used_) operation->restart();
    wait_for(*operation, timeout, what_);
  }
  used_ = true;
}

}  // namespace hbench
