#pragma once

/// What the model of a cluster and of a framework is made of, so that each can be taken out: how much worse predictions
/// are without it is what it is good for (`hbench validate --without`). Pure.

#include <span>
#include <string_view>

#include "analysis/records/records.hpp"
#include "collectives/network/profile.hpp"

namespace hbench {

/// One entry of the family.
struct Cause {
  std::string_view name;
  std::string_view summary;
  /// Takes it out of a cluster, and out of what is asked; null where it is no part of that.
  void (*remove_from_cluster)(Profile& profile) = nullptr;
  void (*remove_from_case)(Case& asked) = nullptr;
};

/// The table, in the order of `tests/ablation`.
std::span<const Cause> causes();
/// \throws Error (usage) with a suggestion when there is none.
const Cause& find_cause(std::string_view name);

}  // namespace hbench
