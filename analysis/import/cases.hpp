#pragma once

/// The cases of one imported output, as they are found. Pure.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/import/format.hpp"
#include "analysis/records/records.hpp"
#include "collectives/algorithms/algorithm.hpp"

namespace hbench {

/// What was measured where the program ran, and nothing more said.
Case imported_case(std::string_view implementation);
/// A benchmark by its own name. On one rank, unless the program says otherwise.
Case imported_benchmark(std::string_view implementation, std::string name);
/// A collective that another program has timed by its library's own implementation (`vendor`), on ranks that the caller
/// knows. Types and operations get hbench's names where it has them (`float`: `float32`), else they are kept; an
/// empty operation is none.
Case collective_case(std::string_view program, CollectiveKind kind, std::int64_t bytes, std::string_view type,
                     std::string_view operation);

class ImportedCases {
 public:
  /// Adds values of launch 0 to the case; each is a further iteration of its metric, whether or not the case was there.
  void add(const Case& asked, std::string_view metric, std::span<const double> values, std::string_view unit);
  /// The case failed, whatever it has said before and says later: it keeps no samples.
  void fail(const Case& asked, std::string reason, int exit_code);

  bool empty() const { return results_.empty(); }
  std::vector<CaseResult> take();

 private:
  CaseResult& result_of(const Case& asked);

  std::vector<CaseResult> results_;
  std::map<std::string, std::size_t> by_key_;                      ///< of each case, its index
  std::map<std::pair<std::string, std::string>, int> iterations_;  ///< of each key and metric, how many there are
};

/// The tests of one file, in their order, as one run; a test that has a case of that run again, or was measured on
/// another machine, begins a later one. \pre there is a test.
ImportedOutput merged(std::vector<ImportedOutput> tests);

}  // namespace hbench
