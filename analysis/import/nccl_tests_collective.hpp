#pragma once

/// Which collective a table of nccl-tests is of. Pure.

#include <optional>
#include <string>
#include <string_view>

#include "analysis/import/nccl_tests_output.hpp"
#include "collectives/algorithms/algorithm.hpp"

namespace hbench {

/// One of nccl-tests' programs, and what its rows show.
struct NcclTest {
  enum class Factor : std::uint8_t { twice_share, share, one };

  std::string_view name;               ///< `all_reduce`
  std::optional<CollectiveKind> kind;  ///< none where hbench has no such collective
  Factor factor;                       ///< of busbw to algbw; the share is (ranks - 1) / ranks
  bool counts_share;                   ///< its count is of what one rank gives or gets
  std::optional<bool> reduces;         ///< none: it prints an operation, and has none
  bool has_root;
  bool checks_in_place = true;

  double bus_factor(int ranks) const;
};

/// The test of a program or of a collective by any spelling (`all_reduce_perf`, `AllReduce`); null for others.
const NcclTest* find_nccl_test(std::string_view name);

struct IdentifiedTest {
  const NcclTest* test = nullptr;  ///< null where it is not known, or hbench has no such collective
  std::string why, hint;           ///< then: why
};

/// The test by the program's name, else by the collective that the user gives, else by what the rows leave possible:
/// the factor of their bus bandwidth, operation, root, count, and whether data in place were checked.
IdentifiedTest identify(const NcclTestsOutput& output, int ranks, std::string_view collective);

/// \throws Error (usage) with the row's place where size / time is not its algbw.
void check_row(const NcclTestsRow& row);
/// \throws Error (usage) with the row's place where busbw / algbw is not the test's factor for these ranks.
void check_bus_factor(const NcclTestsRow& row, const NcclTest& test, int ranks);

}  // namespace hbench
