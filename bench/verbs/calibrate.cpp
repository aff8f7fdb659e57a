#include <fmt/format.h>

#include "bench/arguments.hpp"
#include "bench/environment.hpp"
#include "bench/measured_place.hpp"
#include "bench/output_file.hpp"
#include "collectives/base/units_text.hpp"
#include "workloads/trace.hpp"
#include "workloads/training.hpp"

namespace hbench {
namespace {

/// What was asked for; 0 and empty where nothing was.
struct Asked {
  std::string model, device, precision;
  std::filesystem::path file;
  int batch = 0, image_size = 0, steps = 10, threads = 1;
};

std::optional<Asked> parse(const Call& call) {
  Asked asked;
  CLI::App app("Records when each gradient of a real training step becomes ready, as a timeline to simulate anywhere.",
               "hbench calibrate");
  app.footer(
      "Examples:\n  hbench calibrate --model resnet18 --batch 16 --out resnet18-here.toml\n"
      "  hbench sweep --gpus 1..64 --workload ./resnet18-here.toml --profile hkbu-10gbe --evidence simulated\n"
      "  hbench calibrate --device gpu --model resnet50 --batch 256 --precision bf16");
  app.add_option("--model", asked.model, "a model (hbench list models); without it resnet18, on a GPU resnet50");
  app.add_option("--batch", asked.batch, "samples per step; without it 16, on a GPU 64")->check(CLI::Range(1, 100'000));
  app.add_option("--image-size", asked.image_size, "pixels, square; without it 64, on a GPU 224")
      ->check(CLI::Range(1, 4096));
  app.add_option("--steps", asked.steps, "steps to take the median of")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  app.add_option("--threads", asked.threads, "of LibTorch")->check(CLI::Range(1, 1024))->capture_default_str();
  app.add_option("--device", asked.device, "cpu or gpu; without it a GPU where LibTorch can use one")
      ->check(CLI::IsMember({"cpu", "gpu"}));
  app.add_option("--precision", asked.precision,
                 "float32, tf32, bf16, fp16; without it float32 on CPU cores, tf32 on GPUs");
  app.add_option("--out", asked.file, "file to write (default: MODEL.toml)");
  return parse_arguments(app, call) ? std::nullopt : std::optional(asked);
}

RecordingRequest request_for(const Asked& asked) {
  const bool on_gpu = asked.device.empty() ? gpu_training_availability().available : asked.device == "gpu";
  const StepDefaults& defaults = step_defaults(on_gpu);
  return {.model = asked.model.empty() ? defaults.model : asked.model,
          .batch = asked.batch > 0 ? asked.batch : defaults.batch,
          .image_size = asked.image_size > 0 ? asked.image_size : defaults.image_size,
          .steps = asked.steps,
          .threads = asked.threads,
          .on_gpu = on_gpu,
          .precision = asked.precision.empty() ? defaults.precision : parse_precision(asked.precision)};
}

Trace record(const RecordingRequest& request, const std::string& name) {
  Trace trace;
  trace.name = name;
  trace.title = fmt::format("{} at {} x {}", request.model, request.image_size, request.image_size);
  trace.source =
      fmt::format("recorded by hbench calibrate: median of {} steps, batch {}, {}, {}", request.steps, request.batch,
                  entry_of(request.precision).name,
                  request.on_gpu ? "the first GPU"
                                 : fmt::format("{} thread{} of {}", request.threads, request.threads == 1 ? "" : "s",
                                               environment_facts(false).at("cpu")));
  trace.timeline = record_timeline(request);
  return trace;
}

ExitCode run_calibrate(const Call& call) {
  const std::optional<Asked> asked = parse(call);
  if (!asked) return ExitCode::good;
  const RecordingRequest request = request_for(*asked);
  const auto file = asked->file.empty() ? std::filesystem::path(std::string(request.model) + ".toml") : asked->file;
  const Trace trace = record(request, file.stem().string());
  write_whole(file, format_trace(trace), "--out");
  std::int64_t elements = 0;
  for (const GradientEvent& gradient : trace.timeline.gradients) elements += gradient.elements;
  fmt::print("{}: {} tensors, {} of gradients, forward {}, backward {}, {:.1f} samples/s\nWrote {}\n", trace.title,
             trace.timeline.gradients.size(), format(Bytes(4.0 * static_cast<double>(elements))),
             format(trace.timeline.forward), format(trace.timeline.backward), trace.timeline.samples_per_second(),
             file.string());
  return ExitCode::good;
}

}  // namespace

extern const Verb kCalibrate;
constinit const Verb kCalibrate{
    .name = "calibrate", .summary = "record a training step of this machine as a timeline", .run = run_calibrate};

}  // namespace hbench
