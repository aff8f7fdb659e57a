#pragma once

/// Means with a partner that is drawn anew in each iteration, and answers whatever it computes.

#include <memory>
#include <vector>

#include "collectives/endpoints/endpoint.hpp"
#include "workloads/engine/layout.hpp"
#include "workloads/engine/mail.hpp"
#include "workloads/engine/memories.hpp"
#include "workloads/engine/messages.hpp"
#include "workloads/engine/some_exchange.hpp"
#include "workloads/step/training_request.hpp"

namespace hbench {

/// One rank's, where its endpoint's operands lie. A rank that asks sends its parameters x as the iteration began with
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
  /// What another rank may ask of one tensor.
  struct Link {
    enum class Stage : std::uint8_t { idle, receives, sends } stage = Stage::idle;
    DeviceFloats buffer;  ///< of its parameters, then of the answer
    Transport::Request request = 0;
  };
  /// Another rank.
  struct Other {
    Other(Transport& control, Rank from) : leaving(control, from, kLeavingTag) {}
    Inbox<std::int32_t> leaving;
    std::vector<Link> links = {};  ///< by tensor
    bool left = false;
  };

  std::span<float> tensor(std::span<float> memory, std::size_t index) const {
    return memory.subspan(static_cast<std::size_t>(offsets_[index]),
                          static_cast<std::size_t>(offsets_[index + 1] - offsets_[index]));
  }
  void expect(Rank from, std::size_t tensor);
  bool progress(Rank from, std::size_t tensor);
  void answer(Rank to, std::size_t tensor);
  void let_leave(Other& other);

  const TrainingRequest& request_;
  Endpoint& endpoint_;
  ModelMemory memory_;
  std::vector<std::int64_t> offsets_;
  std::vector<int> ask_tags_, answer_tags_;  ///< by tensor
  std::vector<DeviceFloats> landings_;       ///< of answers, by tensor
  Scratch scratch_;
  std::vector<std::unique_ptr<Other>> others_;  ///< by rank; null: this one
  int iteration_ = -1;
};

}  // namespace hbench
