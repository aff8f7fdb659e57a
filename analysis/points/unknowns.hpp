#pragma once

/// The named things that are not known of a simulated step, how far each may move it, and the band that they make
/// together. Pure.
///
/// Each has a prior: what published steps show of it, sources counting alike (`hbench validate` repeats it with whole
/// sources left out). Most make a step only slower: nothing that is unknown of an input pipeline makes a GPU faster.
///
/// Also how far simulated figures may be from real ones in what two of them do not share (`kModelError`).

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hbench {

enum class UnknownKind : std::uint8_t {
  network,
  servers,
  links,
  input,
  scale,
  framework,
  timeline,
  precision,
  compressor,
  call,
  hops,
  library,
  source
};
inline constexpr std::array kUnknownKinds{
    UnknownKind::network,   UnknownKind::servers,  UnknownKind::links,     UnknownKind::input,      UnknownKind::scale,
    UnknownKind::framework, UnknownKind::timeline, UnknownKind::precision, UnknownKind::compressor, UnknownKind::call,
    UnknownKind::hops,      UnknownKind::library,  UnknownKind::source};

/// Of a simulated step's samples: `unknown/input` is `Unknown::size` of that kind.
inline constexpr std::string_view kUnknownPrefix = "unknown/";

/// Returns `input`: how samples name it.
std::string_view name_of(UnknownKind kind);
/// Returns `whether input and hosts keep up with the GPUs of a node`: after "most of the band is".
std::string_view in_words(UnknownKind kind);
/// Returns the measurement that removes it.
std::string_view measurement_of(UnknownKind kind);

/// How far one thing that is not known may move a step, on logarithms, with 90 %; at least 0.
struct Unknown {
  UnknownKind kind = UnknownKind::source;
  double slower = 0, faster = 0;

  double size() const { return slower > faster ? slower : faster; }
};

/// A simulated step, as far as its unknowns depend on it. Seconds.
struct StepFacts {
  double step = 0;
  double better = 0, worse = 0;  ///< at the ends of what its profile and its preset leave open
  double hidden = 0;             ///< communication beside compute
  double exposed = 0;            ///< and what nothing hides
  int nodes = 1;
  int domains = 1;            ///< of nodes; the network is between these
  int gpus_of_node = 1;       ///< that train, of the fullest node
  double node_rate = 0;       ///< samples/s of these, if nothing held them back
  double tensors = 0;         ///< of the model
  double bytes = 0;           ///< of its gradients
  double recorded_error = 0;  ///< of a recorded job's timeline (`RecordedJob::error`)
  bool servers = false;
  bool switched_links = false;     ///< NVLink and the like join the GPUs of a node
  bool assumed_network = false;    ///< figures of the network or the links that nobody states
  bool framework_known = false;    ///< a preset
  bool computed_timeline = false;  ///< by a rule, not recorded
  bool mixed_precision = false;
  bool codes = false;            ///< a compressor that is more than a cast
  bool coding_measured = false;  ///< whose implementation was timed on these devices
  bool node_measured = false;    ///< the rate of one full node is known, and the step starts from it
};

/// What is not known of the step of more than one GPU; things that do not apply are left out.
std::vector<Unknown> unknowns_of(const StepFacts& facts);

/// The time of one collective by a model, and at the ends of each thing that its model does not know. Seconds.
struct CollectiveFacts {
  struct Ends {
    double better = 0, worse = 0;
  };
  double time = 0;
  Ends rates;  ///< what its profile leaves open, and `RatePrior`
  Ends hops;   ///< with latencies at the ends of `kHopPrior`
  Ends calls;  ///< with what a call costs at the ends of `kCallPrior`
  int nodes = 1;
};

/// What is not known of a collective that a model predicts.
std::vector<Unknown> unknowns_of(const CollectiveFacts& facts);

/// Returns what is left of the half-width of a step's band where another step of the same training was measured: half
/// of it, beside what equal runs differ by.
double left_by_step(double half_width);

/// The two ends of a band, as factors of the stated step: unknowns are independent, so their squares add up.
struct BandFactors {
  double low = 1, high = 1;
};
BandFactors band_of(const std::vector<Unknown>& unknowns, double scale = 1);

/// A figure with the band of its prediction.
struct Band {
  double low = 0, stated = 0, high = 0;
};

/// A figure and its band if one thing that is not known of it, and that its user knows, costs nothing.
struct Narrowed {
  UnknownKind kind = UnknownKind::source;
  Band band;

  /// Under which it costs nothing: `input keeps up`; empty where it is not for the user to know.
  std::string_view condition() const;
  /// Returns ` if input keeps up, else down to 38 %`: after the figure with its band; `end` is the far end with it.
  std::string in_words(std::string_view end) const;
  /// Returns how often a band of seconds is in `amount`: samples/s of a number of samples.
  Narrowed times_in(double amount) const {
    return {kind, {amount / band.high, amount / band.stated, amount / band.low}};
  }
};

/// The ends of a wide band are this many times apart, as 70 and 98 % are.
inline constexpr double kWideBand = 1.4;

/// The step of a schedule, of which unknowns make a band. Seconds.
struct ScheduledStep {
  double step = 0;
  double alone = 0;    ///< of one GPU for itself, which no band is below
  bool loses = false;  ///< its `expected_loss` is stated too

  Band band(const std::vector<Unknown>& unknowns) const;
  /// The same without the largest of them, where that is for the user to know and makes more than half of a wide band.
  /// \pre not empty
  std::optional<Narrowed> narrowed(std::vector<Unknown> unknowns) const;
};

/// By which factor a step on a real cluster is longer than its schedule, half of the time: nearly all unknowns make it
/// only slower, so the schedule is near the best of what may be.
double expected_loss(const std::vector<Unknown>& unknowns);

/// Returns `Unknown::size` of the one of this kind, 0 where there is none.
double size_of(const std::vector<Unknown>& unknowns, UnknownKind kind);

/// The one that makes most of the band. \pre not empty.
const Unknown& largest(const std::vector<Unknown>& unknowns);

/// Returns `Most of the width of bands is what the network carries (known by: ...)`, of the most bands, and the like of
/// the second most; empty where there are none.
std::string widest_in_words(const std::vector<UnknownKind>& widest);

/// What the rates of a network may be lower or higher by, beside what its profile says of it: relative. Nominal rates
/// of data sheets are reached by few.
struct RatePrior {
  double slower = 0, faster = 0;
};
inline constexpr RatePrior kSocketsPrior{.slower = 0.35, .faster = 0.15};
inline constexpr RatePrior kRdmaPrior{.slower = 0.25, .faster = 0.1};
inline constexpr RatePrior kSwitchedPrior{.slower = 0.15, .faster = 0.1};
inline constexpr RatePrior kBusPrior{.slower = 0.35, .faster = 0.15};

/// What a call of a collective may cost more or less than is stated, in seconds. Of 14 public curves the smallest
/// buffers took 0 to 45 us more than the kernel and its hops: one process that launches on 8 GPUs 35 us, PyTorch 30,
/// launches of one process for each GPU 5 to 15 (`collectives/network/accuracy.md` has the sources).
struct CallPrior {
  double slower = 0, faster = 0;
};
inline constexpr CallPrior kCallPrior{.slower = 30e-6, .faster = 15e-6};
/// By which factors the latency of a hop may be longer or shorter: plug-ins for a network take 18 to 75 us where NCCL
/// has 14 (its `tuning.cc`), and for 14 of them the same curves show 7 to 14.
struct HopPrior {
  double longer = 1, shorter = 1;
};
inline constexpr HopPrior kHopPrior{.longer = 3, .shorter = 2};

/// The share of real steps that a band of predictions promises to hold.
inline constexpr double kBandLevel = 0.9;

/// The model's own error of a pair of steps on one cluster, which share what is not known of it; half a width on
/// logarithms: sqrt(compute^2 + (exposed * share)^2). What disturbs compute counts in every step of several GPUs;
/// errors of the exchange count as far as nothing hides it.
struct ModelError {
  double compute = 0;
  double exposed = 0;

  /// Of a step with this share of `StepEnds::exposed`.
  double half_width(double share) const { return std::hypot(compute, exposed * share); }
};

/// Published pairs tell it: with it nine of ten pairs of all-reduces are held (`hbench validate`, the classes of
/// pairs).
inline constexpr ModelError kModelError{.compute = 0.1, .exposed = 0.1};

/// What a pair of all-reduce and parameter servers has apart beyond that, for a step that is all exposed: servers are
/// other programs, with a rate, messages and threads of their own. The ratios of Horovod's rings and distributed
/// TensorFlow's servers are 0.21 from the predicted ones (0.43 at most), those of Horovod and BytePS 0.08 (0.31); with
/// it nine of ten are held, both sources counting alike. None of it is the two models of the network, which agree on
/// equal messages (`tests/collectives/network_models_test.cpp`).
inline constexpr double kServersApart = 0.3;

/// How far one collective may be off, on logarithms, beyond the other things that are not known of it: where a model
/// says how long it takes, because the library may choose another algorithm or protocol; and where a measured curve of
/// the cluster does, which another run of the same machines repeats no better. `hbench validate` repeats both. A choice
/// matters as far as hops and calls do: of a time that its bytes make, `kRateBoundError` is left. Of the curves' sizes
/// from 1 GiB on 99 % lie in the band, each source left out in turn, which is 1.7 wide (2.25 with 0.35 for all sizes).
inline constexpr double kCollectiveError = 0.35;
inline constexpr double kRateBoundError = 0.1;
inline constexpr double kCurveError = 0.2;

}  // namespace hbench
