#pragma once

/// The words and figures of the report on scaling: one name for each thing, everywhere in it.

#include <map>
#include <optional>
#include <string>

#include "reports/report.hpp"

namespace hbench {

class ScalingWords {
 public:
  explicit ScalingWords(const ReportInput& input);

  /// `VGG-16`; `ResNet-18 at 64x64` where the image size is a choice.
  std::string workload(const Case& asked) const;
  /// `AWS p3.16xlarge, 25 Gbit/s, V100`: the title without its counts of GPUs, unless two titles then are the same, and
  /// the GPU where the title does not name it. `this machine` for `local`.
  std::string network(const std::string& profile) const;
  /// Where a case runs, in brief: a network, or this machine's cores or GPUs.
  std::string place(const Case& asked) const;
  /// `AWS p3.16xlarge (V100)`: its first part where that says enough, and the GPU. For legends.
  std::string network_in_brief(const std::string& profile) const;
  /// `AWS p3.16xlarge (25 Gbit/s, V100)`.
  std::string network_in_a_sentence(const std::string& profile) const;
  /// The strategy's label; with the number of servers where points differ in nothing else. A published
  /// one names its fusion policy without parameters, which sources seldom state.
  std::string strategy(const Case& asked) const;
  /// For sentences: `ring all-reduce`, `16 dedicated parameter servers that hold slices of tensors and fp16 gradients`.
  static std::string in_a_sentence(const Strategy& strategy);
  /// For a second mention: `ring`, `16 servers (sliced, dedicated)`.
  static std::string in_brief(const Strategy& strategy);
  /// `ring all-reduce`, `parameter servers`.
  static std::string family(const std::string& algorithm);
  /// `128 GPUs`; ranks where they ran on this machine.
  static std::string gpus(const Case& asked);

 private:
  struct Network {
    std::string title;  ///< without counts of GPUs where that is enough
    std::string gpu;    ///< empty where the title names it, or nobody does
    std::string full() const;
    std::string brief() const;
  };
  const Network* find(const std::string& profile) const;
  static std::map<std::string, Network> networks_of(const ReportInput& input);

  const ReportInput& input_;
  std::map<std::string, Network> networks_;  ///< by profile, of those that occur
  bool label_servers_ = false;               ///< labels name the number of servers
};

/// Whether it ran here: its profile is no network's name.
bool on_this_machine(const Case& asked);

/// `78 %`, with a no-break space; below 1 % with a decimal.
std::string whole_percent(double fraction);
/// `94.1 %`, or `-`.
std::string percent_cell(std::optional<double> fraction);
/// `91.0 to 96.2 %`, or `-`.
std::string interval_cell(const Point& point);
/// Of a rate; `-` for 0, which is one that is not known.
std::string rate_cell(double samples_per_second);
/// `text`, or `-` where there is none.
std::string or_dash(const std::string& text);
/// A difference of efficiencies in percentage points: `+3.1`.
std::string signed_points(double fraction);
std::string unsigned_points(double fraction);

}  // namespace hbench
