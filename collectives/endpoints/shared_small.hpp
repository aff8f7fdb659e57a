#pragma once

/// Small all-reduces over shared memory: every rank reads every contribution. Internal to the shared-memory endpoints.
///
/// A rank writes its contribution to shared memory, raises its flag, and combines all contributions once all flags are
/// up. That is more traffic than one pass, but ranks wait for each other once instead of twice, and waiting is what
/// small sizes cost.

#include "collectives/endpoints/shared_one_pass.hpp"

namespace hbench {

/// Whether this is faster than one pass for a buffer of `bytes`.
bool is_small_all_reduce(const Schedule& schedule, std::size_t bytes);

/// This rank's part; as `OnePass` in all else.
class SmallAllReduce final : public Operation {
 public:
  /// \pre has_one_pass_form(schedule) and is_small_all_reduce(schedule, operand.buffer.size()).
  SmallAllReduce(const Schedule& schedule, const Operand& operand, SharedSegment& segment, int control,
                 ControlLedger& ledger);
  ~SmallAllReduce() override { ledger_.used = false; }
  SmallAllReduce(const SmallAllReduce&) = delete;
  SmallAllReduce& operator=(const SmallAllReduce&) = delete;

  bool progress() override;
  bool may_spin() const override { return segment_.enough_cores(); }
  void restart() override { stage_ = Stage::begin; }
  std::string waiting_for() const override;
  std::vector<Rank> waiting_ranks() const override;

 private:
  enum class Stage : std::uint8_t { begin, arrived, complete };

  std::uint64_t place() const;
  void arrive();
  bool everybody_is_there();
  void combine_all();

  int workers_;
  Operand operand_;
  SharedSegment& segment_;
  int control_;
  SharedArrival& own_;
  ControlLedger& ledger_;
  Stage stage_ = Stage::begin;
  std::uint64_t epoch_ = 0;
  Rank next_ = 0;  ///< the first whose flag has not been seen up in this run
  std::vector<const SharedArrival*> arrivals_;
  std::vector<const std::byte*> contributions_;
};

}  // namespace hbench
