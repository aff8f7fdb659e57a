#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "analysis/job/job_format.hpp"
#include "bench/command/common_options.hpp"
#include "bench/launch/host.hpp"
#include "bench/launch/installation.hpp"
#include "bench/output/document_output.hpp"
#include "bench/output/feature.hpp"
#include "collectives/algorithms/algorithm.hpp"
#include "reports/job/job.hpp"

namespace hbench {
namespace {

/// The name of the timeline whose tensors were asked for: a known one, or a file of the user's own.
std::string known_tensors(JobRequest& request, const Data& data) {
  request.known.push_back(data.traces.load(request.tensors));
  return request.known.back().name;
}

ExitCode run_import_job(const Call& call) {
  std::vector<std::string> files;
  std::string format, profile;
  JobRequest request;
  DocumentOutput output;
  Arguments app(
      "Reads recordings of a training job, shows where its steps' time goes, and makes a workload of them that every "
      "other command takes. Each file is of one rank; one is enough.",
      "hbench import-job");
  app.footer(
      "Examples:\n  hbench import-job rank0.json.gz\n"
      "  hbench import-job rank0.json.gz rank1.json.gz --batch 32 --out my_job.toml\n"
      "  hbench import-job rank0.json.gz --json\n  hbench import-job rank0.json.gz --out page.html\n"
      "  hbench import-job rank0.json.gz --profile my-cluster.toml\n"
      "  hbench import-job nccl_trace_rank_0 nccl_trace_rank_1\n"
      "  hbench import-job inspector.log\n"
      "  hbench sweep --workload my_job.toml --profile my-cluster.toml --gpus 8..64 --evidence simulated\nFormats:\n" +
      format_lines(job_formats()));
  app.add_option("FILE", files, "recordings, each of one rank of the job");
  add_batch(app, request.batch, "samples that one rank takes per step");
  app.add_option("--ranks", request.ranks, "of the job, where the files do not say it", in_range(1, kMillion));
  app.add_option("--group", request.group, "the ranks that exchange gradients, by the recorder's name of them");
  app.add_option("--tensors", request.tensors,
                 "the workload whose tensors these are, where the recording has no sizes");
  add_profile(app, profile,
              "the cluster where it ran, a name or FILE.toml: compare a prediction with what was measured");
  add_file_format(app, format);
  output.add_options(app, "--out", "the job as a workload");
  if (app.parse(call)) return ExitCode::good;
  if (files.empty()) throw Error(ExitCode::usage, "no file to read", "hbench import-job trace.json.gz");
  const std::filesystem::path workload = output.take_toml();
  output.check();
  if (!workload.empty()) {
    check_writable(workload, "--out");
    request.title = workload.stem().string();
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

constexpr Verb kImportJob{
    .name = "import-job", .summary = "make a workload of a recorded training job", .place = 8, .run = run_import_job};
constexpr std::array kJobVerbs{&kImportJob};
constexpr std::array kJobSchemas{
    PublishedSchema{"import-job-1", [] { return job_json({}, "", {}, Form::schema); }},
};

}  // namespace

extern const Feature kJobFeature;
constinit const Feature kJobFeature{.verbs = kJobVerbs, .schemas = kJobSchemas};

}  // namespace hbench
