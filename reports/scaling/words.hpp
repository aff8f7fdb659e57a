#pragma once

/// The words and figures of the report on scaling: one name for each thing, everywhere in it.

#include <optional>
#include <string>

#include "analysis/points/lead.hpp"
#include "analysis/records/words.hpp"
#include "reports/report.hpp"

namespace hbench {

class ScalingWords {
 public:
  explicit ScalingWords(const ReportInput& input);

  /// `VGG-16`; `ResNet-18 at 64x64` where the image size is a choice.
  std::string workload(const Case& asked) const;
  /// The one name of a place: the profile's, or `this machine`.
  std::string network_id(const Case& asked) const;
  /// `aws-p3-25gbe (AWS p3.16xlarge, 25 Gbit/s, V100)`: with the title without its counts of GPUs, and the GPU where
  /// the title does not name it. No GPU is named where the step was recorded on whatever else.
  std::string network(const Case& asked) const;
  /// `hkbu-10gbe (10 GbE)`.
  std::string network_with_rate(const Case& asked) const;
  /// Where a case runs: a network, or this machine's cores or GPUs.
  std::string place(const Case& asked) const;
  /// The strategy's label; with the number of servers where points differ in nothing else. A published
  /// one names its fusion policy without parameters, which sources seldom state.
  std::string strategy(const Case& asked) const;
  /// `ring`, `ring + int8`, `parameter servers`, or the preset.
  static std::string in_verdict(const Strategy& strategy);
  /// The same as one of two that are compared: `the best parameter servers`.
  static std::string way(const Strategy& strategy);
  /// `Ring is likely ahead of the best parameter servers: 1.1 (0.9 to 1.3) times as fast`: the one that is ahead comes
  /// first, `first` where they are level.
  static std::string who_is_ahead(const Lead& lead, const std::string& first, const std::string& second);
  static bool is_plural(const std::string& way) { return way.ends_with("servers"); }
  /// In tables: `ring`, `16 servers (sliced, dedicated)`.
  static std::string in_brief(const Strategy& strategy);
  /// `ring all-reduce`, `parameter servers`.
  static std::string family(const std::string& algorithm);
  /// `128 GPUs`; ranks where they ran on this machine.
  static std::string gpus(const Case& asked);

 private:
  std::string title(const Case& asked) const;

  const ReportInput& input_;
  bool label_servers_ = false;  ///< labels name the number of servers
};

/// Whether it ran here: its profile is no network's name.
bool on_this_machine(const Case& asked);

/// `1.4 to 2.3 times as fast`, or one figure where both read alike.
std::string times_as_fast(double least, double most);
/// `94.1 %`, or `-`.
std::string percent_cell(std::optional<double> fraction);
/// Whether launches differ so much that the interval goes beyond 1000 % of ideal speed: a figure would be noise.
bool tells_nothing(const Point& point);
/// `91.0 to 96.2 %`, or `-`.
std::string interval_cell(const Point& point);
/// `41.2 GB` on each GPU; `-` where it is not known.
std::string memory_cell(const Point& point);
/// Gradients that a rank has not seen: the mean, and the most.
std::string staleness_cell(const Point& point);
/// `196 MB (49 MB between nodes)`: what all send in a step, for each GPU.
std::string sent_cell(const Point& point);
/// Of a rate; `-` for 0, which is one that is not known.
std::string rate_cell(double samples_per_second);
/// `text`, or `-` where there is none.
std::string or_dash(const std::string& text);
/// A difference of efficiencies in percentage points: `+3.1`.
std::string signed_points(double fraction);
std::string unsigned_points(double fraction);

}  // namespace hbench
