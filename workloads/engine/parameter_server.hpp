#pragma once

/// A server that holds parameters and the optimizer's state, and applies the gradients of each worker as they come.

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "collectives/endpoints/endpoint.hpp"
#include "workloads/engine/messages.hpp"
#include "workloads/engine/push_codes.hpp"
#include "workloads/step/training_request.hpp"

namespace hbench {

/// That of one rank, where its endpoint's operands lie. For each worker and piece one push comes after the other, and
/// each is answered by the parameters that it has led to, of which it is sent a copy: later pushes change nothing of
/// it. Once all workers have left, each is sent the final parameters. Used by one thread at a time.
///
/// A push is applied at the rate divided by the number of workers, which is the staleness to be expected (Zhang et al.,
/// Staleness-aware Async-SGD for Distributed Deep Learning, IJCAI 2016, arXiv:1511.05950): a push of each worker moves
/// parameters as far as a synchronous step. Momentum decays with each push, and so reaches its size in fewer
/// iterations: one of m has 1/(1 - m) pushes in it, and not as many steps.
class ParameterServer {
 public:
  /// `pieces` are those of this rank, and `initial` is what they begin with, in a buffer of the whole model. A push of
  /// a worker's iteration is answered once all have pushed `bound` iterations before it; without one, at once. The
  /// request and the endpoint outlive it.
  ParameterServer(const TrainingRequest& request, Endpoint& endpoint, std::vector<ServerPiece> pieces,
                  std::optional<int> bound, std::span<float> initial);
  ~ParameterServer();
  ParameterServer(const ParameterServer&) = delete;
  ParameterServer& operator=(const ParameterServer&) = delete;

  /// Does what can be done now; whether that was anything. \throws Error: lost_rank that names workers that others have
  /// waited for too long, wrong_data where a worker has pushed more or less than was applied.
  bool progress();
  /// All workers have left, and have what they end with.
  bool done() const { return ended_; }

  /// \name The worker of this rank, without messages
  /// @{
  /// `parameters` has the answer once `answered` says so.
  void push(const ServerPiece& piece, std::span<float> gradients, std::span<float> parameters);
  bool answered(const ServerPiece& piece) const;
  /// After this number of iterations; `parameters`, of the whole model, has this server's part of the final ones once
  /// `done`.
  void leave(int iterations, std::span<float> parameters);
  /// @}

  /// How often a gradient came, by the number of others that were applied before it and that it was computed without.
  const std::map<int, std::int64_t>& unseen() const { return unseen_; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Held {
    ServerPiece piece;
    DeviceFloats parameters;
    std::vector<DeviceFloats> kept;  ///< the optimizer's state
    std::int64_t version = 0;        ///< gradients that were applied
    std::vector<std::int64_t> seen;  ///< the version that each worker has
    std::vector<int> pushed;         ///< by each worker
  };
  /// Of one worker and one piece.
  struct Link {
    enum class Stage : std::uint8_t { idle, receives, waits, sends } stage = Stage::idle;
    DeviceFloats buffer;      ///< of a push, coded or not, then of its answer; none on this rank
    std::span<float> answer;  ///< where it is put: there, or where the worker of this rank wants it
    Transport::Request request = 0;
    Clock::time_point since;  ///< it waits
  };

  Link& link(std::size_t piece, Rank worker) {
    return links_[piece * static_cast<std::size_t>(workers_) + static_cast<std::size_t>(worker)];
  }
  bool is_here(Rank worker) const { return worker == transport_.rank(); }
  bool has_left(Rank worker) const { return left_[static_cast<std::size_t>(worker)]; }

  std::span<std::byte> push_of(std::size_t piece, Rank worker);
  void expect_push(std::size_t piece, Rank worker);
  bool progress(std::size_t piece, Rank worker);
  void apply(std::size_t piece, Rank worker, std::span<float> gradients);
  void answer_whom_it_can(std::size_t piece);
  void answer(std::size_t piece, Rank worker);
  int complete(const Held& held) const;
  void let_leave(Rank worker, int iterations);
  bool end();
  void check_late() const;
  std::vector<Rank> behind() const;

  const TrainingRequest& request_;
  Transport& transport_;
  Device& device_;
  int workers_;
  std::optional<int> bound_;
  OptimizerChoice optimizer_;
  PushDecoder decoder_;
  std::vector<Held> held_;
  std::map<int, std::size_t> place_;  ///< in `held_`, by the number of a piece
  std::vector<Link> links_;           ///< by piece and worker
  std::vector<std::unique_ptr<Inbox<std::int32_t>>> leaving_;
  std::vector<bool> left_;
  std::span<float> final_;  ///< where the worker of this rank wants the final parameters
  std::optional<Clock::time_point> first_left_, last_moved_;
  bool ending_ = false, ended_ = false;
  std::map<int, std::int64_t> unseen_;
};

}  // namespace hbench
