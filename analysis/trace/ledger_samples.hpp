#pragma once

/// Ledgers as they are stored: samples `ledger/PART` of each launch, rank and traced step. Pure.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/records/records.hpp"
#include "analysis/trace/ledger.hpp"

namespace hbench {

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
