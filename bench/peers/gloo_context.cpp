#include "bench/peers/gloo.hpp"

#include <fmt/format.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>

#include <array>
#include <chrono>
#include <deque>
#include <map>

#include "collectives/base/error.hpp"
#include "collectives/transport/posted_message.hpp"
#include "collectives/transport/wait.hpp"

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
