#include "workloads/engine/gossip.hpp"

#include <ranges>

#include "collectives/transport/transport.hpp"
#include "workloads/methods/step_plan.hpp"
#include "workloads/optimizers/optimizer.hpp"

namespace hbench {
namespace {

/// Says that a rank asks now. Any other notice is the number of iterations after which it leaves.
constexpr std::int32_t kAsks = -1;
constexpr std::string_view kLastPartners = "waiting for the last partners";

/// One tensor of a rank that asks.
struct Asked {
  std::span<float> own, mean, landing;
  int ask_tag = 0, answer_tag = 0;
};

/// The side of the rank that asks.
class Asking final : public Operation {
 public:
  Asking(Endpoint& endpoint, Rank partner, std::vector<Asked> tensors)
      : device_(endpoint.device()), partner_(partner), tensors_(std::move(tensors)), posted_(endpoint.transport()) {}

  bool progress() override {
    if (!std::exchange(begun_, true)) post();
    if (!posted_.progress()) return false;
    for (const Asked& each : tensors_) {
      DeviceNumbers mean(each.mean, device_);
      mean.add(DeviceNumbers(each.landing, device_), 0.5);
      mean.add(DeviceNumbers(each.own, device_), -0.5);
    }
    tensors_.clear();
    return true;
  }
  std::string waiting_for() const override { return text_of_ranks(waiting_ranks()); }
  std::vector<Rank> waiting_ranks() const override { return posted_.peers(); }

 private:
  void post() {
    for (const Asked& each : tensors_) {
      posted_.fetch(partner_, each.answer_tag, std::as_writable_bytes(each.landing));
      posted_.send(partner_, each.ask_tag, std::as_bytes(each.own));
    }
  }

  Device& device_;
  Rank partner_;
  std::vector<Asked> tensors_;
  PostedMessages posted_;
  bool begun_ = false;
};

/// Ends once no other rank needs this one.
class LastPartners final : public Operation {
 public:
  explicit LastPartners(Gossip& gossip) : gossip_(gossip) {}
  bool progress() override {
    gossip_.progress();
    return gossip_.done();
  }
  std::string waiting_for() const override { return "ranks that train"; }
  std::vector<Rank> waiting_ranks() const override { return {}; }

 private:
  Gossip& gossip_;
};

}  // namespace

Gossip::Gossip(const TrainingRequest& request, Endpoint& endpoint, const GradientLayout& layout,
               const ModelMemory& memory)
    : request_(request),
      endpoint_(endpoint),
      memory_(memory),
      offsets_(layout.offsets()),
      scratch_(endpoint.device()),
      notices_(endpoint.control()) {
  const auto tensors = static_cast<std::size_t>(layout.tensors());
  for (std::size_t i = 0; i < tensors; ++i) {
    ask_tags_.push_back(endpoint.reserve_tag());
    answer_tags_.push_back(endpoint.reserve_tag());
    landings_.push_back(make_floats(endpoint.device(), tensor(memory_.parameters, i).size()));
  }
  for (Rank rank = 0; rank < request.world.workers; ++rank) {
    others_.push_back(rank == endpoint.transport().rank() ? nullptr
                                                          : std::make_unique<Other>(endpoint.control(), rank));
    if (others_.back() == nullptr) continue;
    others_.back()->notices.expect();
    others_.back()->links.resize(tensors);
  }
}

Gossip::~Gossip() {
  for (const auto& other : others_ | std::views::reverse) {
    if (other == nullptr) continue;
    for (const Link& each : other->links | std::views::reverse)
      if (each.stage != Link::Stage::idle) endpoint_.transport().cancel(each.request);
  }
}

void Gossip::begin_step(int iteration) {
  iteration_ = iteration;
  notices_.send(partner_of(endpoint_.transport().rank(), iteration, request_.world.workers), kLeavingTag, kAsks);
  DeviceNumbers(memory_.means, endpoint_.device()).assign(DeviceNumbers(memory_.parameters, endpoint_.device()));
}

std::unique_ptr<Operation> Gossip::exchange(const Bucket& bucket) {
  std::vector<Asked> tensors;
  for (const int index : bucket.tensors) {
    const auto i = static_cast<std::size_t>(index);
    tensors.push_back({.own = tensor(memory_.parameters, i),
                       .mean = tensor(memory_.means, i),
                       .landing = landings_[i].floats,
                       .ask_tag = ask_tags_[i],
                       .answer_tag = answer_tags_[i]});
  }
  const Rank partner = partner_of(endpoint_.transport().rank(), iteration_, request_.world.workers);
  return std::make_unique<Asking>(endpoint_, partner, std::move(tensors));
}

/// Its parameters go where those of a rank were that has been answered, if there was one.
void Gossip::expect_all(Rank from) {
  Other& other = *others_[static_cast<std::size_t>(from)];
  --other.asks;
  if (other.room.empty() && !spare_.empty()) {
    other.room = std::move(spare_.back());
    spare_.pop_back();
  }
  for (std::size_t i = 0; i < other.links.size(); ++i) {
    if (other.room.size() == i) other.room.push_back(make_floats(endpoint_.device(), landings_[i].floats.size()));
    other.links[i] = {Link::Stage::receives,
                      endpoint_.transport().receive(from, ask_tags_[i], std::as_writable_bytes(other.room[i].floats))};
  }
}

bool Gossip::read_notices(Other& other) {
  const std::optional<std::int32_t> notice = other.notices.poll();
  if (!notice) return false;
  if (*notice == kAsks) {
    ++other.asks;
    other.notices.expect();
  } else {
    other.left = true;
  }
  return true;
}

bool Gossip::progress() {
  bool moved = false;
  notices_.progress();
  for (std::size_t rank = 0; rank < others_.size(); ++rank) {
    if (others_[rank] == nullptr) continue;
    Other& other = *others_[rank];
    moved = read_notices(other) || moved;
    if (other.asks > 0 && other.idle()) {
      expect_all(static_cast<Rank>(rank));
      moved = true;
    }
    if (other.room.empty()) continue;
    for (std::size_t i = 0; i < ask_tags_.size(); ++i) moved = progress(static_cast<Rank>(rank), i) || moved;
    if (other.asks == 0 && other.idle()) spare_.push_back(std::exchange(other.room, {}));
  }
  return moved;
}

/// Messages of this tensor have come, or left.
bool Gossip::progress(Rank from, std::size_t index) {
  Link& link = others_[static_cast<std::size_t>(from)]->links[index];
  bool moved = false;
  while (link.stage != Link::Stage::idle && endpoint_.transport().test(link.request)) {
    moved = true;
    if (std::exchange(link.stage, Link::Stage::idle) == Link::Stage::receives) answer(from, index);
  }
  return moved;
}

void Gossip::answer(Rank to, std::size_t index) {
  Other& other = *others_[static_cast<std::size_t>(to)];
  const std::span<float> room = other.room[index].floats;
  Device& device = endpoint_.device();
  DeviceNumbers mean(tensor(memory_.means, index), device), asked(room, device);
  DeviceNumbers before(scratch_.of(room.size()), device);
  before.assign(mean);
  mean.multiply(0.5);
  mean.add(asked, 0.5);
  asked.assign(before);
  other.links[index] = {Link::Stage::sends, endpoint_.transport().send(to, answer_tags_[index], std::as_bytes(room))};
}

bool Gossip::done() const {
  return std::ranges::all_of(others_, [](const auto& other) {
    return other == nullptr || (other->left && other->asks == 0 && other->idle());
  });
}

void Gossip::leave(int iterations) {
  for (Rank rank = 0; rank < request_.world.workers; ++rank)
    if (rank != endpoint_.transport().rank()) notices_.send(rank, kLeavingTag, static_cast<std::int32_t>(iterations));
  LastPartners last(*this);
  wait_for(last, request_.timeout, kLastPartners);
  flush(notices_, request_.timeout, kLastPartners);
}

}  // namespace hbench
