#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "analysis/jobs/job_parts.hpp"
#include "analysis/jobs/text_source.hpp"
#include "collectives/base/text.hpp"
#include "collectives/base/units_text.hpp"

namespace hbench {
namespace {

std::string size_text(const UnfinishedExchange& exchange) {
  return exchange.bytes > 0 ? fmt::format(" ({})", format(Bytes(static_cast<double>(exchange.bytes)))) : "";
}

std::string text_of(const std::vector<int>& ranks) {
  return ranks.size() > 3 ? counted(std::ssize(ranks), "rank")
                          : fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", fmt::join(ranks, ", "));
}

/// What the ranks of a group do in the place of an exchange, and where to look.
std::string ranks_in(const std::string& group, const std::vector<int>& members, const UnfinishedExchange& first,
                     const std::vector<Recording>& recordings) {
  std::vector<int> elsewhere, completed, waiting, started;
  auto absent = std::ssize(members);
  for (const Recording& recording : recordings) {
    const int rank = recording.rank.value_or(-1);
    if (std::ranges::find(members, rank) == members.end()) continue;
    --absent;
    const auto found = recording.groups.find(group);
    const RecordedGroup own = found == recording.groups.end() ? RecordedGroup{} : found->second;
    const auto same = std::ranges::find(own.unfinished, first.sequence, &UnfinishedExchange::sequence);
    if (same == own.unfinished.end())
      (own.last < first.sequence ? elsewhere : completed).push_back(rank);
    else if (same->name != first.name || (is_reduction(operation_word(first.name)) && same->bytes != first.bytes))
      return fmt::format(", but rank {} called {}{}: ranks must call the same", rank, same->name, size_text(*same));
    else if (same->started)
      (*same->started ? started : waiting).push_back(rank);
  }
  if (!elsewhere.empty()) return fmt::format(", which {} never called: see what it did instead", text_of(elsewhere));
  if (!completed.empty()) return fmt::format(", which {} completed: the others lag behind", text_of(completed));
  if (absent > 0) return fmt::format("; give the dumps of all {} ranks", members.size());
  if (waiting.empty()) return started.empty() ? "" : ", which all ranks started: check their network (NCCL_DEBUG=INFO)";
  return fmt::format(", which {} started: see what the GPU ran before",
                     started.empty() ? "no rank" : text_of(waiting) + " never");
}

}  // namespace

std::string hang_of(const std::vector<Recording>& recordings) {
  std::set<int> ranks;
  std::set<std::tuple<std::string, std::int64_t, std::string>> exchanges;
  const std::pair<const std::string, RecordedGroup>* of = nullptr;
  const UnfinishedExchange* first = nullptr;
  for (const Recording& recording : recordings)
    for (const auto& group : recording.groups)
      for (const UnfinishedExchange& each : group.second.unfinished) {
        ranks.insert(recording.rank.value_or(0));
        // Ranks may call another exchange in the place of one.
        exchanges.insert({group.first, each.sequence, each.sequence > 0 ? "" : each.name});
        if (first != nullptr && first->launched <= each.launched) continue;
        of = &group;
        first = &each;
      }
  if (first == nullptr) return {};
  const bool numbered = first->sequence > 0;
  return fmt::format("{} of {} had not completed: {}{}{}{}{}{}.", counted(std::ssize(exchanges), "collective"),
                     counted(std::ssize(ranks), "rank"), exchanges.size() > 1 ? "the first is " : "", first->name,
                     numbered ? fmt::format(" {}", first->sequence) : "", of->first.empty() ? "" : " of " + of->first,
                     size_text(*first), numbered ? ranks_in(of->first, of->second.members, *first, recordings) : "");
}

}  // namespace hbench
