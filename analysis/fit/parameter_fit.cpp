#include "analysis/fit/parameter_fit.hpp"

#include <algorithm>
#include <optional>

namespace hbench {
namespace {

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;

constexpr int kMostIterations = 20;
constexpr int kMostHalvings = 6;
/// Of a logarithm: differences that a queue's order does not hide.
constexpr double kDifference = 0.02;
constexpr double kLongestStep = 0.5;
constexpr double kSmallStep = 1e-3;
constexpr double kHuber = 2;
/// The number of standard deviations around the mean within which 90 % of a normal distribution are.
constexpr double kNinetyPercent = 1.645;

/// The inverse of a symmetric positive definite matrix, by Cholesky's decomposition.
Matrix inverse(const Matrix& a) {
  const std::size_t n = a.size();
  Matrix lower(n, Vector(n));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = a[i][j];
      for (std::size_t k = 0; k < j; ++k) sum -= lower[i][k] * lower[j][k];
      lower[i][j] = i == j ? std::sqrt(sum) : sum / lower[j][j];
    }
  Matrix result(n, Vector(n));
  for (std::size_t column = 0; column < n; ++column) {
    Vector x(n);
    for (std::size_t i = 0; i < n; ++i) {
      double sum = i == column ? 1 : 0;
      for (std::size_t k = 0; k < i; ++k) sum -= lower[i][k] * x[k];
      x[i] = sum / lower[i][i];
    }
    for (std::size_t i = n; i-- > 0;) {
      double sum = x[i];
      for (std::size_t k = i + 1; k < n; ++k) sum -= lower[k][i] * x[k];
      x[i] = sum / lower[i][i];
    }
    for (std::size_t i = 0; i < n; ++i) result[i][column] = x[i];
  }
  return result;
}

Vector times(const Matrix& a, const Vector& x) {
  Vector result(a.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < x.size(); ++j) result[i] += a[i][j] * x[j];
  return result;
}

double huber_weight(double error, double noise) {
  const double size = std::fabs(error) / noise;
  return size <= kHuber ? 1 : kHuber / size;
}

/// Half the square where it is small, the size beyond.
double huber_cost(double error, double noise) {
  const double size = std::fabs(error) / noise;
  return size <= kHuber ? size * size / 2 : kHuber * (size - kHuber / 2);
}

double cost(const std::vector<Prior>& priors, double noise, const Vector& x, const Vector& errors) {
  double sum = 0;
  for (const double error : errors) sum += huber_cost(error, noise);
  for (std::size_t p = 0; p < priors.size(); ++p) sum += x[p] * x[p] / (2 * priors[p].deviation * priors[p].deviation);
  return sum;
}

/// Both sides of the normal equations: curvature and slope.
struct Normal {
  Matrix curvature;
  Vector slope;
};

Normal prior_normal(const std::vector<Prior>& priors, const Vector& x) {
  Normal normal{Matrix(priors.size(), Vector(priors.size())), Vector(priors.size())};
  for (std::size_t p = 0; p < priors.size(); ++p) {
    const double weight = 1 / (priors[p].deviation * priors[p].deviation);
    normal.curvature[p][p] = weight;
    normal.slope[p] = weight * x[p];
  }
  return normal;
}

void add(Normal& normal, const Vector& gradient, double error, double weight) {
  for (std::size_t p = 0; p < gradient.size(); ++p) {
    normal.slope[p] += weight * gradient[p] * error;
    for (std::size_t q = 0; q < gradient.size(); ++q) normal.curvature[p][q] += weight * gradient[p] * gradient[q];
  }
}

Matrix gradients_at(const LogErrors& errors, const Vector& x, const Vector& here) {
  Matrix gradients(here.size(), Vector(x.size()));
  for (std::size_t p = 0; p < x.size(); ++p) {
    Vector beside = x;
    beside[p] += kDifference;
    const Vector there = errors(beside);
    for (std::size_t i = 0; i < here.size(); ++i) gradients[i][p] = (there[i] - here[i]) / kDifference;
  }
  return gradients;
}

double largest(const Vector& values) {
  double size = 0;
  for (const double value : values) size = std::max(size, std::fabs(value));
  return size;
}

/// How much larger the squares of the errors are than noise explains, for each observation that is left over.
double misfit(const ParameterFit& fit, double noise) {
  double sum = 0;
  for (std::size_t i = 0; i < fit.after.size(); ++i) sum += fit.weights[i] * fit.after[i] * fit.after[i];
  const auto left = static_cast<double>(fit.after.size()) - static_cast<double>(fit.priors.size());
  return sum / (noise * noise) / std::max(1.0, left);
}

}  // namespace

double FittedParameter::half_width() const { return kNinetyPercent * deviation; }
double FittedParameter::factor() const { return std::exp(half_width()); }

namespace {

/// As `fit_parameters`, from `x` on; `before` are the errors there.
ParameterFit fit_from(Vector x, const std::vector<Prior>& priors, double noise, const LogErrors& errors) {
  ParameterFit fit{.parameters = std::vector<FittedParameter>(priors.size()), .priors = priors, .noise = noise};
  fit.before = fit.after = errors(x);
  double lowest = cost(priors, noise, x, fit.after);
  Normal normal;
  for (int iteration = 0;; ++iteration) {
    fit.gradients = gradients_at(errors, x, fit.after);
    fit.weights.clear();
    normal = prior_normal(priors, x);
    for (std::size_t i = 0; i < fit.after.size(); ++i) {
      fit.weights.push_back(huber_weight(fit.after[i], noise));
      add(normal, fit.gradients[i], fit.after[i], fit.weights[i] / (noise * noise));
    }
    if (iteration == kMostIterations) break;
    Vector step = times(inverse(normal.curvature), normal.slope);
    const double scale = std::min(1.0, kLongestStep / std::max(largest(step), 1e-300));
    for (double& part : step) part *= -scale;
    bool lower = false;
    for (int halving = 0; halving < kMostHalvings && !lower && largest(step) > kSmallStep; ++halving) {
      Vector next = x;
      for (std::size_t p = 0; p < x.size(); ++p) next[p] += step[p];
      const Vector there = errors(next);
      const double height = cost(priors, noise, next, there);
      lower = height < lowest;
      if (lower) {
        x = next;
        fit.after = there;
        lowest = height;
      }
      for (double& part : step) part /= 2;
    }
    if (!lower) break;
  }
  const Matrix covariance = inverse(normal.curvature);
  const double scatter = std::sqrt(std::max(1.0, misfit(fit, noise)));
  for (std::size_t p = 0; p < priors.size(); ++p) {
    const double deviation = std::min(priors[p].deviation, scatter * std::sqrt(covariance[p][p]));
    fit.parameters[p] = {x[p], deviation, deviation < priors[p].deviation / 2};
  }
  return fit;
}

/// A fit of some of the parameters, while others are fixed.
class Fixing {
 public:
  Fixing(const std::vector<Prior>& priors, double noise, const LogErrors& errors)
      : priors_(priors), noise_(noise), errors_(errors), fixed_(priors.size()) {}

  ParameterFit fit() {
    ParameterFit fit = fit_free(Vector(priors_.size()));
    const Vector before = fit.before;
    std::vector<bool> asked_for(priors_.size());
    for (std::size_t p = hardly_determined(fit, asked_for); p < priors_.size(); p = hardly_determined(fit, asked_for)) {
      fixed_[p] = FittedParameter{0, fit.parameters[p].deviation};
      if (nothing_depends_on(p, fit)) {
        fit.parameters[p] = *fixed_[p];
        continue;
      }
      ParameterFit without = fit_free(factors_of(fit));
      // A likelihood that falls by less than this is no evidence against the figure as it was (95 %); where less noise
      // is left than was expected, less is evidence.
      constexpr double kEvidence = 1.92, kLeastScatter = 0.5;
      asked_for[p] = height(without) - height(fit) > kEvidence * std::max(kLeastScatter, misfit(fit, noise_));
      if (asked_for[p])
        fixed_[p].reset();
      else
        fit = std::move(without);
    }
    for (std::size_t p = 0; p < priors_.size(); ++p) {
      FittedParameter parameter = fit.parameters[p];
      if (fixed_[p] || parameter.log_factor <= priors_[p].most) continue;
      parameter.log_factor = priors_[p].most;
      parameter.limited = parameter.determined;
      fixed_[p] = parameter;
      fit = fit_free(factors_of(fit));
    }
    fit.before = before;
    return fit;
  }

 private:
  static Vector factors_of(const ParameterFit& fit) {
    Vector x;
    for (const FittedParameter& parameter : fit.parameters) x.push_back(parameter.log_factor);
    return x;
  }

  bool nothing_depends_on(std::size_t p, const ParameterFit& fit) const {
    constexpr double kAll = 0.95, kNone = 1e-3;
    return fit.parameters[p].deviation > kAll * priors_[p].deviation && std::fabs(fit.parameters[p].log_factor) < kNone;
  }

  /// Of all parameters, from `all` on; nothing depends on a fixed one any more.
  ParameterFit fit_free(Vector all) const {
    std::vector<std::size_t> indices;
    std::vector<Prior> priors;
    Vector start;
    for (std::size_t p = 0; p < priors_.size(); ++p) {
      if (fixed_[p]) {
        all[p] = fixed_[p]->log_factor;
        continue;
      }
      indices.push_back(p);
      priors.push_back(priors_[p]);
      start.push_back(all[p]);
    }
    ParameterFit fit = fit_from(std::move(start), priors, noise_, [&](std::span<const double> some) {
      for (std::size_t i = 0; i < some.size(); ++i) all[indices[i]] = some[i];
      return errors_(all);
    });
    std::vector<FittedParameter> parameters;
    for (const auto& fixed : fixed_) parameters.push_back(fixed.value_or(FittedParameter()));
    Matrix gradients(fit.after.size(), Vector(priors_.size()));
    for (std::size_t i = 0; i < indices.size(); ++i) {
      parameters[indices[i]] = fit.parameters[i];
      for (std::size_t k = 0; k < gradients.size(); ++k) gradients[k][indices[i]] = fit.gradients[k][i];
    }
    fit.parameters = std::move(parameters);
    fit.gradients = std::move(gradients);
    fit.priors = priors_;
    return fit;
  }

  /// The free parameter of which least is known; the number of parameters where all are determined or asked for.
  std::size_t hardly_determined(const ParameterFit& fit, const std::vector<bool>& asked_for) const {
    const auto share = [&](std::size_t p) { return fit.parameters[p].deviation / priors_[p].deviation; };
    std::size_t least = priors_.size();
    for (std::size_t p = 0; p < priors_.size(); ++p)
      if (!fixed_[p] && !asked_for[p] && !fit.parameters[p].determined &&
          (least == priors_.size() || share(p) > share(least)))
        least = p;
    return least;
  }

  double height(const ParameterFit& fit) const { return cost(priors_, noise_, factors_of(fit), fit.after); }

  const std::vector<Prior>& priors_;
  double noise_;
  const LogErrors& errors_;
  std::vector<std::optional<FittedParameter>> fixed_;
};

}  // namespace

ParameterFit fit_parameters(const std::vector<Prior>& priors, double noise, const LogErrors& errors) {
  return fit_from(Vector(priors.size()), priors, noise, errors);
}

ParameterFit fit_determined(const std::vector<Prior>& priors, double noise, const LogErrors& errors) {
  return Fixing(priors, noise, errors).fit();
}

std::vector<double> ParameterFit::left_out(const std::vector<std::string>& groups) const {
  Vector x;
  for (const FittedParameter& parameter : parameters) x.push_back(parameter.log_factor);
  std::vector<double> errors;
  for (std::size_t i = 0; i < after.size(); ++i) {
    Normal normal = prior_normal(priors, x);
    for (std::size_t other = 0; other < after.size(); ++other)
      if (groups[other] != groups[i]) add(normal, gradients[other], after[other], weights[other] / (noise * noise));
    const Vector step = times(inverse(normal.curvature), normal.slope);
    double error = after[i];
    for (std::size_t p = 0; p < x.size(); ++p) error -= gradients[i][p] * step[p];
    errors.push_back(error);
  }
  return errors;
}

}  // namespace hbench
