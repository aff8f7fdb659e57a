#include <fmt/format.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/context.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>

#include <array>
#include <chrono>
#include <deque>
#include <map>
#include <memory>

#include "bench/peers/peers.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/table.hpp"
#include "collectives/transport/transport.hpp"

namespace hbench {
namespace {

/// Below the tags of `Endpoint::prepare`, and not those of `Agreement`.
constexpr int kTag = 12000;

/// The rank that sets a key: its number ends it.
Rank owner_of(const std::string& key) {
  const std::size_t digits = key.find_last_not_of("0123456789") + 1;  // npos + 1 is 0
  if (digits == key.size()) throw Error(ExitCode::internal, fmt::format("Gloo asks for '{}', which no rank owns", key));
  return std::stoi(key.substr(digits));
}

/// Gloo's key-value store, in which every rank sets keys of its own: what is set is sent to all others.
class TransportStore final : public gloo::rendezvous::Store {
 public:
  TransportStore(Transport& transport, Seconds timeout) : transport_(transport), timeout_(timeout) {}
  ~TransportStore() override = default;

  void set(const std::string& key, const std::vector<char>& data) override {
    known_[key] = data;
    const Parcel& parcel = parcels_.emplace_back(Parcel{{key.size(), data.size()}, key, data});
    for (Rank peer = 0; peer < transport_.size(); ++peer) {
      if (peer == transport_.rank()) continue;
      send(peer, std::as_bytes(std::span(parcel.sizes)));
      send(peer, std::as_bytes(std::span(parcel.key)));
      send(peer, std::as_bytes(std::span(parcel.data)));
    }
  }

  std::vector<char> get(const std::string& key) override {
    for (auto found = known_.find(key);; found = known_.find(key)) {
      if (found != known_.end()) return found->second;
      receive_from(owner_of(key));
    }
  }

  /// `get` waits.
  void wait(const std::vector<std::string>&) override {}

  void finish() {
    for (PostedMessage& message : sent_) wait_for(message, timeout_, kWhat);
  }

 private:
  static constexpr std::string_view kWhat = "connecting Gloo";

  struct Parcel {
    std::array<std::uint64_t, 2> sizes;
    std::string key;
    std::vector<char> data;
  };

  void send(Rank peer, std::span<const std::byte> bytes) {
    sent_.emplace_back(transport_, transport_.send(peer, kTag, bytes), peer);
  }

  void receive(Rank from, std::span<std::byte> bytes) {
    PostedMessage message(transport_, transport_.receive(from, kTag, bytes), from);
    wait_for(message, timeout_, kWhat);
  }

  void receive_from(Rank owner) {
    std::array<std::uint64_t, 2> sizes{};
    receive(owner, std::as_writable_bytes(std::span(sizes)));
    std::string key(sizes[0], ' ');
    std::vector<char> data(sizes[1]);
    receive(owner, std::as_writable_bytes(std::span(key)));
    receive(owner, std::as_writable_bytes(std::span(data)));
    known_[key] = data;
  }

  Transport& transport_;
  Seconds timeout_;
  std::map<std::string, std::vector<char>> known_;
  std::deque<Parcel> parcels_;  ///< a deque, so that what is being sent stays where it is
  std::deque<PostedMessage> sent_;
};

/// Gloo's connections between all ranks, over TCP on the loopback interface; addresses are exchanged by `transport`.
/// \throws Error (lost_rank, environment).
std::shared_ptr<gloo::Context> connect_gloo_context(Transport& transport, Seconds timeout) {
  try {
    auto device = gloo::transport::tcp::CreateDevice("127.0.0.1");
    auto context = std::make_shared<gloo::rendezvous::Context>(transport.rank(), transport.size());
    context->setTimeout(std::chrono::milliseconds(static_cast<std::int64_t>(timeout.value * 1e3)));
    TransportStore store(transport, timeout);
    context->connectFullMesh(store, device);
    store.finish();
    return context;
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(ExitCode::environment, fmt::format("Gloo cannot connect the ranks: {}", error.what()),
                "leave out --peers, or allow TCP on the loopback interface");
  }
}

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
