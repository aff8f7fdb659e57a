#pragma once

/// Fits a few named parameters of a model to observations, and says which of them the observations determine. Pure.
///
/// Parameters are factors of what a model states, on logarithms: 0 leaves it as it is. Each has a prior, a normal
/// distribution around 0, so that what no observation depends on stays where it was.

#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace hbench {

/// The usual deviation of a prior: a figure of a data sheet, of another machine, or of nothing in particular may be off
/// by a factor of 2.
inline const double kUnknown = std::log(2);

/// One parameter of the model.
struct Prior {
  std::string name;
  double deviation = 0;    ///< of the logarithm of its factor, before any observation; > 0
  double most = HUGE_VAL;  ///< the logarithm of the largest factor that is possible; at least 0
};

/// What is known of it afterwards.
struct FittedParameter {
  double log_factor = 0;
  double deviation = 0;  ///< of `log_factor`
  /// Whether the observations say more of it than the prior: its deviation is less than half of what it was.
  bool determined = false;
  bool limited = false;  ///< the observations ask for more than is possible

  /// `log_factor` lies within so much of its value with 90 %, as a normal distribution has it.
  double half_width() const;
  /// By which factor the parameter may be off at the ends of that range; at least 1.
  double factor() const;
};

/// Logarithms of prediction over observation, for these logarithms of the factors.
using LogErrors = std::function<std::vector<double>(std::span<const double> log_factors)>;

struct ParameterFit {
  std::vector<FittedParameter> parameters;  ///< in the order of the priors
  std::vector<double> before, after;        ///< errors with the factors at 1, and as fitted
  /// Of each observation the error with parameters fitted to those of all other groups: an estimate that takes the
  /// model as linear around the fit.
  std::vector<double> left_out(const std::vector<std::string>& groups) const;

  std::vector<Prior> priors;
  double noise = 0;
  std::vector<double> weights;                 ///< of the observations: less than 1 for outliers
  std::vector<std::vector<double>> gradients;  ///< of the errors after, by observation and parameter
};

/// Least squares of the errors, in units of `noise` (their deviation where the model is right), and of the factors, in
/// units of their priors: Gauss and Newton's method, with Huber's weights beyond two deviations (Huber, Ann. Math.
/// Statist. 35(1), 1964), so that one figure that something else has disturbed does not decide. Where errors remain
/// that noise does not explain, deviations grow with them, up to those of the priors. Calls `errors` about
/// (parameters + 2) times for each of up to 20 iterations. \pre noise > 0; there are priors and observations.
ParameterFit fit_parameters(const std::vector<Prior>& priors, double noise, const LogErrors& errors);

/// The same, but what the observations hardly determine stays where it was (its factor is 1), and no factor exceeds
/// what is possible: the others are fitted to the observations without it.
ParameterFit fit_determined(const std::vector<Prior>& priors, double noise, const LogErrors& errors);

}  // namespace hbench
