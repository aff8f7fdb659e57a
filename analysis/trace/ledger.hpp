#pragma once

/// Where a step's time goes: the efficiency ledger. Pure functions of spans, the same for measured and simulated steps.
///
/// Ledgers as they are stored: samples `ledger/PART` of each launch, rank and traced step. Pure.

#include <array>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/records/records.hpp"
#include "collectives/base/span.hpp"

namespace hbench {

/// One step of one rank, cut into parts. Each point in time of the step is in exactly one of them, so that they add up
/// to it. Of a step of several iterations, as local methods have them, it is the mean of these.
struct Ledger {
  Seconds compute;      ///< forward and backward pass, as long as they take without communication where that is known
  Seconds input;        ///< reads its next samples
  Seconds straggler;    ///< done with its own, it waits for the backward pass of the slowest rank
  Seconds slowdown;     ///< what the passes take longer beside communication; 0 where it is not known (in `compute`)
  Seconds exposed;      ///< no rank computes any more, and buckets are in flight
  Seconds negotiation;  ///< nothing is in flight: ranks agree on a bucket, or the fusion policy holds it back
  Seconds coding;       ///< packs, compresses, decompresses or unpacks while no rank computes any more
  Seconds optimizer;    ///< applies the gradients
  Seconds unexplained;  ///< no span says what it was

  Seconds step() const;
  friend bool operator==(const Ledger&, const Ledger&) = default;
};

struct LedgerPart {
  std::string_view name;   ///< in `ledger/NAME`
  std::string_view words;  ///< for people
  Seconds Ledger::*part;
};
/// In the order of reports.
inline constexpr std::array kLedgerParts{
    LedgerPart{"compute", "compute", &Ledger::compute},
    LedgerPart{"input", "reading samples", &Ledger::input},
    LedgerPart{"straggler", "waiting for the slowest rank", &Ledger::straggler},
    LedgerPart{"slowdown", "compute slowed by communication", &Ledger::slowdown},
    LedgerPart{"exposed", "exposed communication", &Ledger::exposed},
    LedgerPart{"negotiation", "negotiation", &Ledger::negotiation},
    LedgerPart{"coding", "copies and coding", &Ledger::coding},
    LedgerPart{"optimizer", "optimizer", &Ledger::optimizer},
    LedgerPart{"unexplained", "unexplained", &Ledger::unexplained},
};

struct RankLedger {
  Rank rank = 0;
  Ledger ledger;
};

/// Of each rank with a whole step among the spans of one step of all ranks, by rank. The waiting for the slowest rank
/// is found by comparing ranks' times: all are on one host (`Span`), and do the same things in one order.
std::vector<RankLedger> step_ledgers(std::span<const Span> spans);

/// The same ledger where the passes are known to take `alone` without communication: the rest of them is slowdown.
Ledger beside(Ledger ledger, Seconds alone);

namespace metric {
inline constexpr std::string_view kLedgerPrefix = "ledger/";
/// Of a traced step, as long as it took beside communication: the later part of `ledger/compute` + `ledger/slowdown`.
inline constexpr std::string_view kBackward = "backward_seconds";
/// Of a timed step: from the end of the backward pass until all sums are there.
inline constexpr std::string_view kWait = "wait_seconds";
}  // namespace metric

/// What is stored of a measured step, of all ranks.
std::vector<Sample> ledger_samples(const TracedStep& step);

/// Parts of one step of one rank, in seconds, by name without the prefix; with the backward pass as `backward`.
struct StoredLedger {
  int launch = 0, rank = 0, iteration = 0;
  std::map<std::string, double> parts;
};
/// By launch, step and rank. Left out is what older versions stored of timed steps: `ledger/exposed` alone, by which
/// they meant all the waiting.
std::vector<StoredLedger> stored_ledgers(const std::vector<Sample>& samples);

/// The parts of a typical step: the mean over ranks, then the median over the steps of each launch, then the median
/// over launches. Empty where no ledger is stored.
std::map<std::string, double> typical_ledger(const CaseResult& result);
/// A typical step beside a `baseline` without communication: what its passes take less is `slowdown`. Where the
/// baseline has no ledger, `slowdown` is not known and left out.
std::map<std::string, double> beside_baseline(std::map<std::string, double> ledger, const CaseResult& baseline);

}  // namespace hbench
