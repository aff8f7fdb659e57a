#pragma once

/// Collectives, or a training, that somebody measured, beside what their cluster lets expect: whether they are normal,
/// what a slow collective looks like, and where the time of a slow training may have gone.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/points/unknowns.hpp"
#include "analysis/prediction/data.hpp"
#include "analysis/prediction/request.hpp"
#include "analysis/records/records.hpp"
#include "collectives/network/profile.hpp"
#include "collectives/network/stop.hpp"

namespace hbench {

/// Where a measured time lies: in the 90 % band, above it, below it, below what the links or the GPUs' arithmetic allow
/// at all, which a wrong unit, count of ranks or profile explains, or in a band that is too wide to judge it: as much
/// as twice the time of a cluster that is well is in it too.
enum class Normality : std::uint8_t { pass, slow, fast, error, inconclusive };
/// Its name above: one word.
std::string_view to_string(Normality normality);

/// One collective of one size. Times in seconds.
struct ExpectedSize {
  Case asked;                      ///< the question that the model was asked
  std::optional<double> measured;  ///< the sooner of in place and out of place; none where only the model was asked
  double expected = 0, low = 0, high = 0;
  double floor = 0;   ///< in which the bytes pass the NICs or links at their line rate, once
  std::string basis;  ///< a `TimeBasis` in words

  Normality normality() const;  ///< \pre it was measured
  /// Returns whether it is in the half of the band, on logarithms, next to what is expected. \pre it was measured
  bool is_usual() const { return *measured * *measured < expected * high; }
  double ratio() const { return *measured / expected; }
};

/// What may be wrong on a cluster, as a profile of the cluster on which it is.
struct Suspicion {
  std::string_view what;
  std::string_view check;  ///< the measurement that shows it
  double expected = 0;     ///< seconds of the largest slow size, if it is that
  double off = 0;          ///< mean |ln| of measured / expected over these sizes, if it is that
};

struct Expectation {
  std::string profile;
  std::vector<ExpectedSize> sizes;    ///< the smallest first
  std::vector<Suspicion> suspicions;  ///< those that explain the sizes in doubt, best first
  std::vector<std::string> failures;  ///< why collectives have failed, such as wrong data, of which no time counts
  std::vector<std::string> notes;     ///< what failed or was left out and why, and where curves are from; in sentences

  /// Of all sizes: error or slow where any is, else that of the largest, in which the rates of links show. None
  /// where nothing was measured.
  std::optional<Normality> normality() const;
};

/// Of results of collectives, of which those without a time are asked for alone. A result that does not say on how many
/// nodes it ran is taken to fill those of the profile. `gpu` is what a driver calls the GPU that it ran on, empty where
/// nobody says. \throws Error (usage) where nothing can be compared, (wrong_data) where that is because all have
/// failed.
Expectation expect(std::span<const CaseResult> results, std::string_view gpu, const Profile& profile,
                   std::int64_t memory, const StopRequested& stop);

/// What would make the training as slow as it was measured.
struct TrainingSuspicion {
  std::string what;
  std::string check;    ///< the measurement that shows it
  double expected = 0;  ///< samples/s of all GPUs, if it is that
  double off = 0;       ///< |ln| of measured / expected, if it is that
  bool fitted = false;  ///< a figure of it was chosen so that it explains what was measured, so that it always does
};

/// Rates in samples/s of all GPUs together.
struct TrainingExpectation {
  Case asked;
  double measured = 0;
  double expected = 0, low = 0, high = 0;  ///< with the 90 % band of GPUs at all rates that theirs may be
  double alone = 0;                        ///< of GPUs that each train for themselves
  /// Of GPUs whose arithmetic is at its peak, in the precision that is asked for, else in any (`most_samples`); 0: not
  /// known.
  double peak = 0;
  double communication = 0;  ///< share of the expected step with a collective in flight
  bool modelled = false;     ///< nobody measured the rate of one GPU: it is the rate model's
  /// `SimulatedStep::narrowed` of these rates; none where that of one GPU may be another.
  std::optional<Narrowed> narrowed = {};
  std::string_view widest;       ///< what most of the band is: after "most of the band is"
  std::string_view narrowed_by;  ///< the measurement that removes it
  /// First what has no fitted figure, best first; of two GPUs, the rate of one that was taken for both is last. Empty
  /// where it is about as expected.
  std::vector<TrainingSuspicion> suspicions;

  Normality normality() const;
  /// As `ExpectedSize::is_usual`.
  bool is_usual() const { return measured * measured > expected * low; }
};

/// Of the one strategy on one cluster and GPU count that `request` asks for. \throws Error (usage) where it asks for
/// several or cannot be simulated, (interrupted).
TrainingExpectation expect_training(const PredictionRequest& request, double samples_per_second, const Data& data,
                                    const SimulationMeans& means);

}  // namespace hbench
