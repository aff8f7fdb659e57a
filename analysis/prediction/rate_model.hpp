#pragma once

/// How fast one GPU trains a workload: what was measured, and elsewhere FLOPs, peaks and memory rates. Pure.
///
/// The least time that a GPU needs for a training step, by the sample.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/network/profile.hpp"
#include "workloads/step/trace.hpp"

namespace hbench {

/// The least time in which a GPU could train on one sample: its matrix products at the peak, after which memory moves
/// what they and the layers between them read and write. Absent where the GPU does not have the precision, or its peak
/// or memory rate is not known.
std::optional<Seconds> least_time(const Profile& gpu, const WorkloadCost& cost, std::string_view precision);

/// How models of a kind use GPUs, as `hbench validate rates` repeats it from what was measured.
struct UsualUse {
  double efficiency = 0;      ///< `least_step_time` over the real one, median of workloads
  double known_factor = 1;    ///< 90 % of rates lie within it that others' of the same workload predict
  double unknown_factor = 1;  ///< the same where nobody measured the workload
};
const UsualUse& usual_use(WorkloadKind kind);

/// The precision in which a workload is trained where nobody says one: 16 bits for transformers, as far as the GPU has
/// them, and for convolutions what PyTorch does by itself (TF32, else float32).
std::string usual_precision(const Profile& gpu, WorkloadKind kind);

/// The measured rates of a workload on a GPU that tell how GPUs compare: with this software, of each precision that of
/// the largest batch, because small ones do not fill a GPU.
std::vector<const GpuRate*> telling_rates(const Profile& gpu, std::string_view workload, std::string_view software);

/// Stands for `usual_precision` where rates of different GPUs are compared.
inline constexpr const char* kUsualPrecision = "usual";
/// Returns whether somebody asks for this precision by name.
inline bool names_precision(std::string_view precision) { return !precision.empty() && precision != kUsualPrecision; }

/// What is measured on GPUs, and what it says of others.
class RateModel {
 public:
  /// `gpus` as of `ProfileLibrary::gpus`.
  explicit RateModel(std::vector<Profile> gpus) : gpus_(std::move(gpus)) {}

  /// The rate to take for `trace` on the GPUs of `cluster`: one that is stated in that precision, else a modelled one;
  /// without one where too little is known. \param precision empty: the usual one, and before a model any that is
  /// stated.
  std::optional<GpuRate> rate(const Profile& cluster, const Trace& trace, std::string_view precision = {}) const;

  /// The rate by the model alone: the efficiency that the same workload (measured with the same software) reaches on
  /// other GPUs, those of the same family where there are any, else that of its kind (of other software: none). \param
  /// without names a family, such as `hopper`, of which nothing is used.
  std::optional<GpuRate> modelled(const Profile& gpu, const Trace& trace, std::string_view precision,
                                  std::string_view software = {}, std::string_view without = {}) const;

  const std::vector<Profile>& gpus() const { return gpus_; }

 private:
  std::vector<Profile> gpus_;
};

/// `hopper` of `h100-sxm`; of a GPU that has no family in the catalogue its own name.
std::string_view family_of(const Profile& gpu);

/// Puts the rate of `RateModel::rate` into the rates of `cluster`, or takes out what is there for another precision. A
/// trace that was recorded on such GPUs keeps its own speed where the cluster states none.
void take_rate(Profile& cluster, const Trace& trace, const RateModel& model, std::string_view precision = {});

/// Whether the name that a driver has for a GPU, such as `NVIDIA A100-SXM4-40GB`, is that of a GPU of the catalogue,
/// such as `a100` or `h100-sxm`. Sizes of memory do not count; `sxm` and `pcie` do, where both say it.
bool is_gpu_of_catalogue(std::string_view driver_name, std::string_view gpu);

/// Whether a timeline was recorded on a GPU like those of a cluster: then its own speed is theirs.
bool is_recorded_on(const Trace& trace, const Profile& cluster);

/// `least_time`, and the sample's share of what memory moves once in a step of `batch` samples: the parameters, for
/// both passes, their gradients and the optimizer. Absent where that is. \pre the cost of `trace` is known, `batch` >
/// 0.
std::optional<Seconds> least_step_time(const Profile& gpu, const Trace& trace, int batch, std::string_view precision);

/// The most samples/s that a GPU's arithmetic allows: its peak over the FLOPs that the model needs, of which nothing is
/// computed twice, and of a decoder's attention only what its causal mask leaves. 0: not known, or the GPU does not
/// have the precision.
double most_samples(const Profile& gpu, const Trace& trace, std::string_view precision);

}  // namespace hbench
