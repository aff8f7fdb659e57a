#pragma once

/// What a fit must not do, whatever it is fitted to.

#include <string>
#include <string_view>
#include <vector>

#include "analysis/fit/parameter_fit.hpp"
#include "collectives/network/profile.hpp"

namespace hbench {

/// The mean of the sizes of errors. \pre there is one.
double mean_size(const std::vector<double>& errors);

/// The logarithm of the largest factor that a figure of a profile may get: no NIC carries more than its stated line
/// rate, and nothing inside a node more than the GPUs' links. A figure that is assumed may be what it is assumed
/// within.
double most_factor(const Profile& profile, std::string_view key);

/// For the source of a fitted figure: `determined by it`, where `by` is "it".
std::string how_determined(const FittedParameter& parameter, std::string_view by);
/// `yes`; `roughly`, where it is only known that the figure was wrong; `hardly`, where it stays as it was; or that the
/// observations ask for more than is possible.
std::string determined_text(const FittedParameter& parameter);

/// \throws Error (usage) where a fitted model is off by more than `most` on average (a logarithm), or only by figures
/// that are far from what they were: they would be of no such machine, and nothing must be written. `what` was
/// measured.
void check_explained(const ParameterFit& fit, double most, std::string_view profile, std::string_view what);

}  // namespace hbench
