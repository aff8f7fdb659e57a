#pragma once

#include <vector>

#include "collectives/base/lanes.hpp"
#include "workloads/methods/method.hpp"

namespace hbench {

/// An iteration of a method as pictures with titles: where it divides the model, its stages, and then what each replica
/// does.
std::vector<Lanes> drawn(const MethodChoice& method);

}  // namespace hbench
