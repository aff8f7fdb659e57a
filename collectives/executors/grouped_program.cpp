#include "collectives/executors/grouped_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace hbench {
namespace {

constexpr std::size_t kAlignment = 64;

std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

bool overlap(const Transfer& a, const Transfer& b) {
  return a.first_chunk < b.first_chunk + b.chunk_count && b.first_chunk < a.first_chunk + a.chunk_count;
}

}  // namespace

GroupedProgram::GroupedProgram(RankPlan plan, GroupedMessages& messages, const Operand& operand)
    : plan_(std::move(plan)), messages_(messages), device_(messages.device()), operand_(operand) {
  std::size_t most = 0;
  for (const RankPlan::Step& step : plan_.steps) most = std::max(most, staging_of(step));
  staging_ = device_.allocate(most);
}

GroupedProgram::~GroupedProgram() {
  if (!told_ || complete_) return;
  messages_.abandon();
  // What the device was told uses memory of ours.
  const Moment last = device_.mark();
  while (!device_.passed(last)) std::this_thread::yield();
}

bool GroupedProgram::progress() {
  if (!told_) tell();
  messages_.check();
  return complete_ = device_.passed(end_);
}

void GroupedProgram::restart() { told_ = complete_ = false; }

std::string GroupedProgram::waiting_for() const {
  if (complete_) return {};
  return "its device to finish, or for a rank that takes part with it";
}

void GroupedProgram::tell() {
  told_ = true;
  const World& world = plan_.schedule.world;
  if (plan_.rank >= world.workers) device_.fill_neutral(operand_.type, operand_.op, operand_.buffer);
  for (const RankPlan::Step& step : plan_.steps) tell(step);
  if (plan_.rank < world.workers) {
    if (plan_.schedule.goal == Goal::all_reduce)
      device_.finish(operand_.type, operand_.op, world.workers, operand_.buffer);
    if (plan_.schedule.goal == Goal::reduce_scatter) {
      const int part = plan_.schedule.chunks / world.workers;
      device_.finish(operand_.type, operand_.op, world.workers,
                     chunks({.first_chunk = plan_.rank * part, .chunk_count = part}));
    }
  }
  end_ = device_.mark();
}

void GroupedProgram::tell(const RankPlan::Step& step) {
  std::size_t at = 0;
  messages_.begin();
  for (const Transfer& send : step.sends) {
    const std::span<std::byte> payload = chunks(send);
    bytes_sent_ += std::ssize(payload);
    if (!payload.empty()) messages_.send(send.dst, payload);
  }
  std::vector<std::span<std::byte>> landings;
  for (const Transfer& receive : step.receives) {
    std::span<std::byte> landing = chunks(receive);
    if (staged(step, receive)) {
      landing = {staging_.get() + at, landing.size()};
      at += aligned(landing.size());
    }
    if (!landing.empty()) messages_.receive(receive.src, landing);
    landings.push_back(landing);
  }
  messages_.end();
  for (std::size_t i = 0; i < landings.size(); ++i) {
    const Transfer& receive = step.receives[i];
    if (landings[i].empty() || !staged(step, receive)) continue;
    if (receive.kind == TransferKind::reduce)
      device_.accumulate(operand_.type, operand_.op, landings[i], chunks(receive));
    else
      device_.copy(landings[i], chunks(receive));
  }
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
    if (staged(step, receive)) bytes += aligned(chunks(receive).size());
  return bytes;
}

}  // namespace hbench
