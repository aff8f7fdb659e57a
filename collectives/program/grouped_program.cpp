#include "collectives/program/grouped_program.hpp"

#include <algorithm>

namespace hbench {
namespace {

constexpr std::size_t kKernelAlignment = 64;

std::size_t aligned(std::size_t bytes) { return (bytes + kKernelAlignment - 1) / kKernelAlignment * kKernelAlignment; }

/// Kernels take 16 bytes at a time where what they add and what they add to begin alike.
std::size_t phase_of(std::span<const std::byte> chunk) { return reinterpret_cast<std::uintptr_t>(chunk.data()) % 16; }

std::size_t room_for(std::span<const std::byte> chunk) { return aligned(phase_of(chunk) + chunk.size()); }

}  // namespace

GroupedProgram::GroupedProgram(RankPlan plan, GroupedMessages& messages, const Operand& operand)
    : plan_(std::move(plan)), messages_(messages), device_(messages.device()), operand_(operand) {
  std::size_t most = 0;
  for (const RankPlan::Step& step : plan_.steps) most = std::max(most, staging_of(step));
  staging_ = device_.allocate(most);
}

GroupedProgram::~GroupedProgram() {
  if (turn_) messages_.turns().leave(*turn_);
  if (!begun_ || complete_) return;
  messages_.cancel();
  // Work that is in flight on the device uses memory of this program.
  synchronize_noexcept(device_);
}

bool GroupedProgram::progress() {
  if (complete_) return true;
  const bool idle = messages_.idle();
  if (!enqueued_) {
    take_turn();
    if (!messages_.turns().has(*turn_) || !idle || !enqueue()) return false;
  }
  return complete_ = device_.query(end_);
}

void GroupedProgram::restart() {
  begun_ = enqueued_ = complete_ = false;
  round_ = 0;
}

std::string GroupedProgram::waiting_for() const {
  if (complete_) return {};
  return "its device to finish, or for a rank that takes part with it";
}

void GroupedProgram::take_turn() {
  if (!turn_) turn_ = messages_.turns().take();
}

bool GroupedProgram::enqueue() {
  if (!begun_) begin();
  for (; round_ < plan_.steps.size(); ++round_) {
    if (!in_round_) begin(plan_.steps[round_]);
    in_round_ = true;
    if (!messages_.idle()) return false;
    finish(plan_.steps[round_]);
    in_round_ = false;
  }
  finish();
  messages_.turns().leave(*turn_);
  turn_.reset();
  return enqueued_ = true;
}

void GroupedProgram::begin() {
  begun_ = true;
  if (plan_.rank >= plan_.schedule.world.workers) device_.fill_neutral(operand_.type, operand_.op, operand_.buffer);
}

void GroupedProgram::begin(const RankPlan::Step& step) {
  std::size_t at = 0;
  landings_.clear();
  messages_.begin();
  for (const Transfer& send : step.sends) {
    const std::span<std::byte> payload = chunks(send);
    messages_.byte_counts().send(send.dst, payload.size());
    if (!payload.empty()) messages_.send(send.dst, payload);
  }
  for (const Transfer& receive : step.receives) {
    std::span<std::byte> landing = chunks(receive);
    if (staged(step, receive)) {
      const std::size_t room = room_for(landing);
      landing = {staging_.get() + at + phase_of(landing), landing.size()};
      at += room;
    }
    messages_.byte_counts().receive(receive.src, landing.size(), plan_.schedule.world.workers);
    if (!landing.empty()) messages_.receive(receive.src, landing);
    landings_.push_back(landing);
  }
  messages_.end();
}

void GroupedProgram::finish(const RankPlan::Step& step) {
  for (std::size_t i = 0; i < landings_.size(); ++i) {
    const Transfer& receive = step.receives[i];
    if (landings_[i].empty() || !staged(step, receive)) continue;
    if (receive.kind == TransferKind::reduce)
      device_.accumulate(operand_.type, operand_.op, landings_[i], chunks(receive));
    else
      device_.copy(landings_[i], chunks(receive));
  }
}

void GroupedProgram::finish() {
  const World& world = plan_.schedule.world;
  if (plan_.rank < world.workers && operand_.op == ReduceOp::average) {
    if (plan_.schedule.collective == CollectiveKind::all_reduce)
      device_.finish(operand_.type, operand_.op, world.workers, operand_.buffer);
    if (plan_.schedule.collective == CollectiveKind::reduce_scatter) {
      const int part = plan_.schedule.chunks / world.workers;
      device_.finish(operand_.type, operand_.op, world.workers,
                     chunks({.first_chunk = plan_.rank * part, .chunk_count = part}));
    }
  }
  end_ = device_.record_event();
}

std::span<std::byte> GroupedProgram::chunks(const Transfer& transfer) const {
  const ElementRange range = plan_.schedule.range(transfer.first_chunk, transfer.chunk_count, operand_.elements());
  const std::size_t size = size_of(operand_.type);
  return operand_.buffer.subspan(static_cast<std::size_t>(range.begin) * size,
                                 static_cast<std::size_t>(range.size()) * size);
}

bool GroupedProgram::staged(const RankPlan::Step& step, const Transfer& receive) const {
  return receive.kind == TransferKind::reduce ||
         std::ranges::any_of(step.sends, [&](const Transfer& send) { return overlap(send, receive); });
}

std::size_t GroupedProgram::staging_of(const RankPlan::Step& step) const {
  std::size_t bytes = 0;
  for (const Transfer& receive : step.receives)
    if (staged(step, receive)) bytes += room_for(chunks(receive));
  return bytes;
}

}  // namespace hbench
