#include "workloads/engine/async_servers.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "collectives/transport/transport.hpp"
#include "workloads/engine/messages.hpp"
#include "workloads/engine/negotiator.hpp"

namespace hbench {
namespace {

/// Pieces that are pushed, or not, and pulled. What a rank pushes to its own server does not travel, and is not coded.
class PushPull final : public Operation {
 public:
  /// \param encoder of what is pushed; null: nothing is
  PushPull(Transport& transport, const ModelMemory& memory, std::vector<ServerPiece> pieces, ParameterServer* server,
           PushEncoder* encoder)
      : transport_(transport),
        memory_(memory),
        pieces_(std::move(pieces)),
        server_(server),
        encoder_(encoder),
        posted_(transport) {}

  bool progress() override {
    if (!std::exchange(begun_, true)) post();
    std::erase_if(here_, [&](const ServerPiece& piece) { return server_->answered(piece); });
    return posted_.progress() && here_.empty();
  }
  std::string waiting_for() const override { return text_of_ranks(waiting_ranks()); }
  std::vector<Rank> waiting_ranks() const override {
    std::vector<Rank> ranks = posted_.peers();
    if (!here_.empty()) ranks.push_back(transport_.rank());
    std::ranges::sort(ranks);
    return ranks;
  }

 private:
  void post() {
    for (const ServerPiece& piece : pieces_) {
      const std::span<float> parameters = piece.of(memory_.parameters);
      if (piece.server == transport_.rank()) {
        if (encoder_ == nullptr) continue;
        server_->push(piece, piece.of(memory_.gradients), parameters);
        here_.push_back(piece);
        continue;
      }
      transport_.next_is(TransferKind::copy);
      posted_.fetch(piece.server, piece.pull_tag, std::as_writable_bytes(parameters));
      if (encoder_ == nullptr) continue;
      const std::span<const std::byte> pushed = encoder_->encode(piece, piece.of(memory_.gradients));
      transport_.next_is(TransferKind::reduce);
      posted_.send(piece.server, piece.push_tag, pushed);
    }
  }

  Transport& transport_;
  ModelMemory memory_;
  std::vector<ServerPiece> pieces_;
  ParameterServer* server_;  ///< on this rank, or null
  PushEncoder* encoder_;
  bool begun_ = false;
  PostedMessages posted_;
  std::vector<ServerPiece> here_;  ///< that the server on this rank has not answered
};

/// The last pull of a worker, whose rank serves others meanwhile.
class Leaving final : public Operation {
 public:
  Leaving(std::unique_ptr<Operation> pull, AsyncServers& servers) : pull_(std::move(pull)), servers_(servers) {}
  bool progress() override {
    servers_.progress();
    pulled_ = pulled_ || pull_->progress();
    return pulled_ && servers_.done();
  }
  std::string waiting_for() const override { return pulled_ ? "workers that train" : pull_->waiting_for(); }
  std::vector<Rank> waiting_ranks() const override { return pull_->waiting_ranks(); }

 private:
  std::unique_ptr<Operation> pull_;
  AsyncServers& servers_;
  bool pulled_ = false;
};

std::vector<ServerPiece> all_of(const std::vector<std::vector<ServerPiece>>& by_tensor) {
  std::vector<ServerPiece> all;
  for (const auto& pieces : by_tensor) all.insert(all.end(), pieces.begin(), pieces.end());
  return all;
}

std::set<Rank> server_ranks(const World& world) {
  std::set<Rank> ranks;
  for (int server = 0; server < world.servers; ++server) ranks.insert(world.server_rank(server));
  return ranks;
}

std::optional<int> bound_of(const StepPlan& plan) {
  return std::ranges::find(plan.tasks, Among::servers, &Task::among)->bound;
}

/// By the number of gradients that were not seen; the last counts all that are more.
using UnseenCounts = std::array<std::int64_t, 256>;

constexpr std::string_view kInitial = "bringing the parameters to their servers";
constexpr std::string_view kLeaving = "waiting for the final parameters";

}  // namespace

AsyncServers::AsyncServers(const TrainingRequest& request, Endpoint& endpoint, const GradientLayout& layout,
                           const StepPlan& plan, const ModelMemory& memory)
    : request_(request),
      endpoint_(endpoint),
      memory_(memory),
      pieces_(server_pieces(request, layout, endpoint)),
      encoder_(request, endpoint) {
  bring_initial(memory.parameters);
  std::vector<ServerPiece> own = all_of(pieces_);
  std::erase_if(own, [&](const ServerPiece& piece) { return piece.server != endpoint_.transport().rank(); });
  if (server_ranks(request.world).contains(endpoint.transport().rank()))
    server_ = std::make_unique<ParameterServer>(request, endpoint, std::move(own), bound_of(plan), memory.parameters);
}

/// Dedicated servers have no model of their own. Servers that are workers begin as all of these do.
void AsyncServers::bring_initial(std::span<float> parameters) {
  Transport& transport = endpoint_.transport();
  const Seconds timeout = std::max(request_.timeout, kSetupTimeout);
  transport.next_is(TransferKind::copy);
  for (const ServerPiece& piece : all_of(pieces_)) {
    if (piece.server < request_.world.workers) continue;
    const std::span<float> own = piece.of(parameters);
    if (transport.rank() == 0)
      complete(transport, transport.send(piece.server, piece.push_tag, std::as_bytes(own)), piece.server, timeout,
               kInitial);
    else if (transport.rank() == piece.server)
      receive_now(transport, 0, piece.push_tag, std::as_writable_bytes(own), timeout, kInitial);
  }
}

std::unique_ptr<Operation> AsyncServers::exchange(const Bucket& bucket) {
  std::vector<ServerPiece> pieces;
  for (const int tensor : bucket.tensors)
    pieces.insert(pieces.end(), pieces_[static_cast<std::size_t>(tensor)].begin(),
                  pieces_[static_cast<std::size_t>(tensor)].end());
  return std::make_unique<PushPull>(endpoint_.transport(), memory_, std::move(pieces), server_.get(), &encoder_);
}

void AsyncServers::leave(int iterations) {
  Outbox outbox(endpoint_.control());
  for (const Rank server : server_ranks(request_.world))
    if (server != endpoint_.transport().rank()) outbox.send(server, kLeavingTag, static_cast<std::int32_t>(iterations));
  if (server_ != nullptr) server_->leave(iterations, memory_.parameters);
  Leaving leaving(std::make_unique<PushPull>(endpoint_.transport(), memory_, all_of(pieces_), server_.get(), nullptr),
                  *this);
  wait_for(leaving, request_.timeout * kMorePatience, kLeaving);
  flush(outbox, request_.timeout, kLeaving);
}

std::map<int, std::int64_t> AsyncServers::gather_unseen() {
  std::map<int, std::int64_t> all;
  UnseenCounts counts{};
  if (server_ != nullptr)
    for (const auto& [number, times] : server_->unseen())
      counts[std::min(static_cast<std::size_t>(number), counts.size() - 1)] += times;
  const auto note = [&] {
    for (std::size_t i = 0; i < counts.size(); ++i)
      if (counts[i] > 0) all[static_cast<int>(i)] += counts[i];
  };
  if (endpoint_.transport().rank() != 0) {
    if (server_ == nullptr) return {};
    Outbox outbox(endpoint_.control());
    outbox.send(0, kUnseenTag, counts);
    flush(outbox, request_.timeout, kLeaving);
    return {};
  }
  note();
  for (const Rank server : server_ranks(request_.world)) {
    if (server == 0) continue;
    receive_now(endpoint_.control(), server, kUnseenTag, as_message(counts), request_.timeout, kLeaving);
    note();
  }
  return all;
}

}  // namespace hbench
