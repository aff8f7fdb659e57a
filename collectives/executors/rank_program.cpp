#include "collectives/executors/rank_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "collectives/base/error.hpp"
#include "collectives/executors/messages.hpp"

namespace hbench {
namespace {

/// Rounds of one rank that may be under way at once: enough to keep a link busy while a round's last message is
/// waited for, ...
constexpr std::size_t kMostOpen = 8;
/// ... and fewer where their staging memory would be larger than this. Two at least.
constexpr std::size_t kMostStaging = std::size_t{16} << 20;

std::size_t open_steps(const MessagePlan& plan) {
  const std::size_t fit = plan.staging == 0 ? kMostOpen : kMostStaging / plan.staging;
  return std::min(std::clamp<std::size_t>(fit, 2, kMostOpen), plan.steps.size());
}

/// What ranks that hold the same sum must draw alike: it depends on what is sent when, but not on who sends it.
std::int32_t draw_of(const Message& message) { return message.kind == TransferKind::copy ? 0 : message.round + 1; }

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

}  // namespace

class RankProgram::State final : public Sink {
 public:
  State(const RankPlan& of, const Codec* codec, Transport& transport, int tag, const Operand& operand)
      : rank_(checked(of, codec, transport, operand).rank),
        world_(of.schedule.world),
        goal_(of.schedule.goal),
        rounds_(of.schedule.rounds),
        codec_(codec),
        transport_(transport),
        tag_(tag),
        operand_(operand),
        plan_(lay_out(of, codec, operand.elements(), size_of(operand.type))),
        open_(open_steps(plan_)),
        device_(transport.device()),
        staging_(device_.allocate(open_ * plan_.staging)),
        image_(operand.buffer),
        chunks_(plan_.chunks.size()),
        posted_(plan_.messages.size()),
        left_(plan_.steps.size() - 1) {
    if (codec != nullptr) {
      encoded_ = device_.allocate(plan_.image);
      image_ = {encoded_.get(), plan_.image};
    }
    active_.reserve(posted_.size());
    begin();
  }

  ~State() override {
    for (const int index : active_ | std::views::reverse) {
      if (posted_[index].state == Stage::posted) transport_.cancel(posted_[index].request);
    }
    // What was told to the device uses memory of ours.
    finished_ ? settle(device_, end_) : settle(device_);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  bool progress() {
    if (next_ == 0 && !finished_ && rank_ >= world_.workers)
      device_.fill_neutral(operand_.type, operand_.op, operand_.buffer);
    while (oldest_ < left_.size()) {
      bool moved = open_next();
      for (const int index : active_) {
        while (advance(index)) moved = true;
      }
      if (!moved) return false;
      std::erase_if(active_, [&](int index) { return posted_[index].state == Stage::done; });
      while (oldest_ < left_.size() && left_[oldest_] == 0) ++oldest_;
    }
    if (!finished_) {
      settle_result();
      end_ = device_.mark();
    }
    finished_ = true;
    return device_.passed(end_);
  }

  void restart() {
    ++run_;
    begin();
  }

  std::vector<Rank> waiting_ranks() const {
    std::vector<Rank> ranks;
    if (oldest_ == left_.size()) return ranks;
    for (int index = plan_.steps[oldest_]; index < plan_.steps[oldest_ + 1]; ++index) {
      const Rank peer = message(index).peer;
      if (posted_[index].state != Stage::done && std::ranges::find(ranks, peer) == ranks.end()) ranks.push_back(peer);
    }
    return ranks;
  }

  /// Nothing is left but for the device to finish.
  bool at_work() const { return finished_ && !device_.passed(end_); }
  /// Of the schedule, counted from 1.
  int round() const { return message(plan_.steps[oldest_]).round + 1; }
  int rounds() const { return rounds_; }
  std::int64_t bytes_sent() const { return bytes_sent_; }

  /// A message has arrived: here is what becomes of it.
  void take(std::span<const std::byte> payload, std::size_t index) override {
    apply(message(static_cast<int>(index)), payload);
  }

 private:
  enum class Stage : std::uint8_t { idle, posted, arrived, done };
  struct Posted {
    Transport::Request request = 0;
    int waits = 0;
    Stage state = Stage::idle;
  };
  /// What the image holds of a chunk.
  struct Chunk {
    bool encoded = false;  ///< the encoded form of what is in the buffer
    bool settled = false;  ///< and decoding it gives what is in the buffer
  };

  const Message& message(int index) const { return plan_.messages[static_cast<std::size_t>(index)]; }

  void begin() {
    for (std::size_t i = 0; i < posted_.size(); ++i) posted_[i] = {.waits = plan_.messages[i].waits};
    for (std::size_t i = 0; i < left_.size(); ++i) left_[i] = plan_.steps[i + 1] - plan_.steps[i];
    std::ranges::fill(chunks_, Chunk());
    next_ = 0;
    oldest_ = 0;
    finished_ = false;
  }

  /// Steps enter as old ones end: a slot of staging memory is used by one of them at a time.
  bool open_next() {
    const std::size_t before = next_;
    for (; next_ < std::min(left_.size(), oldest_ + open_); ++next_) {
      for (int index = plan_.steps[next_]; index < plan_.steps[next_ + 1]; ++index) active_.push_back(index);
    }
    return next_ > before;
  }

  /// Whether the message has come a stage further.
  bool advance(int index) {
    const Message& message = this->message(index);
    Posted& posted = posted_[index];
    const bool ready = posted.waits == 0;
    const Stage before = message.before < 0 ? Stage::done : posted_[message.before].state;
    switch (posted.state) {
      case Stage::idle:
        if (before == Stage::idle || !(ready || message.staged)) return false;
        posted.request = message.send ? send(message) : receive(message, index);
        posted.state = Stage::posted;
        return true;
      case Stage::posted:
        if (before == Stage::posted || !(ready || message.held)) return false;
        if (!transport_.test(posted.request)) return false;
        posted.state = Stage::arrived;
        if (!message.held) complete(index);
        return true;
      case Stage::arrived:
        if (!ready) return false;
        apply(message, landing(message));
        complete(index);
        return true;
      case Stage::done:
        return false;
    }
    return false;
  }

  void complete(int index) {
    posted_[index].state = Stage::done;
    for (const int successor : message(index).successors) --posted_[successor].waits;
    --left_[static_cast<std::size_t>(message(index).step)];
  }

  Transport::Request send(const Message& message) {
    if (codec_ != nullptr) encode(message);
    bytes_sent_ += static_cast<std::int64_t>(message.bytes);
    return transport_.send(message.peer, tag_, image_.subspan(message.at, message.bytes));
  }

  Transport::Request receive(const Message& message, int index) {
    // What lands where it belongs needs nobody to apply it.
    const bool lands = message.held || (codec_ == nullptr && !message.staged);
    return transport_.receive(message.peer, tag_, landing(message), lands ? nullptr : this,
                              static_cast<std::size_t>(index));
  }

  std::span<std::byte> landing(const Message& message) const {
    if (!message.staged) return image_.subspan(message.at, message.bytes);
    const std::size_t slot = static_cast<std::size_t>(message.step) % open_;
    return {staging_.get() + slot * plan_.staging + message.offset, message.bytes};
  }

  std::span<float> floats(const ChunkPlace& chunk) const {
    return operand_.floats().subspan(static_cast<std::size_t>(chunk.first), static_cast<std::size_t>(chunk.elements));
  }

  /// Chunks without elements have no encoded form.
  template <class Function>
  void for_chunks(const Message& message, Function function) {
    for (int i = message.first_chunk; i < message.first_chunk + message.chunk_count; ++i) {
      const ChunkPlace& place = plan_.chunks[static_cast<std::size_t>(i)];
      if (place.elements > 0) function(place, chunks_[static_cast<std::size_t>(i)]);
    }
  }

  void encode(const ChunkPlace& place, Chunk& chunk, std::int32_t draw, bool settle) {
    const std::span<std::byte> form = image_.subspan(place.at, place.bytes);
    if (!chunk.encoded) codec_->encode(floats(place), {.rank = draw, .step = run_, .offset = place.first}, form);
    chunk.encoded = true;
    if (!settle || chunk.settled) return;
    codec_->decode(form, TransferKind::copy, floats(place));
    chunk.settled = true;
  }

  void encode(const Message& message) {
    for_chunks(message,
               [&](const ChunkPlace& place, Chunk& chunk) { encode(place, chunk, draw_of(message), message.settles); });
  }

  void apply(const Message& message, std::span<const std::byte> payload) {
    const std::span<std::byte> target = image_.subspan(message.at, message.bytes);
    const bool elsewhere = payload.data() != target.data();
    const bool copies = message.kind == TransferKind::copy;
    if (codec_ == nullptr && !copies) return device_.accumulate(operand_.type, operand_.op, payload, target);
    if (elsewhere && copies && (codec_ == nullptr || message.passed_on)) device_.copy(payload, target);
    if (codec_ == nullptr) return;
    for_chunks(message, [&](const ChunkPlace& place, Chunk& chunk) {
      codec_->decode(payload.subspan(place.at - message.at, place.bytes), message.kind, floats(place));
      chunk = {.encoded = copies, .settled = copies};
    });
  }

  void settle_result() {
    if (plan_.rounds_result)
      for (std::size_t i = 0; i < chunks_.size(); ++i)
        if (plan_.chunks[i].elements > 0) encode(plan_.chunks[i], chunks_[i], 0, true);
    const bool has_result = rank_ < world_.workers;
    if (!has_result) return;
    if (goal_ == Goal::all_reduce) device_.finish(operand_.type, operand_.op, world_.workers, operand_.buffer);
    if (goal_ == Goal::reduce_scatter) device_.finish(operand_.type, operand_.op, world_.workers, own_part());
  }

  std::span<std::byte> own_part() const {
    const std::size_t chunks = plan_.chunks.size() / static_cast<std::size_t>(world_.workers);
    const ChunkPlace& first = plan_.chunks[static_cast<std::size_t>(rank_) * chunks];
    const ChunkPlace& last = plan_.chunks[static_cast<std::size_t>(rank_ + 1) * chunks - 1];
    const std::size_t size = size_of(operand_.type);
    return operand_.buffer.subspan(static_cast<std::size_t>(first.first) * size,
                                   static_cast<std::size_t>(last.first + last.elements - first.first) * size);
  }

  Rank rank_;
  World world_;
  Goal goal_;
  int rounds_;
  const Codec* codec_;
  Transport& transport_;
  int tag_;
  Operand operand_;
  MessagePlan plan_;
  std::size_t open_;  ///< steps under way at once
  Device& device_;
  DeviceMemory staging_;
  DeviceMemory encoded_;
  std::span<std::byte> image_;
  std::vector<Chunk> chunks_;
  std::vector<Posted> posted_;  ///< by message
  std::vector<int> left_;       ///< messages of each step that are not done
  std::vector<int> active_;     ///< messages of open steps, in order
  std::size_t next_ = 0;        ///< the first step that is not open
  std::size_t oldest_ = 0;      ///< the first step that is not done
  bool finished_ = false;       ///< the device has been told everything
  Moment end_;                  ///< of that
  std::int32_t run_ = 0;        ///< how often it was restarted
  std::int64_t bytes_sent_ = 0;
};

RankProgram::RankProgram(const RankPlan& plan, const Codec* codec, Transport& transport, int tag,
                         const Operand& operand)
    : state_(std::make_unique<State>(plan, codec, transport, tag, operand)) {}

RankProgram::~RankProgram() = default;

bool RankProgram::progress() { return state_->progress(); }

void RankProgram::restart() { state_->restart(); }

std::string RankProgram::waiting_for() const {
  const std::vector<Rank> ranks = state_->waiting_ranks();
  if (ranks.empty()) return state_->at_work() ? "its device to finish" : "";
  return fmt::format("{} in round {} of {}", text_of_ranks(ranks), state_->round(), state_->rounds());
}

std::vector<Rank> RankProgram::waiting_ranks() const { return state_->waiting_ranks(); }

std::int64_t RankProgram::bytes_sent() const { return state_->bytes_sent(); }

}  // namespace hbench
