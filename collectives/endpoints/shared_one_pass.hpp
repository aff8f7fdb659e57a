#pragma once

/// Collectives in one pass over memory that all ranks have mapped. Internal to the shared-memory endpoints.
///
/// Where every chunk has one owner that takes all contributions in one round and gives the result to all in the next,
/// any rank can do an owner's work, because all ranks can read and write all buffers. So the ranks arrive; when all
/// have, each running rank claims block after block of the buffer; of each block all contributions are read once and
/// all results written once, the least traffic that an all-reduce can have; the last block releases all ranks. A rank
/// that is not running delays the others by its arrival only.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/schedule/schedule.hpp"
#include "collectives/transport/shared_memory.hpp"
#include "collectives/transport/transport.hpp"

namespace hbench {

/// Whether every chunk of `schedule` has one owner, as above. \pre the checker accepts it (see checker.hpp).
bool has_one_pass_form(const Schedule& schedule);

/// Counts of all collectives that have used one control block; the same on every rank.
struct ControlLedger {
  std::uint64_t passes = 0;
  std::uint64_t blocks = 0;
  bool used = false;  ///< by an operation that still exists
};

/// This rank's part. `segment`, `ledger`, `byte_counts` and the operand's memory outlive it. Counts what `schedule`
/// would send and receive. A buffer outside the segment is copied in and out. The result has the same bits on every
/// rank: contributions are combined in rank order, whichever rank does it.
class OnePass final : public Operation {
 public:
  /// \pre has_one_pass_form(schedule); every rank uses the control block `control` for the same collectives in the same
  /// order, and none is using it now. \throws Error (environment) where shared memory is short.
  OnePass(const Schedule& schedule, const Operand& operand, SharedSegment& segment, int control, ControlLedger& ledger,
          ByteCounts& byte_counts);
  ~OnePass() override;

  bool progress() override;
  bool may_spin() const override { return segment_.enough_cores(); }
  void restart() override { stage_ = Stage::begin; }
  std::string waiting_for() const override;
  std::vector<Rank> waiting_ranks() const override;

 private:
  enum class Stage : std::uint8_t { begin, arrived, complete };
  /// Elements `begin` to `end`, all of one part.
  struct Block {
    std::size_t begin;  ///< in bytes
    std::size_t end;
    Rank owner;  ///< of the part, where the collective speaks of parts
  };

  struct Message {
    Rank peer;
    std::size_t bytes;
  };

  void cut(const Schedule& schedule);
  void cut(ElementRange range, Rank owner);
  void count(const Schedule& schedule);
  bool everybody_is_there() const;
  void arrive();
  void learn_addresses();
  void claim_blocks();
  void work(const Block& block);
  void complete();

  CollectiveKind collective_;
  int workers_;
  Operand operand_;
  SharedSegment& segment_;
  SharedControl& control_;
  SharedArrival& own_;
  int control_index_;
  ControlLedger& ledger_;
  ByteCounts& byte_counts_;
  std::vector<Message> sends_, receives_;  ///< of a run, had it messages
  std::vector<Block> blocks_;
  std::span<std::byte> buffer_;  ///< in the segment: the operand's, or a copy of it
  bool staged_;
  Stage stage_ = Stage::begin;
  std::uint64_t pass_ = 0;             ///< of this run
  std::uint64_t first_block_ = 0;      ///< of this run, as counted in the control block
  std::vector<std::byte*> addresses_;  ///< of all buffers, by rank; empty before the first run
  std::vector<const std::byte*> sources_;
  std::vector<std::byte*> targets_;
};

}  // namespace hbench
