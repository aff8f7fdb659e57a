#include "bench/worker/rank.hpp"

#include <unistd.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

namespace hbench {
namespace {

/// Other ranks may be about to say who they wait for.
constexpr useconds_t kLastWords = 200'000;

}  // namespace

ExitCode run_rank(Endpoint* endpoint, const Say& say, const std::function<void()>& work) {
  const Rank rank = endpoint == nullptr ? 0 : endpoint->transport().rank();
  say(HelloLine{rank, own_process()});
  ExitCode failure = ExitCode::good;
  try {
    work();
    return ExitCode::good;
  } catch (const Error& error) {
    say(FailureLine{rank, static_cast<int>(error.code()), error.what()});
    failure = error.code();
  } catch (const std::exception& error) {
    say(FailureLine{rank, static_cast<int>(ExitCode::internal), error.what()});
    failure = ExitCode::internal;
  }
  if (endpoint == nullptr) return failure;
  usleep(kLastWords);
  try {
    endpoint->abort(static_cast<int>(failure));
  } catch (const Error&) {
    // A thread: the others leave by themselves.
  }
  return failure;
}

void require_ranks(const Transport& transport, int ranks) {
  if (transport.size() != ranks)
    throw Error(ExitCode::environment, "the launcher and the MPI library do not belong together",
                "use the mpirun of the MPI that hbench was built with");
}

ExitCode run_ranks_as_threads(int ranks, const Say& say, const std::function<ExitCode(int rank, const Say& say)>& run) {
  std::atomic<int> worst = 0;
  std::mutex mouth;
  const Say one_by_one = [&](const WorkerLine& line) {
    const std::lock_guard lock(mouth);
    say(line);
  };
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      const ExitCode code = run(rank, one_by_one);
      if (code != ExitCode::good) worst = static_cast<int>(code);
    });
  threads.clear();
  return static_cast<ExitCode>(worst.load());
}

}  // namespace hbench
