#pragma once

/// How often bands hold what they promise, of steps that were simulated and published; asked of sources, clusters and
/// frameworks that had no part in their width. Pure.

#include <string>
#include <vector>

#include "analysis/points/unknowns.hpp"

namespace hbench {

/// A simulated step beside a real one.
struct Residual {
  std::string source, cluster, framework;  ///< steps of one source, cluster or framework share their causes
  std::vector<Unknown> unknowns;           ///< of the simulated step
  double communication = 0;  ///< share of the simulated step during which a collective is in flight, hidden or not
  /// The logarithm of the real step over the simulated one. A real step counts as at least that of one GPU alone,
  /// because a faster one shows only that the baseline of its source was slow.
  double off = 0;
};
/// What steps share: `&Residual::source`.
using ResidualGroup = std::string Residual::*;

/// The number of times that the band must be as wide as its unknowns make it, to hold the step; at least 0.
double scale_needed(const Residual& residual);
/// Whether a band of that many times its width holds the step.
bool holds(const Residual& residual, double scale = 1);

/// Returns what a band from `low` to `high` is worth where the figure turned out to be `real`, in logarithms: its
/// width, and beside it 20 times how far the figure lies outside, as of a band that is to hold 90 %. Smaller is better:
/// a band that is made wider must win that back by what it holds. The interval score of Gneiting and Raftery, Strictly
/// proper scoring rules, prediction, and estimation, JASA 102 (2007), section 6.2. \pre all are positive
double interval_score(double low, double high, double real);

/// The least scale whose bands hold `kBandLevel` of the steps of the next group, which is as likely to be like any of
/// these: so groups count alike, however many steps each has, and of n groups bands hold `kBandLevel` (n + 1) / n. 0
/// where there are none.
double fit_scale(const std::vector<Residual>& residuals, ResidualGroup group);

/// Of each residual whether a band holds it that is as wide as the other groups ask for. \pre there are two groups.
std::vector<bool> held_elsewhere(const std::vector<Residual>& residuals, ResidualGroup group);

/// The least of `values`, one for each residual, that a share of all weight does not exceed: groups count alike. 0
/// where there are none.
double quantile_over(const std::vector<Residual>& residuals, ResidualGroup group, const std::vector<double>& values,
                     double share);
/// The weighted mean of `values`, one for each residual: groups count alike. \pre there are some.
double mean_over(const std::vector<Residual>& residuals, ResidualGroup group, const std::vector<double>& values);

}  // namespace hbench
