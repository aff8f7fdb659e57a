#include "collectives/schedule/checker.hpp"

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

/// Who contributes what, by collective.
class Contributions {
 public:
  explicit Contributions(const Schedule& schedule)
      : collective_(schedule.collective),
        workers_(schedule.world.workers),
        part_(schedule.chunks / schedule.world.workers) {}

  bool sums() const { return reduces(collective_); }
  /// Members of the sets. Where data only travel a chunk comes from one worker: the one member of its set.
  int members() const { return sums() ? workers_ : 1; }
  int worker_of(int member, int chunk) const {
    if (sums()) return member;
    return collective_ == CollectiveKind::all_gather ? chunk / part_ : 0;
  }
  bool brings(int worker, int chunk) const { return sums() || worker_of(0, chunk) == worker; }
  bool wants(int worker, int chunk) const {
    return collective_ != CollectiveKind::reduce_scatter || chunk / part_ == worker;
  }

 private:
  CollectiveKind collective_;
  int workers_;
  int part_;  ///< chunks of one part
};

/// What each rank holds in each chunk: the set of the members whose contributions are in it, and garbage, which is one
/// more bit where there can be any.
class Holdings {
 public:
  Holdings(const Schedule& schedule, const Contributions& contributions)
      : chunks_(static_cast<std::size_t>(schedule.chunks)),
        members_(contributions.members()),
        words_(static_cast<std::size_t>((bits_of(contributions) + kWordBits - 1) / kWordBits)),
        bits_(static_cast<std::size_t>(schedule.world.ranks()) * chunks_ * words_) {
    for (int worker = 0; worker < schedule.world.workers; ++worker)
      for (int chunk = 0; chunk < schedule.chunks; ++chunk) {
        const bool brings = contributions.brings(worker, chunk);
        const int bit = !brings ? members_ : contributions.sums() ? worker : 0;
        of(worker, chunk)[bit / kWordBits] |= Word{1} << (bit % kWordBits);
      }
  }

  Word* of(Rank rank, int chunk) {
    return &bits_[(static_cast<std::size_t>(rank) * chunks_ + static_cast<std::size_t>(chunk)) * words_];
  }

  /// Words of one set.
  std::size_t words() const { return words_; }
  int members() const { return members_; }

  /// The first member whose contribution is missing; none when the set is complete. Garbage is never in a set with one.
  std::optional<int> first_missing(Rank rank, int chunk) {
    const Word* held = of(rank, chunk);
    for (int member = 0; member < members_; member += kWordBits) {
      const int missing = member + std::countr_one(held[member / kWordBits]);
      if (missing < std::min(members_, member + kWordBits)) return missing;
    }
    return std::nullopt;
  }

 private:
  static int bits_of(const Contributions& contributions) {
    return contributions.members() + (contributions.sums() ? 0 : 1);
  }

  std::size_t chunks_;
  int members_;
  std::size_t words_;
  std::vector<Word> bits_;
};

/// The first member of both sets.
std::optional<int> first_common(const Word* a, const Word* b, std::size_t words) {
  for (std::size_t i = 0; i < words; ++i)
    if (const Word common = a[i] & b[i]) return static_cast<int>(i) * kWordBits + std::countr_zero(common);
  return std::nullopt;
}

std::string fault_of_shape(const Schedule& schedule) {
  if (schedule.world.workers < 1) return "the world has no worker";
  if (schedule.world.servers < 0) return "the world has a negative number of servers";
  if (schedule.chunks < 1) return "the schedule has no chunk";
  const bool parts =
      schedule.collective == CollectiveKind::reduce_scatter || schedule.collective == CollectiveKind::all_gather;
  if (parts && schedule.chunks % schedule.world.workers != 0)
    return fmt::format("{} chunks do not make one part for each of {} workers", schedule.chunks,
                       schedule.world.workers);
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
        contributions_(schedule),
        holdings_(schedule, contributions_),
        writes_(static_cast<std::size_t>(schedule.world.ranks()) * static_cast<std::size_t>(schedule.chunks)) {}

  /// Transfers `begin` .. `end` are one round: all payloads are read before any is written.
  std::optional<Fault> round(std::size_t begin, std::size_t end) {
    payloads_.clear();
    for (std::size_t i = begin; i < end; ++i) {
      const Transfer& transfer = schedule_.transfers[i];
      // The chunks of a transfer lie side by side.
      const Word* held = holdings_.of(transfer.src, transfer.first_chunk);
      payloads_.insert(payloads_.end(), held,
                       held + static_cast<std::size_t>(transfer.chunk_count) * holdings_.words());
    }
    const Word* payload = payloads_.data();
    for (std::size_t i = begin; i < end; ++i) {
      const Transfer& transfer = schedule_.transfers[i];
      for (int k = 0; k < transfer.chunk_count; ++k, payload += holdings_.words())
        if (std::string what = write(transfer, transfer.first_chunk + k, payload); !what.empty())
          return Fault{i, std::move(what)};
    }
    return std::nullopt;
  }

  std::optional<Fault> end_state() {
    for (int worker = 0; worker < schedule_.world.workers; ++worker)
      for (int chunk = 0; chunk < schedule_.chunks; ++chunk) {
        if (!contributions_.wants(worker, chunk)) continue;
        if (const auto missing = holdings_.first_missing(worker, chunk)) return incomplete(worker, chunk, *missing);
      }
    return std::nullopt;
  }

 private:
  struct Write {
    int round = -1;
    TransferKind kind = TransferKind::reduce;
  };

  Fault incomplete(int worker, int chunk, int member) const {
    const int from = contributions_.worker_of(member, chunk);
    if (contributions_.sums())
      return {std::nullopt,
              fmt::format("worker {} ends without worker {}'s contribution to chunk {}", worker, from, chunk)};
    return {std::nullopt, fmt::format("worker {} ends without chunk {}, which worker {} brought", worker, chunk, from)};
  }

  std::string write(const Transfer& transfer, int chunk, const Word* payload) {
    Word* held = holdings_.of(transfer.dst, chunk);
    Write& last = writes_[static_cast<std::size_t>(transfer.dst) * static_cast<std::size_t>(schedule_.chunks) +
                          static_cast<std::size_t>(chunk)];
    const bool copies = transfer.kind == TransferKind::copy;
    if (last.round == transfer.round && (copies || last.kind == TransferKind::copy))
      return fmt::format("{}: the chunk is written twice in this round, and a copy is one of the two",
                         where(transfer, chunk));
    last = {transfer.round, transfer.kind};
    const std::size_t words = holdings_.words();
    if (copies) {
      std::copy_n(payload, words, held);
      return {};
    }
    if (std::string what = fault_of_sum(transfer, chunk, held, payload); !what.empty()) return what;
    for (std::size_t i = 0; i < words; ++i) held[i] |= payload[i];
    return {};
  }

  std::string fault_of_sum(const Transfer& transfer, int chunk, const Word* held, const Word* payload) const {
    if (!contributions_.sums()) {
      const Word garbage = Word{1} << holdings_.members();
      if ((payload[0] & garbage) != 0)
        return fmt::format("{}: adds what rank {} never got", where(transfer, chunk), transfer.src);
      if ((held[0] & garbage) != 0)
        return fmt::format("{}: adds to what rank {} never got", where(transfer, chunk), transfer.dst);
    }
    const auto twice = first_common(held, payload, holdings_.words());
    if (!twice) return {};
    return fmt::format("{}: adds worker {}'s contribution a second time", where(transfer, chunk),
                       contributions_.worker_of(*twice, chunk));
  }

  const Schedule& schedule_;
  Contributions contributions_;
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
