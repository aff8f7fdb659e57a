#pragma once

/// What `hbench_peers` has: one library in a process.

#include <functional>

#include "bench/worker/candidate.hpp"
#include "collectives/arithmetic/arithmetic.hpp"

namespace hbench {

/// Gloo's all-reduces, as its own benchmark uses them: TCP with a thread of its own per process, asynchronous. None
/// where Gloo was not built in.
PeerSet gloo_peers();

/// oneCCL's all-reduce of buffers in host memory, where the loader finds the library and the MPI here is not Open MPI;
/// else none.
PeerSet oneccl_peers();

/// A library's all-reduce, which blocks.
class BlockingAllReduce final : public Operation {
 public:
  /// `run` does it on the operand's buffer, among all `ranks`.
  BlockingAllReduce(const Operand& operand, int ranks, std::function<void()> run)
      : operand_(operand), ranks_(ranks), run_(std::move(run)) {}

  bool progress() override {
    if (done_) return true;
    run_();
    finish(operand_.type, operand_.op, ranks_, operand_.buffer);
    return done_ = true;
  }
  void restart() override { done_ = false; }
  std::string waiting_for() const override { return done_ ? "" : "the other ranks in the library's collective"; }
  std::vector<Rank> waiting_ranks() const override { return {}; }

 private:
  Operand operand_;
  int ranks_;
  std::function<void()> run_;
  bool done_ = false;
};

}  // namespace hbench
