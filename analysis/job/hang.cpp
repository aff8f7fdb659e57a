#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "analysis/job/job_parts.hpp"
#include "analysis/job/text_source.hpp"
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

/// The whereabouts of the recorded ranks of a group, as seen from one of its exchanges.
struct Whereabouts {
  std::vector<int> elsewhere, cut_off, completed, waiting, started;
  std::ptrdiff_t absent = 0;  ///< ranks that no recording is of
  std::string another;        ///< one called something else: which, in words
};

Whereabouts whereabouts_of(const std::string& group, const std::vector<int>& members, const UnfinishedExchange& first,
                           const std::vector<Recording>& recordings) {
  Whereabouts where{.absent = std::ssize(members), .another = {}};
  for (const Recording& recording : recordings) {
    const int rank = recording.rank.value_or(-1);
    if (std::ranges::find(members, rank) == members.end()) continue;
    --where.absent;
    const auto found = recording.groups.find(group);
    const RecordedGroup own = found == recording.groups.end() ? RecordedGroup{} : found->second;
    const auto same = std::ranges::find(own.unfinished, first.sequence, &UnfinishedExchange::sequence);
    if (same == own.unfinished.end())
      (own.last >= first.sequence ? where.completed
       : recording.complete       ? where.elsewhere
                                  : where.cut_off)
          .push_back(rank);
    else if (same->name != first.name || (is_reduction(operation_word(first.name)) && same->bytes != first.bytes))
      where.another = fmt::format("rank {} called {}{}", rank, same->name, size_text(*same));
    else if (same->started)
      (*same->started ? where.started : where.waiting).push_back(rank);
  }
  return where;
}

/// Says what the ranks of a group do in the place of an exchange, and where to look.
std::string in_words(const Whereabouts& where, std::size_t members) {
  if (!where.another.empty()) return fmt::format(", but {}: ranks must call the same", where.another);
  if (!where.elsewhere.empty())
    return fmt::format(", which {} never called: see what it did instead", text_of(where.elsewhere));
  if (!where.completed.empty())
    return fmt::format(", which {} completed: the others lag behind", text_of(where.completed));
  if (const bool one = where.cut_off.size() == 1; !where.cut_off.empty())
    return fmt::format("; the dump{} of {} {} cut off: give {} whole", one ? "" : "s", text_of(where.cut_off),
                       one ? "is" : "are", one ? "it" : "them");
  if (where.absent > 0) return fmt::format("; give the dumps of all {} ranks", members);
  if (where.waiting.empty())
    return where.started.empty() ? "" : ", which all ranks started: check their network (NCCL_DEBUG=INFO)";
  return fmt::format(", which {} started: see what the GPU ran before",
                     where.started.empty() ? "no rank" : text_of(where.waiting) + " never");
}

/// The least time that an exchange had waited: until the newest event of any rank. A dump has no time of its own.
Seconds waited(const UnfinishedExchange& first, const std::vector<Recording>& recordings) {
  const std::int64_t newest = std::ranges::max_element(recordings, {}, &Recording::newest)->newest;
  if (first.launched <= 0 || newest <= first.launched) return Seconds(0);
  return Seconds(static_cast<double>(newest - first.launched) * 1e-9);
}

/// The slowest step of all ranks; 0: not known.
Seconds slowest_step(const std::vector<Recording>& recordings) {
  Seconds slowest;
  for (const Recording& recording : recordings)
    for (const RecordedStep& step : recording.steps) slowest = std::max(slowest, step.time);
  return slowest;
}

}  // namespace

UnfinishedWork unfinished_work(const std::vector<Recording>& recordings) {
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
  // A running job, whose ranks are not dumped at one time, has some on their way too. One that hangs has as little that
  // is newer, since its ranks stop: what a rank has completed in the place of the first speaks for a running one.
  constexpr double kFewSteps = 5;
  constexpr const char* kTellsThem = "A later dump with the same ones would be one of a hang.";
  const Seconds wait = waited(*first, recordings);
  const bool young = wait < kFewSteps * slowest_step(recordings);
  const bool numbered = first->sequence > 0;
  const Whereabouts where =
      numbered ? whereabouts_of(of->first, of->second.members, *first, recordings) : Whereabouts{.another = {}};
  const bool on_its_way = young && !where.completed.empty();
  const std::string text =
      fmt::format("{} of {} had not completed{}: {}{}{}{}{}{}.", counted(std::ssize(exchanges), "collective"),
                  counted(std::ssize(ranks), "rank"),
                  on_its_way        ? " yet when dumped"
                  : wait.value >= 1 ? fmt::format(" after {:.0f} s", wait.value)
                                    : "",
                  exchanges.size() > 1 ? "the first is " : "", first->name,
                  numbered ? fmt::format(" {}", first->sequence) : "", of->first.empty() ? "" : " of " + of->first,
                  size_text(*first), numbered ? in_words(where, of->second.members.size()) : "");
  if (on_its_way) return {.hang = {}, .note = fmt::format("{} {}", text, kTellsThem)};
  return {.hang = text,
          .note = young ? fmt::format("A running job has exchanges on their way too, and the newest event is {:.1f} ms "
                                      "after the first of these was launched. {}",
                                      wait.value * 1e3, kTellsThem)
                        : ""};
}

}  // namespace hbench
