#pragma once

/// The family of frameworks that `hbench sweep --framework` measures: other programs' data-parallel training, launched
/// in turn with hbench's own cases. A rank is a script of `ranks/`, which speaks the worker's protocol; what the
/// simulator knows of a framework is its preset.

#include <span>
#include <string>
#include <string_view>

#include "analysis/prediction/case_strategy.hpp"
#include "workloads/models/models.hpp"

namespace hbench {

/// One way to run a framework beside its default, such as an option that its manual recommends.
struct FrameworkSetting {
  std::string_view name;
  std::string_view summary;
  /// A variable for its ranks, and its value; empty where the script reads the setting's name itself.
  std::string_view variable = {}, value = {};
  std::string_view method = {};  ///< of its training; empty: the framework's
};

/// One entry of the family.
struct Framework {
  std::string_view name;
  std::string_view summary;
  std::string_view script;  ///< in `share/hbench/frameworks`
  /// The line that installs it, for a shell: packages of Debian, or a virtual environment, which it adds to
  /// HBENCH_PYTHON of that shell.
  std::string_view install;
  std::string_view preset;                  ///< the framework as the simulator sees it
  std::string_view method = "synchronous";  ///< of its training, as `--method` has it
  std::span<const FrameworkSetting> settings = {};
  /// Whether its ranks train on GPUs as well, each on one of its own.
  bool on_gpu = false;
  /// Parameter servers, each a process beside those of the workers.
  int servers = 0;
  /// Why it does not train a model that others train; null: it trains all of torchvision's.
  std::string_view (*refuses)(const ModelEntry& model) = nullptr;
};

/// The table, in the order in which `hbench list frameworks` prints it.
std::span<const Framework* const> frameworks();

/// A framework with one of its settings.
struct FrameworkChoice {
  const Framework* framework = nullptr;
  const FrameworkSetting* setting = nullptr;  ///< null: its default

  /// `pytorch-ddp`, `pytorch-ddp:bucket-view`: what `parse_framework` reads.
  std::string text() const;
  /// Of its training, as `--method` has it.
  std::string_view method() const;
};
/// \throws Error (usage), with a suggestion.
FrameworkChoice parse_framework(std::string_view text);

/// Plans a case that a framework of this version trains, as its preset says. `asked` has all else.
PlannedCase planned_by(const FrameworkChoice& choice, const std::string& version, const Case& asked);

/// Why a framework does not train such a case; empty where it does. What all of them lack: so far they train
/// with plain SGD, and those models that torchvision has.
std::string refuse_framework(const Framework& framework, const Case& asked);

}  // namespace hbench
