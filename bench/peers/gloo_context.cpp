#include "bench/peers/gloo_context.hpp"

#include <fmt/format.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>

#include <chrono>
#include <deque>

#include "bench/collective/message.hpp"
#include "collectives/base/error.hpp"
#include "collectives/executors/wait.hpp"

namespace hbench {
namespace {

/// Below the tags of `Endpoint::prepare`, and not those of `Agreement`.
constexpr int kTag = 12000;

/// Gloo's key-value store, in which every rank sets one key, its number: what is set is sent to all others.
class TransportStore final : public gloo::rendezvous::Store {
 public:
  TransportStore(Transport& transport, Seconds timeout) : transport_(transport), timeout_(timeout) {}
  ~TransportStore() override = default;

  void set(const std::string&, const std::vector<char>& data) override {
    data_ = data;
    size_ = data.size();
    for (Rank peer = 0; peer < transport_.size(); ++peer) {
      if (peer == transport_.rank()) continue;
      sent_.emplace_back(transport_, transport_.send(peer, kTag, std::as_bytes(std::span(&size_, 1))), peer);
      sent_.emplace_back(transport_, transport_.send(peer, kTag, std::as_bytes(std::span(data_))), peer);
    }
  }

  std::vector<char> get(const std::string& key) override {
    const Rank from = std::stoi(key);
    std::uint64_t size = 0;
    receive(from, std::as_writable_bytes(std::span(&size, 1)));
    std::vector<char> data(size);
    receive(from, std::as_writable_bytes(std::span(data)));
    return data;
  }

  /// `get` waits.
  void wait(const std::vector<std::string>&) override {}

  void finish() {
    for (Message& message : sent_) wait_for(message, timeout_, "connecting Gloo");
  }

 private:
  void receive(Rank from, std::span<std::byte> bytes) {
    Message message(transport_, transport_.receive(from, kTag, bytes), from);
    wait_for(message, timeout_, "connecting Gloo");
  }

  Transport& transport_;
  Seconds timeout_;
  std::vector<char> data_;
  std::uint64_t size_ = 0;
  std::deque<Message> sent_;
};

}  // namespace

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

}  // namespace hbench
