#include "analysis/prediction/simulate_each.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "analysis/prediction/simulate.hpp"

namespace hbench {
namespace {

/// Threads that take one case after the other, in their order.
class Crew {
 public:
  Crew(const std::vector<const PlannedCase*>& cases, const Catalog& catalog, const SimulationMeans& means)
      : cases_(cases), catalog_(catalog), means_(means), outcomes_(cases.size()) {
    const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
    for (std::size_t i = 0; i < std::min(cores, cases.size()); ++i) threads_.emplace_back([this] { work(); });
  }
  /// Ends what is running.
  ~Crew() {
    const std::scoped_lock lock(mutex_);
    leaves_ = true;
    changed_.notify_all();
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  /// Waits for a case. \throws what its simulation threw.
  CaseResult take(std::size_t index) {
    std::unique_lock lock(mutex_);
    Outcome& outcome = outcomes_[index];
    changed_.wait(lock, [&] { return outcome.result || outcome.failure; });
    if (outcome.failure) std::rethrow_exception(outcome.failure);
    return *std::exchange(outcome.result, std::nullopt);
  }

 private:
  struct Outcome {
    std::optional<CaseResult> result;
    std::exception_ptr failure;
  };

  void work() {
    std::optional<SimulatedRunner> runner;
    std::int64_t held = 0;  // bytes of the schedules that the runner keeps
    while (const std::optional<std::size_t> index = next()) {
      const std::int64_t need = simulation_bytes(*cases_[*index], catalog_);
      // Whoever waits for room keeps none.
      if (!has_room(held, need)) {
        runner.reset();
        wait_for_room(held, need);
      }
      held = need;
      if (!runner) runner.emplace(catalog_, [this] { return leaves_ || (means_.stop && means_.stop()); });
      keep(*index, outcome_of(*runner, *cases_[*index]));
    }
    runner.reset();
    give_back(held);
  }

  std::optional<std::size_t> next() {
    const std::scoped_lock lock(mutex_);
    if (leaves_ || next_ == cases_.size()) return std::nullopt;
    return next_++;
  }

  /// Takes `need` bytes in the place of `held` ones, where there is room for them.
  bool has_room(std::int64_t held, std::int64_t need) {
    const std::scoped_lock lock(mutex_);
    return take_room(held, need);
  }
  void wait_for_room(std::int64_t held, std::int64_t need) {
    give_back(held);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return leaves_ || take_room(0, need); });
  }
  /// One case alone always has room: the plan has refused what has none. \pre the lock is held
  bool take_room(std::int64_t held, std::int64_t need) {
    const std::int64_t others = bytes_ - held;
    if (need > 0 && others > 0 && others > means_.memory - need) return false;
    bytes_ = others + need;
    return true;
  }
  void give_back(std::int64_t held) {
    const std::scoped_lock lock(mutex_);
    bytes_ -= held;
    changed_.notify_all();
  }

  static Outcome outcome_of(SimulatedRunner& runner, const PlannedCase& planned) {
    try {
      return {.result = runner.run(planned), .failure = nullptr};
    } catch (...) {
      return {.result = {}, .failure = std::current_exception()};
    }
  }
  void keep(std::size_t index, Outcome outcome) {
    const std::scoped_lock lock(mutex_);
    outcomes_[index] = std::move(outcome);
    changed_.notify_all();
  }

  const std::vector<const PlannedCase*>& cases_;
  const Catalog& catalog_;
  const SimulationMeans& means_;
  std::atomic<bool> leaves_ = false;
  std::mutex mutex_;  ///< of all below
  std::condition_variable changed_;
  std::vector<Outcome> outcomes_;
  std::size_t next_ = 0;
  std::int64_t bytes_ = 0;             ///< of schedules in memory
  std::vector<std::jthread> threads_;  ///< the last member: they end before the others
};

}  // namespace

void simulate_each(const std::vector<const PlannedCase*>& cases, const Catalog& catalog, const SimulationMeans& means,
                   const CaseFollower& follower) {
  Crew crew(cases, catalog, means);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    follower.waits_for(*cases[i]);
    follower.made(crew.take(i));
  }
}

std::vector<CaseResult> simulate_all(const std::vector<PlannedCase>& cases, const Catalog& catalog,
                                     const SimulationMeans& means) {
  std::vector<const PlannedCase*> pointers;
  for (const PlannedCase& each : cases) pointers.push_back(&each);
  std::vector<CaseResult> results;
  simulate_each(pointers, catalog, means,
                {.waits_for = [&](const Case& asked) { means.begun(simulation_in_words(asked)); },
                 .made =
                     [&](CaseResult result) {
                       means.done(simulation_time(cases[results.size()], catalog));
                       results.push_back(std::move(result));
                     }});
  return results;
}

}  // namespace hbench
