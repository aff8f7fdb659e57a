#include "collectives/checker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace hbench {
namespace {

constexpr int kWordBits = 64;
using Word = std::uint64_t;

std::string where(const Transfer& transfer, int chunk) {
  return fmt::format("round {}, rank {} to rank {}, chunk {}", transfer.round, transfer.src, transfer.dst, chunk);
}

/// What each rank holds in each chunk: the set of workers whose contributions are in the sum.
class Holdings {
 public:
  explicit Holdings(const Schedule& schedule)
      : workers_(schedule.world.workers),
        chunks_(static_cast<std::size_t>(schedule.chunks)),
        words_(static_cast<std::size_t>((workers_ + kWordBits - 1) / kWordBits)),
        bits_(static_cast<std::size_t>(schedule.world.ranks()) * chunks_ * words_) {
    for (int worker = 0; worker < workers_; ++worker)
      for (int chunk = 0; chunk < schedule.chunks; ++chunk)
        of(worker, chunk)[static_cast<std::size_t>(worker / kWordBits)] |= Word{1} << (worker % kWordBits);
  }

  std::span<Word> of(Rank rank, int chunk) {
    const std::size_t cell = static_cast<std::size_t>(rank) * chunks_ + static_cast<std::size_t>(chunk);
    return std::span(bits_).subspan(cell * words_, words_);
  }

  std::size_t words() const { return words_; }

  /// The first worker whose contribution is missing; none when the sum is complete.
  std::optional<int> first_missing(Rank rank, int chunk) {
    const std::span<const Word> held = of(rank, chunk);
    for (std::size_t i = 0; i < words_; ++i) {
      const int worker = static_cast<int>(i) * kWordBits + std::countr_one(held[i]);
      if (worker < std::min(workers_, (static_cast<int>(i) + 1) * kWordBits)) return worker;
    }
    return std::nullopt;
  }

 private:
  int workers_;
  std::size_t chunks_;
  std::size_t words_;
  std::vector<Word> bits_;
};

/// The first worker in both sets.
std::optional<int> first_common(std::span<const Word> a, std::span<const Word> b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (const Word common = a[i] & b[i]) return static_cast<int>(i) * kWordBits + std::countr_zero(common);
  return std::nullopt;
}

std::string fault_of_shape(const Schedule& schedule) {
  if (schedule.world.workers < 1) return "the world has no worker";
  if (schedule.world.servers < 0) return "the world has a negative number of servers";
  if (schedule.chunks < 1) return "the schedule has no chunk";
  const auto& offsets = schedule.offsets;
  if (offsets.empty()) return {};
  if (offsets.size() != static_cast<std::size_t>(schedule.chunks) + 1)
    return fmt::format("{} offsets for {} chunks, which need {}", offsets.size(), schedule.chunks, schedule.chunks + 1);
  if (offsets.front() != 0) return fmt::format("the first chunk begins at element {}", offsets.front());
  if (!std::ranges::is_sorted(offsets)) return "the offsets do not ascend";
  return {};
}

/// What is wrong with a transfer regardless of what is in the buffers.
std::string fault_of_form(const Schedule& schedule, const Transfer& transfer, int round_before) {
  if (transfer.round < 0 || transfer.round >= schedule.rounds)
    return fmt::format("round {} of a schedule with {} rounds", transfer.round, schedule.rounds);
  if (transfer.round < round_before)
    return fmt::format("round {} is listed after round {}", transfer.round, round_before);
  for (const Rank rank : {transfer.src, transfer.dst})
    if (rank < 0 || rank >= schedule.world.ranks())
      return fmt::format("round {} names rank {} in a world of {} ranks", transfer.round, rank, schedule.world.ranks());
  const std::int64_t end = std::int64_t{transfer.first_chunk} + transfer.chunk_count;
  if (transfer.first_chunk < 0 || transfer.chunk_count < 1 || end > schedule.chunks)
    return fmt::format("round {} moves chunks {} to {} of {}", transfer.round, transfer.first_chunk, end - 1,
                       schedule.chunks);
  return {};
}

/// Runs a schedule on sets, round by round.
class SymbolicRun {
 public:
  explicit SymbolicRun(const Schedule& schedule)
      : schedule_(schedule),
        holdings_(schedule),
        writes_(static_cast<std::size_t>(schedule.world.ranks()) * static_cast<std::size_t>(schedule.chunks)) {}

  /// Transfers `begin` .. `end` are one round: all payloads are read before any is written.
  std::optional<Fault> round(std::size_t begin, std::size_t end) {
    payloads_.clear();
    for (std::size_t i = begin; i < end; ++i) read(schedule_.transfers[i]);
    std::span<const Word> payload = payloads_;
    for (std::size_t i = begin; i < end; ++i) {
      const Transfer& transfer = schedule_.transfers[i];
      for (int k = 0; k < transfer.chunk_count; ++k) {
        const int chunk = transfer.first_chunk + k;
        if (std::string what = write(transfer, chunk, payload.first(holdings_.words())); !what.empty())
          return Fault{i, std::move(what)};
        payload = payload.subspan(holdings_.words());
      }
    }
    return std::nullopt;
  }

  std::optional<Fault> end_state() {
    for (int worker = 0; worker < schedule_.world.workers; ++worker)
      for (int chunk = 0; chunk < schedule_.chunks; ++chunk)
        if (const auto missing = holdings_.first_missing(worker, chunk))
          return Fault{std::nullopt, fmt::format("worker {} ends without worker {}'s contribution to chunk {}", worker,
                                                 *missing, chunk)};
    return std::nullopt;
  }

 private:
  struct Write {
    int round = -1;
    TransferKind kind = TransferKind::reduce;
  };

  void read(const Transfer& transfer) {
    for (int k = 0; k < transfer.chunk_count; ++k) {
      const auto held = holdings_.of(transfer.src, transfer.first_chunk + k);
      payloads_.insert(payloads_.end(), held.begin(), held.end());
    }
  }

  std::string write(const Transfer& transfer, int chunk, std::span<const Word> payload) {
    const std::span<Word> held = holdings_.of(transfer.dst, chunk);
    Write& last = writes_[static_cast<std::size_t>(transfer.dst) * static_cast<std::size_t>(schedule_.chunks) +
                          static_cast<std::size_t>(chunk)];
    const bool copies = transfer.kind == TransferKind::copy;
    if (last.round == transfer.round && (copies || last.kind == TransferKind::copy))
      return fmt::format("{}: the chunk is written twice in this round, and a copy is one of the two",
                         where(transfer, chunk));
    last = {transfer.round, transfer.kind};
    if (copies) {
      std::ranges::copy(payload, held.begin());
      return {};
    }
    if (const auto twice = first_common(held, payload))
      return fmt::format("{}: adds worker {}'s contribution a second time", where(transfer, chunk), *twice);
    for (std::size_t i = 0; i < held.size(); ++i) held[i] |= payload[i];
    return {};
  }

  const Schedule& schedule_;
  Holdings holdings_;
  std::vector<Write> writes_;  ///< the last write of each rank and chunk
  std::vector<Word> payloads_;
};

}  // namespace

std::optional<Fault> check(const Schedule& schedule) {
  if (std::string what = fault_of_shape(schedule); !what.empty()) return Fault{std::nullopt, std::move(what)};
  const auto& transfers = schedule.transfers;
  for (std::size_t i = 0; i < transfers.size(); ++i)
    if (std::string what = fault_of_form(schedule, transfers[i], i == 0 ? 0 : transfers[i - 1].round); !what.empty())
      return Fault{i, std::move(what)};

  SymbolicRun run(schedule);
  for (std::size_t begin = 0, end = 0; begin < transfers.size(); begin = end) {
    while (end < transfers.size() && transfers[end].round == transfers[begin].round) ++end;
    if (auto fault = run.round(begin, end)) return fault;
  }
  return run.end_state();
}

}  // namespace hbench
