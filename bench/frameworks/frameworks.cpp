#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "analysis/prediction/case_strategy.hpp"
#include "analysis/records/revision.hpp"
#include "bench/frameworks/framework.hpp"
#include "collectives/base/table.hpp"
#include "workloads/models/models.hpp"

namespace hbench {

extern const Framework kPytorchDdpFramework, kPytorchFsdpFramework, kDeepspeedFramework, kHorovodFramework,
    kTensorflowRingFramework, kTensorflowPsFramework;

namespace {

constexpr std::array<const Framework*, 6> kFrameworks{&kPytorchDdpFramework,     &kPytorchFsdpFramework,
                                                      &kDeepspeedFramework,      &kHorovodFramework,
                                                      &kTensorflowRingFramework, &kTensorflowPsFramework};

}  // namespace

std::span<const Framework* const> frameworks() { return kFrameworks; }

std::string FrameworkChoice::text() const {
  return setting == nullptr ? std::string(framework->name) : fmt::format("{}:{}", framework->name, setting->name);
}

std::string_view FrameworkChoice::method() const {
  return setting == nullptr || setting->method.empty() ? framework->method : setting->method;
}

FrameworkChoice parse_framework(std::string_view text) {
  const std::size_t colon = text.find(':');
  FrameworkChoice choice{&find_entry(frameworks(), text.substr(0, colon), "framework")};
  if (colon == text.npos) return choice;
  const std::span<const FrameworkSetting> known = choice.framework->settings;
  const std::string_view name = text.substr(colon + 1);
  if (known.empty())
    throw Error(ExitCode::usage, fmt::format("{} has no settings, and '{}' names one", choice.framework->name, text),
                fmt::format("--framework {}", choice.framework->name));
  choice.setting = &find_entry(known, name, "setting");
  return choice;
}

void set_framework(Case& asked, const FrameworkChoice& choice, const std::string& version) {
  TrainingStrategy strategy = strategy_of(find_entry(presets(), choice.framework->preset, "preset"), 1);
  strategy.method = parse_method(choice.method());
  if (strategy.method.goes_by_units()) strategy.fusion = parse_fusion("none");
  strategy.on_gpu = asked.training.on_gpu();
  if (!asked.training.precision.empty()) strategy.precision = parse_precision(asked.training.precision);
  write_strategy(asked, strategy);
  asked.strategy.framework = choice.text();
  asked.strategy.framework_version = version;
  asked.implementation = kFrameworkRevision;
  asked.source = fmt::format("this machine's {}, {} {}, synthetic images", strategy.on_gpu ? "GPUs" : "CPU cores",
                             asked.strategy.framework, version);
}

std::string refuse_framework(const Framework& framework, const Case& asked) {
  const auto model = std::ranges::find(models(), asked.workload, &ModelEntry::name);
  if (model == models().end() || (*model)->architecture == Architecture::lenet)
    return fmt::format("frameworks train torchvision's models, and {} is none", asked.workload);
  if (framework.refuses != nullptr)
    if (const std::string_view why = framework.refuses(**model); !why.empty()) return std::string(why);
  const TrainingTask& task = asked.training;
  if (task.on_gpu() && !framework.on_gpu)
    return fmt::format("{} trains on CPU cores so far; give --device cpu", framework.name);
  if (!task.precision.empty() && !(task.on_gpu() && (task.precision == "tf32" || task.precision == "bf16")))
    return task.on_gpu() ? "frameworks train in float32, tf32 or bf16 so far"
                         : "frameworks train in float32 on CPU cores";
  if (!asked.training.optimizer.empty()) return "frameworks train with plain SGD so far";
  if (asked.accumulate > 1) return "frameworks train without micro-batches so far";
  return "";
}

}  // namespace hbench
