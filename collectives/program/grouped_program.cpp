#include "collectives/program/grouped_program.hpp"

#include <algorithm>

namespace hbench {
namespace {

/// Kernels take 16 bytes at a time where what they add and what they add to begin alike.
std::size_t phase_of(std::span<const std::byte> place) { return reinterpret_cast<std::uintptr_t>(place.data()) % 16; }

}  // namespace

GroupedProgram::GroupedProgram(const RankPlan& plan, GroupedMessages& messages, const Operand& operand,
                               const Codec* codec)
    : in_place_(codec == nullptr),
      messages_(messages),
      device_(messages.device()),
      operand_(operand),
      plan_(lay_out(plan, codec, operand.elements(), size_of(operand.type))),
      staging_(device_.allocate(plan_.staging)),
      image_(plan_, codec, device_, operand) {
  image_.begin(run_);
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
  image_.begin(++run_);
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
  for (; round_ + 1 < plan_.steps.size(); ++round_) {
    if (!in_round_) begin_round();
    in_round_ = true;
    if (!messages_.idle()) return false;
    finish_round();
    in_round_ = false;
  }
  image_.finish();
  end_ = device_.record_event();
  messages_.turns().leave(*turn_);
  turn_.reset();
  return enqueued_ = true;
}

void GroupedProgram::begin() {
  begun_ = true;
  if (plan_.is_dedicated()) device_.fill_neutral(operand_.type, operand_.op, operand_.buffer);
}

std::span<const Message> GroupedProgram::round() const {
  const int begin = plan_.steps[round_], end = plan_.steps[round_ + 1];
  return std::span(plan_.messages).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
}

std::span<std::byte> GroupedProgram::landing(const Message& receive) const {
  const std::span<std::byte> place = image_.of(receive);
  return receive.staged ? std::span(staging_.get() + receive.offset + phase_of(place), place.size()) : place;
}

void GroupedProgram::begin_round() {
  for (const Message& message : round())
    if (message.send) image_.encode(message);
  messages_.begin();
  for (const Message& message : round())
    if (message.send) {
      messages_.byte_counts().send(message.peer, message.bytes);
      messages_.send(message.peer, image_.of(message));
    } else {
      messages_.byte_counts().receive(message.peer, message.bytes, plan_.world.workers);
      messages_.receive(message.peer, landing(message));
    }
  messages_.end();
}

void GroupedProgram::finish_round() {
  for (const Message& message : round())
    if (!message.send && (message.staged || !in_place_)) image_.apply(message, landing(message));
}

}  // namespace hbench
