#pragma once

/// Means with a partner that is drawn anew in each iteration, and answers whatever it computes.

#include <algorithm>
#include <memory>
#include <vector>

#include "collectives/endpoints/endpoint.hpp"
#include "workloads/engine/memories.hpp"
#include "workloads/engine/messages.hpp"
#include "workloads/engine/some_exchange.hpp"
#include "workloads/step/training_request.hpp"

namespace hbench {

/// One rank's, where its endpoint's operands lie. A rank that asks says so to its partner, which has room for the
/// model only then, and sends its parameters x as the iteration began with
/// them. Its partner sends back what it has aside, m, and puts (m + x) / 2 in its place; the rank that asked moves what
/// it has aside by (m - x) / 2. So the sum over all ranks of what lies aside stays the same, in whatever order they
/// ask.
class Gossip final : public SomeExchange {
 public:
  Gossip(const TrainingRequest& request, Endpoint& endpoint, const GradientLayout& layout, const ModelMemory& memory);
  ~Gossip() override;
  Gossip(const Gossip&) = delete;
  Gossip& operator=(const Gossip&) = delete;

  void begin_step(int iteration) override;
  std::unique_ptr<Operation> exchange(const Bucket& bucket) override;
  bool progress() override;
  bool answers() const override { return true; }
  bool done() const override;
  void leave(int iterations) override;

 private:
  /// What another rank asks of one tensor.
  struct Link {
    enum class Stage : std::uint8_t { idle, receives, sends } stage = Stage::idle;
    Transport::Request request = 0;
  };
  /// Of another rank's parameters, by tensor, and then of the answers.
  using Room = std::vector<DeviceFloats>;
  /// Another rank.
  struct Other {
    Other(Transport& control, Rank from) : notices(control, from, kLeavingTag) {}
    bool idle() const {
      return std::ranges::all_of(links, [](const Link& link) { return link.stage == Link::Stage::idle; });
    }
    Inbox<std::int32_t> notices;
    std::vector<Link> links = {};  ///< by tensor
    Room room = {};                ///< while it asks
    int asks = 0;                  ///< that have begun there and not here
    bool left = false;
  };

  std::span<float> tensor(std::span<float> memory, std::size_t index) const {
    return memory.subspan(static_cast<std::size_t>(offsets_[index]),
                          static_cast<std::size_t>(offsets_[index + 1] - offsets_[index]));
  }
  bool read_notices(Other& other);
  void expect_all(Rank from);
  bool progress(Rank from, std::size_t tensor);
  void answer(Rank to, std::size_t tensor);

  const TrainingRequest& request_;
  Endpoint& endpoint_;
  ModelMemory memory_;
  std::vector<std::int64_t> offsets_;
  std::vector<int> ask_tags_, answer_tags_;  ///< by tensor
  std::vector<DeviceFloats> landings_;       ///< of answers, by tensor
  Scratch scratch_;
  std::vector<std::unique_ptr<Other>> others_;  ///< by rank; null: this one
  std::vector<Room> spare_;
  Outbox notices_;
  int iteration_ = -1;
};

}  // namespace hbench
