#include "analysis/job/job_format.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "analysis/import/format.hpp"
#include "analysis/job/text_source.hpp"
#include "collectives/base/table.hpp"
#include "collectives/base/text.hpp"

namespace hbench {

extern const JobFormat kFlightRecorderFormat;
extern const JobFormat kHorovodFormat;
extern const JobFormat kKinetoFormat;
extern const JobFormat kMegatronFormat;
extern const JobFormat kNcclInspectorFormat;

namespace {

/// A log may hold anything, so it comes last.
constexpr std::array kFormats{&kKinetoFormat, &kFlightRecorderFormat, &kNcclInspectorFormat, &kHorovodFormat,
                              &kMegatronFormat};

/// What people have of other programs, by a part of its name or of its text.
struct OtherFile {
  std::string_view name, text;  ///< empty: any
  std::string_view is;
};
constexpr OtherFile kOthers[] = {
    {".nsys-rep", "", "a report of Nsight Systems"},
    {".ncu-rep", "", "a report of Nsight Compute"},
    {".et", "", "an execution trace of Chakra: it has no steps"},
    {"", "-chakra.", "an execution trace of PyTorch: it has sizes and no times"},
    {"tfevents", "", "a log of TensorBoard"},
    {".xplane.pb", "", "a profile of TensorFlow or JAX"},
    {".pftrace", "", "a trace of Perfetto"},
    {"", "SQLite format 3", "a database of SQLite, such as Nsight Systems exports"},
    {"", "speedscope", "a profile of samples (speedscope)"},
    {"", "\"device_traces\"", "a snapshot of PyTorch's memory"},
    {"", "_microstep:", "a log of DeepSpeed: it has times of whole passes, and of no single gradient or exchange"},
    {"", "RunningAvgSamplesPerSec", "a log of DeepSpeed: it has samples/s, and neither gradients nor exchanges"},
    {"", "nccl_bus_bandwidth_gbs", "what NCCL Inspector writes for Prometheus: means, and no single exchange"},
    {"", "Self CPU %", "a table of torch.profiler (key_averages): sums, and no step; export_chrome_trace writes steps"},
    {"", "Total Time (ns)", "statistics of Nsight Systems: sums, and no step"},
    {"", "DeepSpeed Flops Profiler", "a profile of DeepSpeed's FLOPs: it has neither gradients nor exchanges"},
    {"", "train_step_timing", "a log of NeMo: it has times of whole steps, and neither gradients nor exchanges"},
};

/// What has to be unpacked first, by what stands at a place of it.
struct Packed {
  std::size_t place;
  std::string_view mark, is, command;
};
constexpr Packed kPacked[] = {
    {257, "ustar", "an archive (tar)", "tar xf"},
    {0, "PK\3\4", "an archive (zip)", "unzip"},
    {0, "\x1f\x8b", "packed twice (gzip)", "gunzip"},
    {0, "\x28\xb5\x2f\xfd", "packed (zstd)", "zstd -d"},
    {0, "\xff\xfe", "text in UTF-16", "iconv -f utf-16 -t utf-8 -o trace.json"},
};

constexpr std::size_t kHeadBytes = 1 << 16;

std::string head_of(const std::string& file_name) {
  TextSource source(file_name);
  std::string head;
  for (int byte = source.take(); byte >= 0 && head.size() < kHeadBytes; byte = source.take())
    head.push_back(static_cast<char>(byte));
  return head;
}

/// Says what hbench can do with a file that is no recording of a job.
std::string way_out(const std::string& file_name, const std::string& head) {
  for (const ImportFormat* format : import_formats())
    // Any log may have lines of JSON.
    if (format != import_formats().back() && format->recognises(head))
      return fmt::format("it is a benchmark's output ({}): hbench import {}", format->name, shell_word(file_name));
  const bool log = head.find('\0') == head.npos && head.find('\n') != head.npos && head.find("\"ph\"") == head.npos;
  return log ? "record some steps with torch.profiler, or follow a number of it: hbench track init --pattern REGEX"
             : "record some steps with torch.profiler, or exchanges alone with NCCL Inspector";
}

const JobFormat& format_of(const std::string& file_name) {
  const std::string head = head_of(file_name);
  if (head.find_first_not_of(" \t\r\n") == std::string::npos)
    throw Error(ExitCode::usage, fmt::format("{}: it is empty", file_name), "did the program that wrote it fail?");
  for (const JobFormat* format : job_formats())
    if (format->recognises(head)) return *format;
  for (const Packed& packed : kPacked)
    if (head.size() > packed.place && std::string_view(head).substr(packed.place).starts_with(packed.mark))
      throw Error(ExitCode::usage, fmt::format("{}: it is {}", file_name, packed.is),
                  fmt::format("unpack it first: {} {}", packed.command, shell_word(file_name)));
  for (const OtherFile& other : kOthers)
    if (file_name.find(other.name) != std::string::npos && head.find(other.text) != std::string::npos)
      throw Error(ExitCode::usage, fmt::format("{}: it is {}", file_name, other.is), way_out(file_name, head));
  throw Error(
      ExitCode::usage, fmt::format("{}: no recording of a training job has this format", file_name),
      fmt::format("{}; known are {} (--as)", way_out(file_name, head), fmt::join(names_of(job_formats()), ", ")));
}

}  // namespace

std::span<const JobFormat* const> job_formats() { return kFormats; }

const JobFormat& find_job_format(std::string_view name) {
  return find_entry(job_formats(), name, "format of recordings");
}

std::vector<Recording> read_recordings(const std::string& file_name, std::string_view format) {
  const JobFormat& chosen = format.empty() ? format_of(file_name) : find_job_format(format);
  std::vector<Recording> recordings = chosen.read(file_name);
  for (Recording& recording : recordings) {
    recording.format = chosen.name;
    recording.advice = chosen.advice;
  }
  return recordings;
}

}  // namespace hbench
