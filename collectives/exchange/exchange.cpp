#include "collectives/exchange/exchange.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>

#include "collectives/base/error.hpp"

namespace hbench {
namespace {

std::vector<std::string_view> names_with_an_all_gather() {
  std::vector<std::string_view> names;
  for (const Algorithm* algorithm : algorithms_for(CollectiveKind::all_reduce))
    if (all_gather_of({algorithm, std::string(algorithm->defaults)})) names.push_back(algorithm->name);
  return names;
}

std::string refuse_gather(const AlgorithmChoice& algorithm, std::string_view compressor, const World& world) {
  const std::optional<AlgorithmChoice> gather = all_gather_of(algorithm);
  if (!gather)
    return fmt::format(
        "{} all-gathers what every rank encoded, and there is no all-gather called {}; there is one for: {}",
        compressor, algorithm.algorithm->name, fmt::join(names_with_an_all_gather(), ", "));
  return gather->algorithm->refuses(world);
}

std::string refuse_compressed(const AlgorithmChoice& choice, const CompressorChoice& compressor, DataType type,
                              ReduceOp op, const World& world) {
  const Algorithm& algorithm = *choice.algorithm;
  const std::string name = compressor.text();
  const Exchange exchange = compressor.compressor->exchange;
  if (algorithm.is_vendor())
    return fmt::format("{} sends elements as they are: it cannot be combined with {}", algorithm.name, name);
  if (type != DataType::float32) return fmt::format("{} compresses float32, not {}", name, entry_of(type).name);
  if (op != ReduceOp::sum && op != ReduceOp::average)
    return fmt::format("{} compresses gradients, which are added up: {} cannot be combined with it", name,
                       entry_of(op).name);
  if (exchange == Exchange::per_hop) return {};
  if (algorithm.collective != CollectiveKind::all_reduce)
    return fmt::format("{} compresses an all-reduce as a whole, not {}", name, to_string(algorithm.collective));
  if (exchange == Exchange::gather) return refuse_gather(choice, name, world);
  if (algorithm.uses_servers)
    return fmt::format("{} needs all-reduces among workers: {} has servers", name, algorithm.name);
  return {};
}

}  // namespace

ExchangeMemory::ExchangeMemory(const CompressorChoice& compressor, std::int64_t elements, std::uint64_t with_seed,
                               Device& on_device)
    : device(on_device), seed(with_seed), gradient(compressor.make_memory(elements, device)) {
  if (compressor.compressor->exchange == Exchange::low_rank)
    factors.emplace(make_low_rank_state(compressor, elements, seed, device));
}

void ExchangeMemory::walk(StateWalk& state, const CompressorChoice& compressor) {
  state.number("exchanges", step);
  if (gradient != nullptr) gradient->walk(state);
  state.number("elements of a part", sum_elements);
  if (sum == nullptr && sum_elements > 0) sum = compressor.make_memory(sum_elements, device);
  if (sum != nullptr) sum->walk(state);
  if (factors) factors->walk(state);
}

ElementRange own_part(Endpoint& endpoint, const AlgorithmChoice& algorithm, const World& world,
                      const RankGroups& groups, std::span<const float> buffer) {
  const std::int64_t elements = std::ssize(buffer);
  const ExchangeRequest within{.world = world, .groups = groups};
  const int parts = within.among().workers, own = groups.place(endpoint.transport().rank(), world.workers);
  if (algorithm.algorithm->is_vendor()) return {own * elements / parts, (own + 1) * elements / parts};
  const Schedule& schedule = schedule_of(endpoint, within, algorithm, buffer.size_bytes());
  const int chunks = schedule.chunks / parts;
  return schedule.range(own * chunks, chunks, elements);
}

std::unique_ptr<Operation> prepare_exchange(Endpoint& endpoint, const ExchangeRequest& asked) {
  const Operand& operand = asked.operand;
  const std::string refusal =
      refuse_exchange(asked.algorithm, asked.compressor, operand.type, operand.op, asked.among());
  if (!refusal.empty()) throw Error(ExitCode::usage, refusal, "see hbench list algorithms and hbench list compressors");
  if (!asked.groups.all() && (asked.algorithm.algorithm->is_vendor() || operand.op == ReduceOp::average))
    throw Error(ExitCode::usage, "within groups of ranks are sums alone, and no library's own collectives",
                "choose ring and sum");
  if (asked.algorithm.algorithm->is_vendor()) return endpoint.vendor(asked.algorithm.algorithm->collective, operand);

  if (asked.compressor.verbatim())
    return endpoint.prepare(schedule_of(endpoint, asked, asked.algorithm, operand.buffer.size(), asked.shards), operand,
                            nullptr);
  Device& device = endpoint.device();
  if (const std::string why = refuse_device(device, asked.compressor); !why.empty())
    throw Error(ExitCode::usage, why, "choose another compressor, or an executor in host memory");
  ExchangeRequest request = asked;
  if (request.memory == nullptr)
    request.memory = std::make_shared<ExchangeMemory>(request.compressor, operand.elements(), 1, device);
  if (&request.memory->device != &device) throw std::logic_error("the memory of an exchange is on another device");
  if (request.compressor.both_sides) return prepare_both_sides(endpoint, request);
  switch (request.compressor.compressor->exchange) {
    case Exchange::gather:
      return &device == &host_device() ? prepare_gather(endpoint, request) : prepare_fixed_gather(endpoint, request);
    case Exchange::low_rank:
      return prepare_low_rank(endpoint, request);
    case Exchange::per_hop:
      break;
  }
  return prepare_per_hop(endpoint, request);
}

std::optional<AlgorithmChoice> all_gather_of(const AlgorithmChoice& algorithm) {
  if (algorithm.algorithm->is_vendor()) return std::nullopt;
  return same_named(algorithm, CollectiveKind::all_gather);
}

std::string refuse_exchange(const AlgorithmChoice& algorithm, const CompressorChoice& compressor, DataType type,
                            ReduceOp op, const World& world) {
  if (std::string why = algorithm.algorithm->refuses(world); !why.empty())
    return fmt::format("{} cannot serve this world: {}", algorithm.text(), why);
  if (!compressor.verbatim()) return refuse_compressed(algorithm, compressor, type, op, world);
  const bool half = type == DataType::float16 || type == DataType::bfloat16;
  if (algorithm.algorithm->is_vendor() && half)
    return fmt::format("{} is MPI's, which has no type for {}", algorithm.algorithm->name, entry_of(type).name);
  return {};
}

std::string refuse_device(Device& device, const CompressorChoice& compressor) {
  const Compressor& entry = *compressor.compressor;
  if (&device == &host_device() || compressor.verbatim()) return {};
  if (entry.make_memory != nullptr) return fmt::format("{} keeps its memory on the host, not on a GPU", entry.name);
  const bool able = entry.exchange == Exchange::low_rank ? device.low_rank_products() != nullptr
                                                         : device.codec_of(compressor) != nullptr;
  return able ? std::string() : fmt::format("{} works in host memory, not on a GPU", entry.name);
}

}  // namespace hbench
