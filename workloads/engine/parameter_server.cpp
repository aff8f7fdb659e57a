#include "workloads/engine/parameter_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <ranges>

#include "workloads/engine/negotiator.hpp"
#include "workloads/optimizers/optimizer.hpp"

namespace hbench {
namespace {

std::size_t longest_of(const std::vector<ServerPiece>& pieces) {
  std::int64_t longest = 0;
  for (const ServerPiece& piece : pieces) longest = std::max(longest, piece.range.size());
  return static_cast<std::size_t>(longest);
}

/// Floats that have room for `bytes`.
std::size_t floats_for(std::size_t bytes) { return (bytes + sizeof(float) - 1) / sizeof(float); }

}  // namespace

ParameterServer::ParameterServer(const TrainingRequest& request, Endpoint& endpoint, std::vector<ServerPiece> pieces,
                                 std::optional<int> bound, std::span<float> initial)
    : request_(request),
      transport_(endpoint.transport()),
      device_(endpoint.device()),
      workers_(request.world.workers),
      bound_(bound),
      optimizer_(request.strategy.trained_with()),
      decoder_(request, endpoint, longest_of(pieces)),
      links_(pieces.size() * static_cast<std::size_t>(workers_)),
      left_(static_cast<std::size_t>(workers_)) {
  const auto workers = static_cast<std::size_t>(workers_);
  for (const ServerPiece& piece : pieces) {
    const std::span<float> own = piece.of(initial);
    place_[piece.number] = held_.size();
    Held& held = held_.emplace_back();
    held.piece = piece;
    held.parameters = make_floats(device_, own.size());
    device_.copy(std::as_bytes(own), std::as_writable_bytes(held.parameters.floats));
    for (int i = 0; i < optimizer_.state(); ++i) held.kept.push_back(make_floats(device_, own.size()));
    held.seen.resize(workers);
    held.pushed.resize(workers);
  }
  for (Rank worker = 0; worker < workers_; ++worker) {
    leaving_.push_back(std::make_unique<Inbox<std::int32_t>>(endpoint.control(), worker, kLeavingTag));
    if (is_here(worker)) continue;
    leaving_.back()->expect();
    for (std::size_t piece = 0; piece < held_.size(); ++piece) {
      Link& from = link(piece, worker);
      const std::size_t elements = held_[piece].parameters.floats.size();
      from.buffer = make_floats(device_, std::max(elements, floats_for(decoder_.bytes_of(elements))));
      from.answer = from.buffer.floats.first(elements);
      expect_push(piece, worker);
    }
  }
}

ParameterServer::~ParameterServer() {
  for (const Link& each : links_ | std::views::reverse)
    if (each.stage == Link::Stage::receives || each.stage == Link::Stage::sends) transport_.cancel(each.request);
}

/// Where a push of another rank lands.
std::span<std::byte> ParameterServer::push_of(std::size_t piece, Rank worker) {
  return std::as_writable_bytes(link(piece, worker).buffer.floats)
      .first(decoder_.bytes_of(held_[piece].parameters.floats.size()));
}

void ParameterServer::expect_push(std::size_t piece, Rank worker) {
  Link& from = link(piece, worker);
  transport_.next_is(TransferKind::reduce);
  from.request = transport_.receive(worker, held_[piece].piece.push_tag, push_of(piece, worker));
  from.stage = Link::Stage::receives;
}

bool ParameterServer::progress() {
  if (ended_) return false;
  bool moved = false;
  for (Rank worker = 0; worker < workers_; ++worker)
    if (const auto iterations = leaving_[static_cast<std::size_t>(worker)]->poll()) {
      let_leave(worker, *iterations);
      moved = true;
    }
  for (std::size_t piece = 0; piece < held_.size(); ++piece)
    for (Rank worker = 0; worker < workers_; ++worker) moved = progress(piece, worker) || moved;
  moved = end() || moved;
  moved ? void(last_moved_ = Clock::now()) : check_late();
  return moved;
}

/// Messages of this worker's have arrived, or left. What is expected anew may be there already: nobody rings for it
/// again.
bool ParameterServer::progress(std::size_t piece, Rank worker) {
  Link& with = link(piece, worker);
  bool moved = false;
  while (with.stage == Link::Stage::receives || with.stage == Link::Stage::sends) {
    const bool receives = with.stage == Link::Stage::receives;
    if (!transport_.test(with.request)) return moved;
    moved = true;
    with.stage = Link::Stage::idle;
    if (receives)
      apply(piece, worker, decoder_.decode(push_of(piece, worker), held_[piece].parameters.floats.size()));
    else if (!has_left(worker))
      expect_push(piece, worker);
  }
  return moved;
}

/// At its part of the rate and not of the gradient, whose size makes no difference to Adam (`ParameterServer`).
void ParameterServer::apply(std::size_t piece, Rank worker, std::span<float> gradients) {
  Held& to = held_[piece];
  const auto from = static_cast<std::size_t>(worker);
  ++unseen_[static_cast<int>(to.version - to.seen[from])];
  std::vector<DeviceNumbers> kept;
  for (const DeviceFloats& each : to.kept) kept.emplace_back(each.floats, device_);
  std::vector<Numbers*> state;
  for (DeviceNumbers& each : kept) state.push_back(&each);
  DeviceNumbers parameters(to.parameters.floats, device_);
  const int batches = workers_ * request_.micro_batches;
  optimizer_.apply({.rate = request_.rate_at(to.version / workers_, batches) / workers_,
                    .divisor = static_cast<double>(request_.micro_batches),
                    .number = ++to.version},
                   parameters, DeviceNumbers(gradients, device_), state);
  ++to.pushed[from];
  link(piece, worker).stage = Link::Stage::waits;
  link(piece, worker).since = Clock::now();
  answer_whom_it_can(piece);
}

/// The number of iterations of which the piece has the gradients of all workers; those that have left hold up nobody.
int ParameterServer::complete(const Held& held) const {
  int least = std::numeric_limits<int>::max();
  for (Rank worker = 0; worker < workers_; ++worker)
    if (!has_left(worker)) least = std::min(least, held.pushed[static_cast<std::size_t>(worker)]);
  return least;
}

void ParameterServer::answer_whom_it_can(std::size_t piece) {
  const int all = bound_ ? complete(held_[piece]) : std::numeric_limits<int>::max();
  for (Rank worker = 0; worker < workers_; ++worker)
    if (link(piece, worker).stage == Link::Stage::waits &&
        all >= held_[piece].pushed[static_cast<std::size_t>(worker)] - bound_.value_or(0))
      answer(piece, worker);
}

void ParameterServer::answer(std::size_t piece, Rank worker) {
  Link& to = link(piece, worker);
  const Held& from = held_[piece];
  held_[piece].seen[static_cast<std::size_t>(worker)] = from.version;
  device_.copy(std::as_bytes(from.parameters.floats), std::as_writable_bytes(to.answer));
  to.stage = Link::Stage::idle;
  if (is_here(worker)) return;
  transport_.next_is(TransferKind::copy);
  to.request = transport_.send(worker, from.piece.pull_tag, std::as_bytes(to.answer));
  to.stage = Link::Stage::sends;
}

void ParameterServer::push(const ServerPiece& piece, std::span<float> gradients, std::span<float> parameters) {
  const std::size_t place = place_.at(piece.number);
  link(place, transport_.rank()).answer = parameters;
  apply(place, transport_.rank(), gradients);
}

bool ParameterServer::answered(const ServerPiece& piece) const {
  const std::size_t at = place_.at(piece.number) * static_cast<std::size_t>(workers_);
  return links_[at + static_cast<std::size_t>(transport_.rank())].stage == Link::Stage::idle;
}

void ParameterServer::leave(int iterations, std::span<float> parameters) {
  final_ = parameters;
  let_leave(transport_.rank(), iterations);
}

void ParameterServer::let_leave(Rank worker, int iterations) {
  left_[static_cast<std::size_t>(worker)] = true;
  if (!first_left_) first_left_ = Clock::now();
  for (std::size_t piece = held_.size(); piece-- > 0;) {
    Link& with = link(piece, worker);
    if (const int pushed = held_[piece].pushed[static_cast<std::size_t>(worker)]; pushed != iterations)
      throw Error(ExitCode::wrong_data,
                  fmt::format("rank {} has pushed tensor {} {} times, and {} pushes were applied", worker,
                              held_[piece].piece.tensor, iterations, pushed),
                  "this is a defect of hbench's, or of the memory or network of this machine");
    if (with.stage == Link::Stage::receives) {
      transport_.cancel(with.request);
      with.stage = Link::Stage::idle;
    }
    answer_whom_it_can(piece);
  }
}

/// Sends all workers what they end with, once they have left; whether there was anything to do.
bool ParameterServer::end() {
  const auto idle = [](const Link& each) { return each.stage == Link::Stage::idle; };
  if (!std::ranges::all_of(left_, std::identity()) || !std::ranges::all_of(links_, idle)) return false;
  if (std::exchange(ending_, true)) return ended_ = true;
  for (std::size_t piece = 0; piece < held_.size(); ++piece)
    for (Rank worker = 0; worker < workers_; ++worker) {
      if (is_here(worker)) link(piece, worker).answer = held_[piece].piece.of(final_);
      answer(piece, worker);
    }
  return true;
}

/// Whom others wait for: workers that are behind, or have not left.
std::vector<Rank> ParameterServer::behind() const {
  std::vector<Rank> ranks;
  for (Rank worker = 0; worker < workers_; ++worker) {
    const bool late = std::ranges::any_of(
        held_, [&](const Held& held) { return held.pushed[static_cast<std::size_t>(worker)] == complete(held); });
    if (!has_left(worker) && (first_left_ || late)) ranks.push_back(worker);
  }
  return ranks;
}

void ParameterServer::check_late() const {
  const auto late = [&](Clock::time_point since, double times) {
    return seconds_since(since) > times * request_.timeout.value;
  };
  const bool waits = std::ranges::any_of(
      links_, [&](const Link& each) { return each.stage == Link::Stage::waits && late(each.since, 1); });
  const bool leaving = first_left_ && late(*first_left_, 1);
  const bool silent = last_moved_ && late(*last_moved_, kMorePatience);
  if (!waits && !leaving && !silent) return;
  const std::vector<Rank> ranks = behind();
  const int step = held_.empty() ? 0 : complete(held_.front());
  if (!ranks.empty()) throw late_ranks(step, request_.timeout * (silent ? kMorePatience : 1), text_of_ranks(ranks));
}

}  // namespace hbench
