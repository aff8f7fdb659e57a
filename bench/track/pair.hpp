#pragma once

/// `hbench track pair`: two sides that take turns, launch by launch, and which cases of the head are slower.
///
/// One launch of either side comes first and does not count: it fills caches and tells which cases there are. Then
/// pairs follow, A B, B A, A B ... A pair of which one launch fails is launched again. Where a regression is seen after
/// the pairs that decide, further pairs confirm it or do not. Cases of equal questions are held to each other; one that
/// only a side has, to the other side's only case of the same work on as many GPUs (another algorithm, say). Knows no
/// processes: `PairHooks` launch.
///
/// Both sides of `hbench track pair` in a database: two runs, in which launches with the same number are neighbours.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "analysis/store/store.hpp"
#include "analysis/track/check.hpp"
#include "analysis/track/paired.hpp"
#include "bench/track/measured_command.hpp"

namespace hbench {

struct PairRequest {
  MeasuredCommand base{.name = "--base"}, head{.name = "--head"};
  std::string metric;     ///< only cases with this in their names; empty: all
  int launches = 0;       ///< pairs that decide; 0: `default_pairs`
  int most_launches = 0;  ///< pairs in all; 0: twice as many
  PairRule rule;          ///< its `pairs` are those that `launches` comes to
  bool fail_on_inconclusive = false;
};

/// \throws Error (usage) for a side without a command, and for too few pairs in all.
void check_request(const PairRequest& request);

/// The two launches of one pair.
struct PairLaunches {
  CommandLaunch base, head;
};

struct PairHooks {
  std::function<CommandLaunch(const MeasuredCommand& command)> launch;
  /// The cases that are compared are known, and so is how many pairs will be launched at most.
  std::function<void(std::size_t cases, const PairRule& rule, int most)> begins;
  /// A pair is complete; the first has the number 0.
  std::function<void(int number, const PairLaunches& pair)> keep;
  std::function<void(const std::string& what)> note;  ///< a line for people
  std::function<bool()> interrupted;                  ///< asked after each launch
};

/// Two launches of one side may fail; then nothing else is launched, and its cases say why.
inline constexpr int kMostFailedLaunches = 2;

/// What there is when it was interrupted. The report's runs are left to the caller. \throws Error where the first
/// launch of a side fails, and (usage) where no case has the metric.
TrackReport measure_pairs(const PairRequest& request, const PairHooks& hooks);

/// Stores pairs as they are completed, so that nothing is lost when it is cut off. The runs begin with the first pair.
class PairStore {
 public:
  /// Nothing is stored where `file` is empty. \throws Error as `Store`.
  PairStore(const std::filesystem::path& file, const Run& base, const Run& head);

  /// \throws Error (environment).
  void keep(int number, const PairLaunches& pair);

  /// With their numbers in the database once the first pair is stored.
  const Run& base() const { return base_.run; }
  const Run& head() const { return head_.run; }

 private:
  struct Side {
    Run run;
    std::map<std::string, std::int64_t> cases = {};  ///< by question: where it is stored
  };
  void keep(Side& side, int number, const CommandLaunch& launch);

  std::optional<Store> store_;
  Side base_, head_;
};

/// The run of a side (`base` or `head`): `pair` is a UUID that both sides share; both are labels.
Run run_of_side(Run run, const std::string& side, const std::string& pair);

}  // namespace hbench
