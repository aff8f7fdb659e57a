// Run under `mpirun -n P`: every algorithm, the library's own included, over MPI. Exits with 0 when all is right on
// every rank; otherwise says what is not, and stops the job.
//
// Threads run the whole product of algorithms, types and operations; here each algorithm is dealt a seventh of the
// pairs of type and operation, and beyond three ranks a quarter of the compressors: in another order for every
// algorithm, so that all of them occur.

#include <fmt/format.h>

#include "collectives/base/error.hpp"
#include "collectives/exchange/exchange.hpp"
#include "collectives/program/rank_program.hpp"
#include "collectives/transport/transport.hpp"
#include "tests/collectives/conformance.hpp"

namespace hbench {
namespace {

using support::Case;

constexpr Seconds kTimeout{60};

/// The checks of one rank.
class Check {
 public:
  explicit Check(Endpoint& endpoint) : endpoint_(endpoint), rank_(endpoint.transport().rank()) {}

  int ranks() const { return endpoint_.transport().size(); }
  int done() const { return done_; }

  void plain(Case c) {
    const Schedule schedule =
        c.algorithm.algorithm->is_vendor()
            ? Schedule{.world = c.world, .chunks = c.world.workers, .transfers = {}, .offsets = {}}
            : schedule_of(c);
    std::vector<std::byte> buffer = given(c, schedule, rank_);
    run(c, {buffer, c.type, c.op});
    require(support::judge(c, schedule, rank_, buffer));
  }

  /// Two steps, so that what is carried over from the first counts.
  void compressed(Case c) {
    constexpr int kSteps = 2;
    const bool gathers = c.compressor.compressor->exchange == Exchange::gather;
    const auto sums = gathers ? support::gathered_sums(c, kSteps) : std::vector<std::vector<float>>();
    const auto memory = std::make_shared<ExchangeMemory>(c.compressor, c.elements);
    for (int step = 0; step < kSteps; ++step) {
      std::vector<float> buffer = support::gradient_of(rank_, c.elements, step);
      run(c, Operand::of(buffer), memory);
      if (rank_ >= c.world.workers) continue;
      if (gathers && buffer != sums[static_cast<std::size_t>(step)]) fail(c.name() + ": not the sum in rank order");
      if (!c.compressor.error_feedback && c.compressor.compressor->exchange == Exchange::per_hop && step == 0)
        require(support::judge_sum(c, buffer));
      digests_.push_back(digest(buffer));
    }
    same_everywhere(c);
  }

  /// Many collectives under way at once.
  void many() {
    std::vector<std::vector<float>> buffers;
    std::vector<std::unique_ptr<Operation>> operations;
    for (int i = 0; i < 17; ++i) buffers.push_back(support::contribution_of(rank_, 1000 * i + i));
    for (auto& buffer : buffers)
      operations.push_back(prepare_exchange(endpoint_, {.world = {.workers = ranks()},
                                                        .algorithm = parse_algorithm("ring"),
                                                        .compressor = parse_compressor("none"),
                                                        .operand = Operand::of(buffer)}));
    for (const auto& operation : operations) operation->progress();
    for (const auto& operation : operations) wait_for(*operation, kTimeout, fmt::format("rank {}, many", rank_));
    for (const auto& buffer : buffers)
      if (buffer != support::expected_sum(ranks(), std::ssize(buffer))) fail("many at once: a sum is wrong");
    ++done_;
  }

  /// MPI counts in int: more must be refused, not cut off. Nothing is read, so one byte stands for them.
  void too_large() {
    ++done_;
    std::byte first{};
    try {
      endpoint_.vendor(CollectiveKind::all_reduce, {{&first, std::size_t{1} << 31}, DataType::uint8});
    } catch (const Error& error) {
      if (error.code() == ExitCode::usage) return;
    }
    fail("a buffer of 2 GiB was not refused");
  }

  /// Long messages travel in pieces; whatever is left over by them, what is sent arrives.
  void long_message(std::size_t bytes) {
    ++done_;
    Transport& transport = endpoint_.transport();
    const auto value = [](std::size_t i) { return static_cast<std::byte>(i * 7 + i / 251); };
    std::vector<std::byte> memory(bytes);
    if (rank_ == 0)
      for (std::size_t i = 0; i < bytes; ++i) memory[i] = value(i);
    if (rank_ > 1) return;
    const auto request = rank_ == 0 ? transport.send(1, 0, memory) : transport.receive(0, 0, memory);
    while (!transport.test(request)) continue;
    for (std::size_t i = 0; i < bytes; ++i)
      if (memory[i] != value(i)) fail(fmt::format("a message of {} bytes: byte {} is wrong", bytes, i));
  }

  /// A rank with a smaller or larger buffer than its peer's is found out.
  void other_length(std::size_t sent, std::size_t expected, std::string_view message) {
    ++done_;
    Transport& transport = endpoint_.transport();
    const std::vector<std::byte> payload(sent);
    std::vector<std::byte> landing(expected);
    if (rank_ == 0) {
      const auto request = transport.send(1, 0, payload);
      while (!transport.test(request)) continue;
    } else if (rank_ == 1) {
      const auto request = transport.receive(0, 0, landing);
      try {
        while (!transport.test(request)) continue;
        fail("a message of another length was taken");
      } catch (const Error& error) {
        transport.cancel(request);
        if (error.what() != message) fail(fmt::format("'{}' instead of '{}'", error.what(), message));
      }
    }
  }

 private:
  [[noreturn]] static void fail(const std::string& what) { throw Error(ExitCode::wrong_data, what); }

  static void require(const std::string& fault) {
    if (!fault.empty()) fail(fault);
  }

  void run(const Case& c, const Operand& operand, std::shared_ptr<ExchangeMemory> memory = nullptr) {
    const auto operation = prepare_exchange(endpoint_, {.world = c.world,
                                                        .algorithm = c.algorithm,
                                                        .compressor = c.compressor,
                                                        .operand = operand,
                                                        .memory = std::move(memory)});
    wait_for(*operation, kTimeout, fmt::format("rank {}: {}", rank_, c.name()));
    ++done_;
  }

  /// FNV-1a.
  static std::int64_t digest(std::span<const float> values) {
    std::uint64_t hash = 14695981039346656037U;
    for (const std::byte byte : std::as_bytes(values))
      hash = (hash ^ static_cast<std::uint64_t>(byte)) * 1099511628211U;
    return static_cast<std::int64_t>(hash);
  }

  /// The smallest of all digests is the largest.
  void same_everywhere(const Case& c) {
    std::vector<std::int64_t> least = digests_;
    std::vector<std::int64_t> most = digests_;
    const Case plain{parse_algorithm("ring"), parse_compressor("none"), {.workers = ranks()}};
    // Servers have no result of their own.
    if (rank_ >= c.world.workers) {
      least.assign(2, INT64_MAX);
      most.assign(2, INT64_MIN);
    }
    run(plain, {std::as_writable_bytes(std::span(least)), DataType::int64, ReduceOp::min});
    run(plain, {std::as_writable_bytes(std::span(most)), DataType::int64, ReduceOp::max});
    digests_.clear();
    if (least != most) fail(c.name() + ": workers end with different bits");
  }

  Endpoint& endpoint_;
  Rank rank_;
  std::vector<std::int64_t> digests_;
  int done_ = 0;
};

void check_types(Check& check, Case c, int turn) {
  constexpr int kShare = 7;
  c.elements = 210 * c.world.workers;  // MPI's own want equal parts
  for (const DataTypeEntry* type : data_types())
    for (const ReduceOpEntry* op : reduce_ops()) {
      c.type = type->type;
      c.op = op->op;
      const bool possible = refuse_exchange(c.algorithm, c.compressor, c.type, c.op, c.world).empty();
      if (turn++ % kShare == 0 && possible) check.plain(c);
    }
}

void check_plain(Check& check) {
  int turn = 0;
  for (Case c : support::plain_cases(check.ranks())) {
    for (const std::int64_t elements : support::awkward_counts(check.ranks())) {
      c.elements = elements;
      check.plain(c);
    }
    check_types(check, c, turn++);
  }
}

void check_vendor(Check& check) {
  for (const Algorithm* algorithm : algorithms()) {
    if (!algorithm->is_vendor()) continue;
    Case c{{algorithm, {}}, parse_compressor("none"), {.workers = check.ranks()}};
    for (const std::int64_t parts : {0, 1, 997, 10007}) {
      c.elements = parts * check.ranks();
      check.plain(c);
    }
    for (int turn = 0; turn < 7; ++turn) check_types(check, c, turn);
  }
}

void check_compressed(Check& check) {
  const int share = check.ranks() > 3 ? 4 : 1;
  int turn = 0;
  std::string_view algorithm;
  for (Case c : support::compressed_cases(check.ranks())) {
    if (c.algorithm.algorithm->collective != CollectiveKind::all_reduce) continue;
    // Begins with another compressor for every algorithm.
    if (std::exchange(algorithm, c.algorithm.algorithm->name) != algorithm) ++turn;
    c.elements = 1009;
    if (turn++ % share == 0) check.compressed(c);
  }
}

int run() {
  const std::unique_ptr<Endpoint> endpoint = make_mpi_endpoint();
  try {
    Check check(*endpoint);
    check.too_large();
    check.other_length(4, 8, "rank 0 sent 4 bytes to rank 1, which expects 8 bytes");
    check.other_length(12, 8, "rank 0 sent more to rank 1, which expects 8 bytes");
    for (const std::size_t bytes : {0, 1, 61375, 61376, 61377, 122752, 122753, 1'000'003}) check.long_message(bytes);
    check.many();
    check_plain(check);
    check_vendor(check);
    check_compressed(check);
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
