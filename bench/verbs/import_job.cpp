#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "analysis/jobs/job_format.hpp"
#include "bench/command/arguments.hpp"
#include "bench/command/verb.hpp"
#include "bench/doctor/available_memory.hpp"
#include "bench/launch/installation.hpp"
#include "bench/output/document_output.hpp"
#include "bench/output/output_file.hpp"
#include "reports/prediction/job.hpp"

namespace hbench {
namespace {

std::string formats_text() {
  std::string text = "Formats:\n";
  for (const JobFormat* format : job_formats()) text += fmt::format("  {:17} {}\n", format->name, format->summary);
  return text;
}

/// The name of the timeline whose tensors were asked for: a known one, or a file of the user's own.
std::string known_tensors(JobRequest& request, const Data& data) {
  request.known.push_back(data.traces.load(request.tensors));
  return request.known.back().name;
}

ExitCode run_import_job(const Call& call) {
  std::vector<std::string> files;
  std::string format, profile;
  std::filesystem::path workload;
  JobRequest request;
  DocumentOutput output;
  Arguments app(
      "Reads recordings of a training job, shows where its steps' time goes, and makes a workload of them that every "
      "other command takes. Each file is of one rank; one is enough.",
      "hbench import-job");
  app.footer(
      "Examples:\n  hbench import-job rank0.json.gz\n"
      "  hbench import-job rank0.json.gz rank1.json.gz --batch 32 --out my_job.toml\n"
      "  hbench import-job rank0.json.gz --json\n"
      "  hbench import-job rank0.json.gz --profile my-cluster.toml\n"
      "  hbench import-job nccl_trace_rank_0 nccl_trace_rank_1\n"
      "  hbench import-job inspector.log\n"
      "  hbench sweep --workload my_job.toml --profile my-cluster.toml --gpus 8..64 --evidence simulated\n" +
      formats_text());
  app.add_option("FILE", files, "recordings, each of one rank of the job");
  app.add_option("--out", workload, "the workload is written to this file, FILE.toml");
  app.add_option("--batch", request.batch, "samples that one rank takes per step")->check(in_range(1, 1'000'000));
  app.add_option("--ranks", request.ranks, "of the job, where the files do not say it")->check(in_range(1, 1'000'000));
  app.add_option("--title", request.title, "of the workload (default: the name of --out, or of a recording)");
  app.add_option("--group", request.group, "the ranks that exchange gradients, by the recorder's name of them");
  app.add_option("--tensors", request.tensors,
                 "the workload whose tensors these are, where the recording has no sizes");
  app.add_option("--profile", profile,
                 "the cluster where it ran, a name or FILE.toml: compare a prediction with what was measured");
  app.add_option("--from", format, "the format of all files (default: what each looks like)");
  output.add_options(app, "--page");
  if (app.parse(call)) return ExitCode::good;
  if (files.empty()) throw Error(ExitCode::usage, "no file to read", "hbench import-job trace.json.gz");
  output.check();
  if (!workload.empty()) {
    if (workload.extension() != ".toml")
      throw Error(ExitCode::usage, fmt::format("--out {}: a workload is a TOML file", workload.string()),
                  "end its name with .toml; the page of what was read is --page FILE.html");
    check_writable(workload, "--out");
    if (request.title.empty()) request.title = workload.stem().string();
  }
  std::vector<Recording> recordings;
  for (const std::string& file : files)
    std::ranges::move(read_recordings(file, format), std::back_inserter(recordings));
  const Data data = load_data();
  for (const std::string& name : data.traces.names()) request.known.push_back(data.traces.load(name));
  if (!request.tensors.empty()) request.tensors = known_tensors(request, data);
  const TrainingJob job = make_job(std::move(recordings), request);
  std::optional<PredictedJob> predicted;
  if (!profile.empty()) predicted = predict_as_recorded(job, data.profiles.load(profile), available_memory());
  if (!workload.empty() && !job.workload)
    throw Error(ExitCode::usage, fmt::format("{} holds too little for a workload", files.front()),
                job.unknown.empty() ? "record whole steps" : job.unknown.back());
  if (!workload.empty()) write_whole(workload, format_trace(*job.workload), "--out");
  output.deliver(job_document(job, workload.string(), predicted),
                 [&] { return job_json(job, workload.string(), predicted); });
  return ExitCode::good;
}

}  // namespace

extern const Verb kImportJob;
constinit const Verb kImportJob{
    .name = "import-job", .summary = "make a workload of a recorded training job", .run = run_import_job};

}  // namespace hbench
