#include "bench/peers/gloo.hpp"

#include <fmt/format.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring_chunked.h>

#include <array>

#include "bench/peers/peers.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/table.hpp"

namespace hbench {
namespace {

constexpr std::string_view kRingChunked = "ring-chunked", kHalvingDoubling = "halving-doubling";

std::string refuse(DataType type, ReduceOp) {
  if (type == DataType::float16 || type == DataType::bfloat16)
    return fmt::format("Gloo is not asked for {}", entry_of(type).name);
  return {};
}

constexpr std::array kPeers{
    Peer{"gloo", kRingChunked, "Gloo 0.5's AllreduceRingChunked over TCP", refuse},
    Peer{"gloo", kHalvingDoubling, "Gloo 0.5's AllreduceHalvingDoubling over TCP", refuse},
};

template <class T>
const gloo::ReductionFunction<T>* function_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::min:
      return gloo::ReductionFunction<T>::min;
    case ReduceOp::max:
      return gloo::ReductionFunction<T>::max;
    case ReduceOp::product:
      return gloo::ReductionFunction<T>::product;
    case ReduceOp::sum:
    case ReduceOp::average:
      break;
  }
  return gloo::ReductionFunction<T>::sum;
}

/// Calls `f` with a value of the type.
template <class F>
void with_type(DataType type, F f) {
  switch (type) {
    case DataType::float32:
      return f(float());
    case DataType::float64:
      return f(double());
    case DataType::int32:
      return f(std::int32_t());
    case DataType::int64:
      return f(std::int64_t());
    case DataType::uint8:
      return f(std::uint8_t());
    case DataType::float16:
    case DataType::bfloat16:
      break;
  }
  throw Error(ExitCode::usage, refuse(type, ReduceOp::sum));
}

template <class T>
std::shared_ptr<gloo::Algorithm> make_algorithm(const std::shared_ptr<gloo::Context>& context,
                                                std::string_view algorithm, const Operand& operand) {
  const auto count = static_cast<int>(operand.elements());
  const std::vector<T*> pointers{reinterpret_cast<T*>(operand.buffer.data())};
  if (algorithm == kRingChunked)
    return std::make_shared<gloo::AllreduceRingChunked<T>>(context, pointers, count, function_of<T>(operand.op));
  return std::make_shared<gloo::AllreduceHalvingDoubling<T>>(context, pointers, count, function_of<T>(operand.op));
}

void run(gloo::Algorithm& algorithm) {
  try {
    algorithm.run();
  } catch (const gloo::Exception& error) {
    throw Error(ExitCode::lost_rank, fmt::format("Gloo: {}", error.what()), "see what the other ranks said last");
  }
}

class Gloo final : public PeerLibraries {
 public:
  Gloo(Endpoint& endpoint, Seconds timeout) : context_(connect_gloo_context(endpoint.transport(), timeout)) {}

  std::unique_ptr<Operation> make(std::string_view algorithm, const Operand& operand) override {
    std::vector<std::string_view> names;
    for (const Peer& peer : kPeers) names.push_back(peer.algorithm);
    if (std::ranges::find(names, algorithm) == names.end()) throw unknown_name("all-reduce of Gloo", algorithm, names);
    if (operand.elements() > INT32_MAX) throw Error(ExitCode::usage, "Gloo counts elements in 32 bits");
    std::shared_ptr<gloo::Algorithm> made;
    with_type(operand.type, [&]<class T>(T) { made = make_algorithm<T>(context_, algorithm, operand); });
    return std::make_unique<BlockingAllReduce>(operand, context_->size, [made] { run(*made); });
  }

 private:
  std::shared_ptr<gloo::Context> context_;
};

}  // namespace

PeerSet gloo_peers() {
  return {.peers = kPeers, .connect = [](Endpoint& endpoint, Seconds timeout) -> std::unique_ptr<PeerLibraries> {
            return std::make_unique<Gloo>(endpoint, timeout);
          }};
}

}  // namespace hbench
