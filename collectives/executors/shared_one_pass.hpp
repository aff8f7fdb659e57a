#pragma once

/// Collectives in one pass over memory that all ranks have mapped. Internal to the shared-memory executor.
///
/// Where every chunk has one owner that takes all contributions in one round and gives the result to all in the next,
/// it does not matter who does an owner's work when everybody can read and write all buffers. So: the ranks arrive;
/// when all have, blocks of the buffer are claimed one by one by whoever is running; of each block all contributions
/// are read once and all results written once, the least traffic that an all-reduce can have; the last block releases
/// all. A rank that is not running delays nobody beyond its arrival.

#include <optional>
#include <vector>

#include "collectives/executors/operand.hpp"
#include "collectives/executors/operation.hpp"
#include "collectives/executors/shared_segment.hpp"
#include "collectives/schedule.hpp"

namespace hbench {

/// Whether `schedule` is one of those, whatever it is called. It is taken to be right (see checker.hpp).
bool has_one_pass_form(const Schedule& schedule);

/// What all collectives that have used one control block left behind: the same on every rank.
struct ControlLedger {
  std::uint64_t epochs = 0;
  std::uint64_t blocks = 0;
  bool used = false;  ///< by an operation that is still there
};

/// This rank's part. `segment`, `ledger` and the operand's memory outlive it. A buffer outside the segment is copied in
/// and out. The result has the same bits on every rank: contributions are combined in rank order, whoever does it.
class OnePass final : public Operation {
 public:
  /// \pre has_one_pass_form(schedule); every rank uses the control block `control` for the same collectives in the same
  /// order, and none is using it now. \throws Error (environment) where shared memory is short.
  OnePass(const Schedule& schedule, const Operand& operand, SharedSegment& segment, int control, ControlLedger& ledger);
  ~OnePass() override;
  OnePass(const OnePass&) = delete;
  OnePass& operator=(const OnePass&) = delete;

  bool progress() override;
  void restart() override { stage_ = Stage::begin; }
  std::string waiting_for() const override;
  std::vector<Rank> waiting_ranks() const override;

 private:
  enum class Stage : std::uint8_t { begin, arrived, complete };
  /// Elements `begin` to `end`, all of one part.
  struct Block {
    std::size_t begin;  ///< in bytes
    std::size_t end;
    Rank owner;  ///< of the part, where the goal speaks of parts
  };

  void cut(const Schedule& schedule);
  void cut(ElementRange range, Rank owner);
  bool everybody_is_there() const;
  void arrive();
  void learn_addresses();
  void claim_blocks();
  void work(const Block& block);
  void complete();

  Goal goal_;
  int workers_;
  Operand operand_;
  SharedSegment& segment_;
  SharedControl& control_;
  SharedArrival& own_;
  int control_index_;
  ControlLedger& ledger_;
  std::vector<Block> blocks_;
  std::span<std::byte> buffer_;  ///< in the segment: the operand's, or a copy of it
  bool staged_;
  Stage stage_ = Stage::begin;
  std::uint64_t epoch_ = 0;            ///< this run's
  std::uint64_t first_block_ = 0;      ///< this run's, as counted in the control block
  std::vector<std::byte*> addresses_;  ///< of all buffers, by rank; empty before the first run
  std::vector<const std::byte*> sources_;
  std::vector<std::byte*> targets_;
};

}  // namespace hbench
