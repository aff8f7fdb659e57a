// Run under `mpirun -n P`: every algorithm, the library's own included, over MPI. Exits with 0 when all is right on
// every rank; otherwise says what is not, and stops the job.

#include <fmt/format.h>

#include <algorithm>

#include "collectives/base/error.hpp"
#include "collectives/base/table.hpp"
#include "collectives/executors/endpoint.hpp"
#include "collectives/executors/executor.hpp"
#include "collectives/executors/rank_program.hpp"
#include "collectives/executors/wait.hpp"
#include "tests/collectives/contributions.hpp"

namespace hbench {
namespace {

using testing::contribution_of;
using testing::expected_sum;

constexpr Seconds kTimeout{60};

/// The checks of one rank.
class Check {
 public:
  explicit Check(Endpoint& endpoint)
      : endpoint_(endpoint),
        rank_(endpoint.transport().rank()),
        executor_(find_entry(executors(), "mpi", "executor").make(nullptr, kTimeout)) {}

  int ranks() const { return endpoint_.transport().size(); }
  int done() const { return done_; }

  void vendor(std::int64_t elements) { one("vendor", {nullptr, {}, elements, {}}, {ranks(), 0, false}); }

  void algorithm(const Algorithm& algorithm, const CompressorChoice& compressor, const World& world) {
    const Schedule schedule = algorithm.build({.world = world});
    const std::string name = fmt::format("{} {}, {}", algorithm.name, compressor.text(), testing::text_of(world));
    for (const std::int64_t elements : testing::awkward_counts(ranks())) {
      one(name, {&schedule, compressor.encoding(), elements, {}}, world);
    }
  }

  /// Many collectives under way at once, with tags of their own.
  void many(const Schedule& schedule, const CompressorChoice& compressor) {
    constexpr int kPrograms = 17;
    const RankPlan plan = plan_for(schedule, rank_);
    std::vector<std::vector<float>> buffers;
    for (int i = 0; i < kPrograms; ++i) buffers.push_back(contribution_of(rank_, 1000 * i + i));
    std::vector<std::unique_ptr<RankProgram>> programs;
    for (int i = 0; i < kPrograms; ++i) {
      programs.push_back(std::make_unique<RankProgram>(plan, compressor.encoding().codec, endpoint_.transport(), i,
                                                       Operand::of(buffers[i])));
    }
    for (const auto& program : programs) program->progress();
    for (const auto& program : programs) wait_for(*program, kTimeout, fmt::format("rank {}, many at once", rank_));
    for (const auto& buffer : buffers) compare("many at once", buffer, schedule.world);
  }

  /// MPI counts in int: more must be refused, not cut off. Nothing is read, so one byte stands for them.
  void too_large() {
    ++done_;
    const std::byte first{};
    try {
      endpoint_.transport().send(rank_, 0, {&first, std::size_t{1} << 31});
    } catch (const Error& error) {
      if (error.code() == ExitCode::usage) return;
    }
    throw Error(ExitCode::wrong_data, "a message of 2 GiB was not refused");
  }

 private:
  void one(const std::string& name, Collective collective, const World& world) {
    std::vector<float> buffer = contribution_of(rank_, collective.elements);
    collective.operands = {Operand::of(buffer)};
    const Timeline timeline = executor_->run(collective);
    if (timeline.finish.size() != 1) throw Error(ExitCode::wrong_data, name + ": no time for this rank");
    compare(name, buffer, world);
  }

  void compare(const std::string& name, const std::vector<float>& buffer, const World& world) {
    ++done_;
    if (rank_ >= world.workers) return;
    const std::vector<float> sum = expected_sum(world.workers, std::ssize(buffer));
    const auto [wrong, right] = std::ranges::mismatch(buffer, sum);
    if (wrong == buffer.end()) return;
    throw Error(ExitCode::wrong_data, fmt::format("{}: {} elements, rank {}, element {} is {} instead of {}", name,
                                                  buffer.size(), rank_, wrong - buffer.begin(), *wrong, *right));
  }

  Endpoint& endpoint_;
  Rank rank_;
  std::unique_ptr<Executor> executor_;
  int done_ = 0;
};

void check_all(Check& check) {
  check.too_large();
  for (const std::int64_t elements : {0, 1, 997, 100003}) check.vendor(elements);
  for (const CompressorChoice& compressor : testing::per_hop_compressors()) {
    for (const Algorithm* algorithm : algorithms()) {
      if (algorithm->opaque()) continue;
      for (const World& world : testing::worlds_of(*algorithm, check.ranks())) {
        check.algorithm(*algorithm, compressor, world);
      }
    }
    check.many(find_entry(algorithms(), "ring", "algorithm").build({.world = {.workers = check.ranks()}}), compressor);
  }
}

int run() {
  const std::unique_ptr<Endpoint> endpoint = make_mpi_endpoint();
  try {
    Check check(*endpoint);
    check_all(check);
    fmt::print("rank {} of {}: {} checks are right\n", endpoint->transport().rank(), check.ranks(), check.done());
  } catch (const std::exception& error) {
    fmt::print(stderr, "mpi_executor_check: {}\n", error.what());
    endpoint->abort(static_cast<int>(ExitCode::wrong_data));
  }
  return 0;
}

}  // namespace
}  // namespace hbench

int main() { return hbench::run(); }
