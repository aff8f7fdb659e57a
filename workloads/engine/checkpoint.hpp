#pragma once

/// What a job goes on from after it was ended: one file for each rank and step.
///
/// Ranks write their files without asking each other; they pass the same steps, so that a step of which all files are
/// whole is a state of the job. When they go on they agree on the newest such step. Until its next file is whole a rank
/// keeps the two before, since another rank may be behind by one.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <future>
#include <string>
#include <vector>

#include "collectives/base/state_walk.hpp"
#include "collectives/transport/transport.hpp"
#include "workloads/step/training_request.hpp"

namespace hbench {

/// What a job goes on from.
struct CheckpointFound {
  int steps = 0;  ///< done by then; 0: it begins
  int ranks = 0;  ///< that have done them
};

using OnCheckpoint = std::function<void(const CheckpointReport&)>;

/// One rank's. Used by the thread that trains.
class Checkpoints {
 public:
  /// Goes through what all ranks have, and then through what is this rank's own.
  struct Walks {
    std::function<void(StateWalk&)> shared, own;
  };

  /// \param job what has to be the same when it goes on, in words, one line \param ranks of the job
  Checkpoints(CheckpointRequest request, std::string job, Rank rank, int ranks, OnCheckpoint on_checkpoint);
  /// Waits for what is being written.
  ~Checkpoints();
  Checkpoints(const Checkpoints&) = delete;
  Checkpoints& operator=(const Checkpoints&) = delete;

  /// Finds the newest state that all ranks have, where the request says so. \param transport null: this rank is alone
  /// \throws Error: usage for a state of another job, and for a folder with one where a job begins; lost_rank.
  CheckpointFound find(Transport* transport, Seconds timeout);
  /// Brings back what was found, if anything. Of a job of another number of ranks that is what all have alike, and what
  /// is a rank's own stays as it is. \param first_step of this job \throws Error (usage) for a state of another model.
  void bring(const Walks& walks, int first_step);
  /// Writes a checkpoint where it is time, after `steps` steps of the job. \throws Error (environment) where the one
  /// before could not be written.
  void see(int steps, const Walks& walks);
  /// Waits for the last one. \throws as `see`.
  void finish();

 private:
  /// One rank's state after a step, by the name of its file.
  struct File {
    int steps = 0, rank = 0, ranks = 0;
    std::filesystem::path path = {};

    static std::string name(int steps, Rank rank, int ranks);
    /// Equal for the files of all ranks; greater for what came later. Above 0.
    std::int64_t state() const { return (static_cast<std::int64_t>(steps) << 24) + ranks; }
  };
  /// The newest first.
  std::vector<File> all_files() const;
  /// This rank's, and of jobs of other sizes one of each state.
  std::vector<File> usable_files() const;
  void remove_old() const;
  void report_last();
  void write(int steps) const;

  CheckpointRequest request_;
  std::string job_;
  Rank rank_;
  int ranks_;
  OnCheckpoint on_checkpoint_;
  File found_ = {};
  std::vector<std::byte> state_;  ///< that was found or is being written; its memory is used again
  int last_ = 0;                  ///< steps by the last one
  CheckpointReport report_;       ///< of the last one
  std::future<Seconds> writing_;  ///< how long it takes
};

}  // namespace hbench
