// Ranks that tell each other where their data lie, on devices that do their work later.

#include "collectives/transport/peer_memory.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <set>

#include "collectives/base/error.hpp"
#include "collectives/transport/host_place.hpp"
#include "collectives/transport/transport.hpp"
#include "tests/collectives/conformance.hpp"
#include "tests/collectives/lazy_device.hpp"
#include "tests/collectives/thread_ranks.hpp"
#include "tests/support/expect_error.hpp"
#include "tests/support/matchers.hpp"

namespace hbench::peer_memory_test {
namespace {

using namespace ::hbench::support;

constexpr Seconds kTimeout{60};

/// In one process an address is a name that all understand.
class Addresses final : public PeerMemory {
 public:
  MemoryHandle handle_of(std::span<const std::byte> memory) override {
    constexpr std::uint64_t kOffset = 8;
    MemoryHandle handle;
    const std::byte* const base = memory.data() - kOffset;
    std::memcpy(handle.name.data(), &base, sizeof base);
    handle.offset = kOffset;
    return handle;
  }
  const std::byte* open(const MemoryHandle& handle) override {
    const std::byte* base = nullptr;
    std::memcpy(&base, handle.name.data(), sizeof base);
    return base + handle.offset;
  }
};

/// A rank of a job whose notices go between threads.
class PeerEndpoint final : public Endpoint {
 public:
  explicit PeerEndpoint(std::unique_ptr<Endpoint> home)
      : home_(std::move(home)),
        device_(static_cast<unsigned>(home_->transport().rank()) + 1),
        transport_(make_peer_memory_transport(home_->control(), device_, addresses_)) {}

  Transport& transport() override { return *transport_; }
  Transport& control() override { return home_->control(); }
  [[noreturn]] void abort(int exit_code) override {
    home_->abort(exit_code);
    std::abort();
  }

 private:
  std::unique_ptr<Endpoint> home_;
  Addresses addresses_;
  LazyDevice device_;
  std::unique_ptr<Transport> transport_;
};

support::Endpoints peers(int ranks) {
  support::Endpoints endpoints;
  for (auto& home : make_thread_endpoints(ranks)) endpoints.push_back(std::make_unique<PeerEndpoint>(std::move(home)));
  return endpoints;
}

class PeerMemories : public ::testing::TestWithParam<int> {};

TEST_P(PeerMemories, CarryEveryAlgorithm) {
  support::Endpoints endpoints = peers(GetParam());
  std::vector<Case> cases;
  for (Case c : support::plain_cases(GetParam()))
    for (const std::int64_t elements : {0, 1, 7, 1009}) {
      c.elements = elements;
      cases.push_back(c);
    }
  support::run_ranks(endpoints, [&](Endpoint& endpoint) {
    const Rank rank = endpoint.transport().rank();
    Device& device = endpoint.device();
    for (const Case& c : cases) {
      const Schedule schedule = support::schedule_of(c);
      const std::vector<std::byte> content = support::given(c, schedule, rank);
      const DeviceMemory memory = device.allocate(content.size());
      const std::span<std::byte> buffer(memory.get(), content.size());
      device.write(content, buffer);
      const auto operation = endpoint.prepare(schedule, {buffer, c.type, c.op}, nullptr);
      wait_for(*operation, kTimeout, c.name());
      const std::string wrong = support::judge(c, schedule, rank, {buffer.begin(), buffer.end()});
      if (!wrong.empty()) throw std::runtime_error(wrong);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, PeerMemories, ::testing::Values(1, 2, 3, 5));

/// Counts how often messages of the transport below are asked for.
class CountingTransport final : public Transport {
 public:
  explicit CountingTransport(Transport& inner) : inner_(inner) {}
  Rank rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  Request send(Rank to, int tag, std::span<const std::byte> payload) override { return inner_.send(to, tag, payload); }
  Request receive(Rank from, int tag, std::span<std::byte> landing, Sink* sink, std::size_t message) override {
    return inner_.receive(from, tag, landing, sink, message);
  }
  bool test(Request request) override {
    ++asked;
    return inner_.test(request);
  }
  void cancel(Request request) override { inner_.cancel(request); }

  int asked = 0;

 private:
  Transport& inner_;
};

// Servers, and ranks that exchange whole models tensor by tensor, have hundreds in flight, and ask for each.
TEST(PeerMemory, LooksAtAMessageForTheSameHoweverManyAreInFlight) {
  const auto homes = make_thread_endpoints(2);
  CountingTransport control(homes[0]->control());
  Addresses addresses;
  const auto sender = make_peer_memory_transport(control, host_device(), addresses);
  std::array<std::byte, 16> payload{};
  std::vector<Transport::Request> sent;
  for (int i = 0; i < 500; ++i) sent.push_back(sender->send(1, i, payload));
  control.asked = 0;
  for (const Transport::Request each : sent) EXPECT_FALSE(sender->test(each));
  EXPECT_LE(control.asked, 3 * static_cast<int>(sent.size()));
  for (const Transport::Request each : sent) sender->cancel(each);
}

TEST(PeerMemory, CarriesHundredsOfMessagesBetweenAllRanksAtOnce) {
  constexpr int kRanks = 3, kMessages = 200;
  support::Endpoints endpoints = peers(kRanks);
  support::run_ranks(endpoints, [&](Endpoint& endpoint) {
    Transport& transport = endpoint.transport();
    std::vector<int> own(kMessages), came(static_cast<std::size_t>(kRanks) * kMessages, -1);
    std::vector<Transport::Request> open;
    for (int i = 0; i < kMessages; ++i) own[static_cast<std::size_t>(i)] = 1000 * transport.rank() + i;
    for (Rank other = 0; other < kRanks; ++other)
      for (int i = 0; other != transport.rank() && i < kMessages; ++i) {
        open.push_back(transport.receive(other, i, as_message(came[static_cast<std::size_t>(other * kMessages + i)])));
        open.push_back(transport.send(other, i, as_message(own[static_cast<std::size_t>(i)])));
      }
    while (!open.empty()) std::erase_if(open, [&](Transport::Request each) { return transport.test(each); });
    for (Rank other = 0; other < kRanks; ++other)
      for (int i = 0; other != transport.rank() && i < kMessages; ++i)
        EXPECT_EQ(came[static_cast<std::size_t>(other * kMessages + i)], 1000 * other + i);
  });
}

TEST(PeerMemory, KeepsMessagesOfOneTagInOrderWhicheverIsAskedAfterFirst) {
  support::Endpoints endpoints = peers(2);
  support::run_ranks(endpoints, [&](Endpoint& endpoint) {
    Transport& transport = endpoint.transport();
    constexpr int kMessages = 20;
    std::vector<std::vector<std::byte>> messages;
    std::vector<Transport::Request> requests;
    for (int i = 0; i < kMessages; ++i) {
      const bool sends = transport.rank() == 0;
      messages.emplace_back(16, sends ? static_cast<std::byte>(i) : std::byte{0xff});
      requests.push_back(sends ? transport.send(1, 3, messages.back()) : transport.receive(0, 3, messages.back()));
    }
    std::set<int> left;
    for (int i = 0; i < kMessages; ++i) left.insert(i);
    while (!left.empty()) {
      // The last first on one side, the first first on the other.
      std::vector<int> order(left.begin(), left.end());
      if (transport.rank() == 0) std::ranges::reverse(order);
      for (const int i : order)
        if (transport.test(requests[static_cast<std::size_t>(i)])) left.erase(i);
    }
    for (int i = 0; i < kMessages; ++i)
      EXPECT_EQ(messages[static_cast<std::size_t>(i)], std::vector<std::byte>(16, static_cast<std::byte>(i)));
  });
}

TEST(PeerMemory, RefusesAMessageOfAnotherLength) {
  support::Endpoints endpoints = peers(2);
  std::vector<std::byte> four(4), eight(8);
  std::string refusal;
  std::atomic<bool> refused{false};
  support::run_ranks(endpoints, [&](Endpoint& endpoint) {
    Transport& transport = endpoint.transport();
    if (transport.rank() == 0) {
      const auto request = transport.send(1, 3, four);
      while (!refused) EXPECT_FALSE(transport.test(request));
      return;
    }
    const auto request = transport.receive(0, 3, eight);
    try {
      while (!transport.test(request)) std::this_thread::yield();
    } catch (const Error& error) {
      refusal = error.what();
    }
    refused = true;
  });
  EXPECT_THAT(refusal, HasSubstr("4"));
}

TEST(PeerMemory, IsLetGoAfterTheJobWasStoppedThoughItsSenderNeverHeardThatItsMessageWasRead) {
  support::Endpoints endpoints = peers(2);
  Transport& sender = endpoints[0]->transport();
  Transport& receiver = endpoints[1]->transport();
  std::vector<std::byte> sent(4, std::byte{7}), received(4);
  const auto sending = sender.send(1, 3, sent);
  const auto receiving = receiver.receive(0, 3, received);
  synchronize(sender.device());
  EXPECT_FALSE(sender.test(sending)) << "announces it";
  while (!receiver.test(receiving)) std::this_thread::yield();
  EXPECT_EQ(received, sent);
  EXPECT_THROW(endpoints[0]->abort(5), Error);
  endpoints.clear();
}

TEST(HostPlace, CountsTheRanksOfOneHost) {
  support::Endpoints endpoints = make_thread_endpoints(3);
  support::run_ranks(endpoints, [](Endpoint& endpoint) {
    const HostPlace place = find_host_place(endpoint.control(), kTimeout);
    EXPECT_EQ(place.rank, endpoint.transport().rank());
    EXPECT_EQ(place.hosts, 1);
    EXPECT_EQ(place.most, 3);
    int message = endpoint.transport().rank() == 0 ? 42 : 0;
    share_from_first(endpoint.control(), as_message(message), kTimeout);
    EXPECT_EQ(message, 42);
  });
}

TEST(HostPlace, NamesTheRankThatDoesNotJoin) {
  support::Endpoints endpoints = make_thread_endpoints(2);
  expect_error([&] { find_host_place(endpoints[0]->control(), Seconds(0.02)); }, ExitCode::lost_rank,
               HasSubstr("rank 1"), ::testing::_);
}

}  // namespace
}  // namespace hbench::peer_memory_test
