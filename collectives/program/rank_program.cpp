#include "collectives/program/rank_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "collectives/base/error.hpp"
#include "collectives/program/messages.hpp"

namespace hbench {
namespace {

/// Rounds of one rank that may be in flight at once: enough to keep a link busy while a round's last message is
/// waited for, ...
constexpr std::size_t kMostOpen = 8;
/// ... and fewer where their staging buffers would be larger than this. Two at least.
constexpr std::size_t kMostStaging = std::size_t{16} << 20;

std::size_t open_steps(const MessagePlan& plan) {
  const std::size_t fit = plan.staging == 0 ? kMostOpen : kMostStaging / plan.staging;
  return std::min(std::clamp<std::size_t>(fit, 2, kMostOpen), plan.steps.size());
}

/// `plan`. \throws Error (usage) where plan, codec, transport and operand do not fit each other.
const RankPlan& checked(const RankPlan& plan, const Codec* codec, const Transport& transport, const Operand& operand) {
  const Schedule& schedule = plan.schedule;
  if (schedule.world.ranks() != transport.size())
    throw Error(
        ExitCode::usage,
        fmt::format("a collective of {} ranks cannot run in a job of {}", schedule.world.ranks(), transport.size()),
        "start as many ranks as there are workers and dedicated servers");
  if (operand.buffer.size() % size_of(operand.type) != 0)
    throw Error(ExitCode::usage, fmt::format("rank {}: a buffer of {} bytes does not hold whole elements of {}",
                                             plan.rank, operand.buffer.size(), entry_of(operand.type).name));
  if (!schedule.offsets.empty() && operand.elements() != schedule.offsets.back())
    throw Error(ExitCode::usage, fmt::format("rank {} brings a buffer of {} elements to a collective of {}", plan.rank,
                                             operand.elements(), schedule.offsets.back()));
  if (codec != nullptr && operand.type != DataType::float32)
    throw Error(ExitCode::usage, fmt::format("compressors take float32, not {}", entry_of(operand.type).name),
                "choose float32, or no compressor");
  return plan;
}

/// The steps of a plan that are open: a bounded number at once, so that each slot of the staging buffer is used by one
/// of them at a time. `plan` outlives it.
class OpenSteps {
 public:
  explicit OpenSteps(const MessagePlan& plan) : plan_(plan), most_(open_steps(plan)), left_(plan.steps.size() - 1) {}

  void begin() {
    for (std::size_t i = 0; i < left_.size(); ++i) left_[i] = plan_.steps[i + 1] - plan_.steps[i];
    next_ = oldest_ = 0;
  }
  std::size_t most() const { return most_; }
  std::size_t slot_of(const Message& message) const { return static_cast<std::size_t>(message.step) % most_; }
  bool untouched() const { return next_ == 0; }
  bool is_open(int index) const { return index < plan_.steps[next_]; }
  bool finished() const { return oldest_ == left_.size(); }

  /// Opens steps as old ones end, and adds their messages to `active`. Returns whether it opened any.
  bool open_next(std::vector<int>& active) {
    const std::size_t before = next_;
    for (; next_ < std::min(left_.size(), oldest_ + most_); ++next_) {
      for (int index = plan_.steps[next_]; index < plan_.steps[next_ + 1]; ++index) active.push_back(index);
    }
    return next_ > before;
  }
  void message_is_done(const Message& message) { --left_[static_cast<std::size_t>(message.step)]; }
  void close_done() {
    while (!finished() && left_[oldest_] == 0) ++oldest_;
  }
  /// The messages of the oldest open step, the first and one behind the last. \pre not `finished`
  std::pair<int, int> oldest() const { return {plan_.steps[oldest_], plan_.steps[oldest_ + 1]}; }

 private:
  const MessagePlan& plan_;
  std::size_t most_;
  std::vector<int> left_;   ///< messages of each step that are not done
  std::size_t next_ = 0;    ///< the first step that is not open
  std::size_t oldest_ = 0;  ///< the first step that is not done
};

class RankProgram final : public Operation, private Sink {
 public:
  RankProgram(const RankPlan& of, const Codec* codec, Transport& transport, int tag, const Operand& operand)
      : in_place_(codec == nullptr),
        transport_(transport),
        tag_(tag),
        operand_(operand),
        plan_(lay_out(checked(of, codec, transport, operand), codec, operand.elements(), size_of(operand.type))),
        steps_(plan_),
        device_(transport.device()),
        staging_(device_.allocate(steps_.most() * plan_.staging)),
        image_(plan_, codec, device_, operand),
        posted_(plan_.messages.size()) {
    active_.reserve(posted_.size());
    begin();
  }

  ~RankProgram() override {
    for (const int index : active_ | std::views::reverse) {
      if (posted_[index].state == Stage::posted) transport_.cancel(posted_[index].request);
    }
    // Work that is in flight on the device uses memory of this operation.
    finished_ ? synchronize_noexcept(device_, end_) : synchronize_noexcept(device_);
  }

  bool progress() override {
    if (steps_.untouched() && !finished_ && plan_.is_dedicated())
      device_.fill_neutral(operand_.type, operand_.op, operand_.buffer);
    while (!steps_.finished()) {
      bool moved = steps_.open_next(active_);
      if (moved) post_all();
      for (const int index : active_) {
        while (advance(index)) moved = true;
      }
      if (!moved) return false;
      std::erase_if(active_, [&](int index) { return posted_[index].state == Stage::done; });
      steps_.close_done();
    }
    if (!finished_) {
      image_.finish();
      end_ = device_.record_event();
    }
    finished_ = true;
    return device_.query(end_);
  }

  void restart() override {
    ++run_;
    begin();
  }

  std::string waiting_for() const override {
    const std::vector<Rank> ranks = waiting_ranks();
    if (ranks.empty()) return finished_ && !device_.query(end_) ? "its device to finish" : "";
    return fmt::format("{} in round {} of {}", text_of_ranks(ranks), message(steps_.oldest().first).round + 1,
                       plan_.rounds);
  }

  std::vector<Rank> waiting_ranks() const override {
    std::vector<Rank> ranks;
    if (steps_.finished()) return ranks;
    for (auto [index, end] = steps_.oldest(); index < end; ++index) {
      const Rank peer = message(index).peer;
      if (posted_[index].state != Stage::done && std::ranges::find(ranks, peer) == ranks.end()) ranks.push_back(peer);
    }
    return ranks;
  }

 private:
  enum class Stage : std::uint8_t { idle, posted, arrived, done };
  struct Posted {
    Transport::Request request = 0;
    int waits = 0;
    Stage state = Stage::idle;
  };

  const Message& message(int index) const { return plan_.messages[static_cast<std::size_t>(index)]; }

  /// Called by the transport with the payload of a message that has arrived.
  void take(std::span<const std::byte> payload, std::size_t index) override {
    image_.apply(message(static_cast<int>(index)), payload);
  }

  void begin() {
    for (std::size_t i = 0; i < posted_.size(); ++i) posted_[i] = {.waits = plan_.messages[i].waits};
    steps_.begin();
    image_.begin(run_);
    finished_ = false;
  }

  Stage stage_before(const Message& message) const {
    return message.before < 0 ? Stage::done : posted_[message.before].state;
  }

  /// Whether the message was posted.
  bool post(int index) {
    const Message& message = this->message(index);
    Posted& posted = posted_[index];
    if (posted.state != Stage::idle || stage_before(message) == Stage::idle) return false;
    if (posted.waits > 0 && !message.staged) return false;
    posted.request = message.send ? send(message) : receive(message, index);
    posted.state = Stage::posted;
    return true;
  }

  /// Posts what may be posted. To test a message, or to post a receive of one that has arrived, may take as long as a
  /// copy of it, as with MPI between processes of one host: a send that came after it would keep its peer waiting for
  /// that.
  void post_all() {
    for (const bool sends : {true, false})
      for (const int index : active_)
        if (message(index).send == sends) post(index);
  }

  /// Whether the message has come a stage further.
  bool advance(int index) {
    const Message& message = this->message(index);
    Posted& posted = posted_[index];
    const bool ready = posted.waits == 0;
    const Stage before = stage_before(message);
    switch (posted.state) {
      case Stage::idle:
        return post(index);
      case Stage::posted:
        if (before == Stage::posted || !(ready || message.held)) return false;
        if (!transport_.test(posted.request)) return false;
        posted.state = Stage::arrived;
        if (!message.held) complete(index);
        return true;
      case Stage::arrived:
        if (!ready) return false;
        image_.apply(message, landing(message));
        complete(index);
        return true;
      case Stage::done:
        return false;
    }
    return false;
  }

  void complete(int index) {
    posted_[index].state = Stage::done;
    for (const int successor : message(index).successors)
      if (--posted_[successor].waits == 0 && steps_.is_open(successor)) post(successor);
    steps_.message_is_done(message(index));
  }

  Transport::Request send(const Message& message) {
    image_.encode(message);
    transport_.byte_counts().send(message.peer, message.bytes);
    transport_.next_is(message.kind);
    return transport_.send(message.peer, tag_, image_.of(message));
  }

  Transport::Request receive(const Message& message, int index) {
    // A message that lands where it belongs is not applied again, and one that is held is applied later.
    const bool lands = message.held || (in_place_ && !message.staged);
    transport_.byte_counts().receive(message.peer, message.bytes, plan_.world.workers);
    transport_.next_is(message.kind);
    return transport_.receive(message.peer, tag_, landing(message), lands ? nullptr : this,
                              static_cast<std::size_t>(index));
  }

  std::span<std::byte> landing(const Message& message) const {
    if (!message.staged) return image_.of(message);
    return {staging_.get() + steps_.slot_of(message) * plan_.staging + message.offset, message.bytes};
  }

  bool in_place_;  ///< messages carry elements as they are, so that they may land in the buffer
  Transport& transport_;
  int tag_;
  Operand operand_;
  MessagePlan plan_;
  OpenSteps steps_;
  Device& device_;
  DeviceMemory staging_;
  ChunkImage image_;
  std::vector<Posted> posted_;  ///< by message
  std::vector<int> active_;     ///< messages of open steps, in order
  bool finished_ = false;       ///< everything is enqueued on the device
  Event end_;                   ///< after all of it
  std::int32_t run_ = 0;        ///< how often it was restarted
};

}  // namespace

std::unique_ptr<Operation> make_rank_program(const RankPlan& plan, const Codec* codec, Transport& transport, int tag,
                                             const Operand& operand) {
  return std::make_unique<RankProgram>(plan, codec, transport, tag, operand);
}

}  // namespace hbench
