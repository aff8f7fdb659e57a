#pragma once

/// A delay that makes one rank slow on purpose, to test what finds slow ranks: `HBENCH_TEST_DELAY=RANK:TIME`.

#include <string>
#include <string_view>

#include "collectives/base/units.hpp"

namespace hbench {

/// Equal on all ranks of a job.
struct TestDelay {
  Rank rank = -1;  ///< who is delayed; -1: nobody
  Seconds time;    ///< in each backward pass, or in each iteration of a collective

  bool is_set() const { return rank >= 0; }
  /// Returns whether it is set for one of `ranks` ranks.
  bool is_among(int ranks) const { return is_set() && rank < ranks; }
  /// Sleeps where `own` is the rank that is delayed.
  void sleep(Rank own) const;
  /// `1:5 ms`; empty where nobody is delayed.
  std::string text() const;
  friend bool operator==(const TestDelay&, const TestDelay&) = default;
};

/// Of `1:5ms`: a rank from 0 and a time above 0 of at most a minute. Empty text: nobody is delayed. \throws Error
/// (usage) for anything else.
TestDelay parse_test_delay(std::string_view text);

}  // namespace hbench
