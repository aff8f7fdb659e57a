#pragma once

/// Both sides of `hbench track pair` in a database: two runs, in which launches with the same number are neighbours.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "analysis/store/store.hpp"
#include "bench/track/pair.hpp"

namespace hbench {

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
