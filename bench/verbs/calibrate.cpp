#include <fmt/format.h>

#include "bench/arguments.hpp"
#include "bench/environment.hpp"
#include "bench/output_file.hpp"
#include "collectives/base/units_text.hpp"
#include "workloads/trace.hpp"
#include "workloads/training.hpp"

namespace hbench {
namespace {

ExitCode run_calibrate(const Call& call) {
  std::string model = "resnet18";
  std::filesystem::path file;
  int batch = 16, image_size = 64, steps = 10, threads = 1;
  CLI::App app("Records when each gradient of a real training step becomes ready, as a timeline to simulate anywhere.",
               "hbench calibrate");
  app.footer(
      "Example:\n  hbench calibrate --model resnet18 --batch 16 --out resnet18-here.toml\n"
      "  hbench sweep --gpus 1..64 --workload ./resnet18-here.toml --profile hkbu-10gbe --evidence simulated");
  app.add_option("--model", model, "a model (hbench list models)")->capture_default_str();
  app.add_option("--batch", batch, "samples per step")->check(CLI::Range(1, 100'000))->capture_default_str();
  app.add_option("--image-size", image_size, "pixels, square")->check(CLI::Range(1, 4096))->capture_default_str();
  app.add_option("--steps", steps, "steps to take the median of")->check(CLI::Range(1, 100'000))->capture_default_str();
  app.add_option("--threads", threads, "of LibTorch")->check(CLI::Range(1, 1024))->capture_default_str();
  app.add_option("--out", file, "file to write (default: MODEL.toml)");
  if (parse_arguments(app, call)) return ExitCode::good;
  if (file.empty()) file = model + ".toml";
  Trace trace;
  trace.name = file.stem().string();
  trace.title = fmt::format("{} at {} x {}", model, image_size, image_size);
  trace.source = fmt::format("recorded by hbench calibrate: median of {} steps, batch {}, {} thread{} of {}", steps,
                             batch, threads, threads == 1 ? "" : "s", environment_facts().at("cpu"));
  trace.timeline = record_timeline(
      {.model = model, .batch = batch, .image_size = image_size, .steps = steps, .threads = threads});
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
