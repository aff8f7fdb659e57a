#pragma once

/// Where a step's time goes: the efficiency ledger. Pure functions of spans, the same for measured and simulated steps.

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "collectives/base/span.hpp"

namespace hbench {

/// One step of one rank, cut into parts. Each point in time of the step is in exactly one of them, so that they add up
/// to it. Of a step of several iterations, as local methods have them, it is the mean of these.
struct Ledger {
  Seconds compute;      ///< forward and backward pass, as long as they take without communication where that is known
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

}  // namespace hbench
