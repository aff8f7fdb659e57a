#include "bench/verbs/tune_options.hpp"

#include "bench/command/arguments.hpp"
#include "bench/command/labels.hpp"
#include "bench/output/terminal.hpp"

namespace hbench {

std::optional<TuneOptions> parse_tune_options(const Call& call) {
  TuneOptions options;
  Arguments app("Finds the fusion setting that is fastest for a workload, and says which differences are noise.",
                "hbench tune");
  app.footer(
      "Launches are independent and alternate between the settings. After each round the slower half is dropped. The "
      "last settings are compared by launches of their own: slower means slower by an exact rank test, corrected for "
      "the number of settings, and by at least 3 %.\n"
      "Examples:\n"
      "  hbench tune --workload resnet18 --ranks 2\n"
      "  hbench tune --workload resnet18 --ranks 2 --fusion horovod:64MiB:5ms,horovod:64MiB:5ms\n"
      "  hbench tune --workload vgg16 --profile aws-p3-25gbe --gpus 64 --fusion horovod,ddp,mg-wfbp");
  app.add_option("--workload", options.workload, "a model to train (default: resnet18), or a timeline to simulate");
  Option* ranks = app.add_option("--ranks", options.ranks, "workers on this machine", in_range(1, 1024));
  Option* profile = app.add_option("--profile", options.profile, "simulate on this cluster instead");
  profile->excludes(ranks);
  app.add_option("--gpus", options.gpus, "GPUs of the simulated cluster", in_range(1, 1'000'000))->needs(profile);
  app.add_option("--algorithm", options.algorithm, "hbench list algorithms");
  app.add_option("--compressor", options.compressor, "hbench list compressors");
  app.add_option("--fusion", options.fusion,
                 "policies, each tried with a grid of parameters, or settings to compare (comma list)");
  app.add_option("--budget", options.budget, "time for all launches");
  app.add_option("--batch", options.batch, "samples per GPU and step", in_range(1, 1'000'000));
  app.add_option("--image-size", options.image_size,
                 "image size of measured runs in pixels (default: 64 on CPU cores, 224 on GPUs)", in_range(1, 4096));
  app.add_option("--steps", options.steps, "timed steps per launch, at most", in_range(1, 1'000'000));
  app.add_option("--db", options.database, "results database that stores the launches of measured settings");
  add_labels(app, options.labels);
  app.add_flag("--json", options.json, "print the settings as JSON instead of a table");
  app.add_flag("--wide", options.wide, kWideHelp);
  add_verbosity(app, options.verbosity);
  if (app.parse(call)) return std::nullopt;
  if (options.workload.empty()) options.workload = options.simulated() ? "resnet50" : "resnet18";
  if (options.simulated() && options.gpus == 0) options.gpus = 16;
  return options;
}

}  // namespace hbench
