#include "workloads/step/trace.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "collectives/base/table.hpp"
#include "collectives/base/text.hpp"
#include "collectives/base/toml_reader.hpp"
#include "collectives/base/units_text.hpp"
#include "collectives/fusion/fusion.hpp"
#include "workloads/models/own_model.hpp"

namespace hbench {
namespace {

constexpr std::string_view kHelp = "workloads/traces/README.md documents the format; `hbench calibrate` writes one";

// Beyond these, sums of bytes and nanoseconds of time would be lost.
constexpr std::int64_t kMostElements = 1'000'000'000'000;
constexpr Seconds kMostTime(3600);
constexpr std::array<std::string_view, 13> kKeys{"state_bytes", "format",   "title",  "source",    "batch",
                                                 "forward",     "backward", "update", "gradients", "buckets",
                                                 "recorded",    "shape",    "cost"};
constexpr std::array<std::string_view, 3> kCostKeys{"kind", "flops", "activations"};
constexpr std::array<std::string_view, 5> kRecordedKeys{"gpu", "ranks", "step", "replayed", "overlap"};

std::string read_text(const TomlReader& read, const toml::table& table, std::string_view key,
                      std::string_view otherwise = "must be text") {
  const toml::node& node = read.required(table, key);
  const auto text = node.value_exact<std::string>();
  if (!text) read.fail(node, fmt::format("'{}' {}", key, otherwise));
  return *text;
}

Seconds read_time(const TomlReader& read, const toml::table& table, std::string_view key) {
  const std::string text = read_text(read, table, key, "has no unit; write it as text, such as \"64.8 ms\"");
  const toml::node& node = read.required(table, key);
  const Seconds time = read.at(
      node, [&] { return parse_seconds(text); }, fmt::format("{}: ", key));
  if (time.value < 0 || time > kMostTime) read.fail(node, fmt::format("'{}' must lie between 0 and 1 hour", key));
  return time;
}

GradientEvent read_gradient(const TomlReader& read, const toml::node& node, Seconds earliest, Seconds latest) {
  constexpr std::string_view kForm = "a gradient is [\"tensor\", elements, ready in microseconds]";
  const toml::array& row = read.array(node, 3, kForm);
  const auto name = row[0].value_exact<std::string>();
  const auto elements = row[1].value_exact<std::int64_t>();
  const auto ready = row[2].value<double>();
  if (!name || !elements || !ready || row.size() > 3) read.fail(node, kForm);
  if (name->empty()) read.fail(node, "a tensor has no name");
  if (*elements < 1 || *elements > kMostElements)
    read.fail(node, fmt::format("'{}' has {} elements", *name, *elements));
  const Seconds at(*ready * 1e-6);
  if (!(at.value >= 0)) read.fail(node, fmt::format("'{}' is ready before the backward pass", *name));
  if (at < earliest) read.fail(node, fmt::format("'{}' is ready before the gradient above it", *name));
  // Half a nanosecond: times are written rounded.
  if (at.value > latest.value + 5e-10) read.fail(node, fmt::format("'{}' is ready after the backward pass", *name));
  return {*name, *elements, std::min(at, latest)};
}

std::vector<int> read_buckets(const TomlReader& read, const toml::node& node, std::size_t gradients) {
  std::vector<int> buckets;
  std::size_t sum = 0;
  for (const toml::node& each : read.array(node, 1, "'buckets' must list how many gradients each bucket has")) {
    buckets.push_back(read.whole(each, 1, 1'000'000, "a bucket has a whole number of gradients, at least 1"));
    sum += static_cast<std::size_t>(buckets.back());
  }
  if (sum != gradients) read.fail(node, fmt::format("the buckets have {} gradients, and there are {}", sum, gradients));
  return buckets;
}

RecordedJob read_recorded(const TomlReader& read, const toml::node& node) {
  const toml::table& table = read.table(node, "'recorded' must be a section [recorded]");
  read.check_keys(table, kRecordedKeys, "recorded.");
  RecordedJob job{.gpu = {}, .step = read_time(read, table, "step"), .replayed = {}};
  if (job.step.value <= 0) read.fail(*table.get("step"), "a step must take time");
  if (table.contains("gpu")) job.gpu = read_text(read, table, "gpu");
  if (const toml::node* ranks = table.get("ranks"))
    job.ranks = read.whole(*ranks, 1, 1'000'000, "'ranks' must be a whole number of at least 1");
  if (table.contains("replayed")) job.replayed = read_time(read, table, "replayed");
  if (const toml::node* overlap = table.get("overlap")) {
    const auto value = overlap->value<bool>();
    if (!value) read.fail(*overlap, "'overlap' is true or false: whether gradients left during the backward pass");
    job.overlap = *value;
  }
  return job;
}

WorkloadCost read_cost(const TomlReader& read, const toml::node& node) {
  const toml::table& table = read.table(node, "'cost' must be { kind = ..., flops = ..., activations = ... }");
  read.check_keys(table, kCostKeys, "cost.");
  const toml::node& kind = read.required(table, "kind", "cost.");
  const auto number = [&](std::string_view key) {
    return read.number(read.required(table, key, "cost."), 1, 1e24, fmt::format("cost.{} must be at least 1", key));
  };
  return {
      .kind = read.at(kind, [&] { return parse_workload_kind(read.text(kind, "cost.kind must be text")); }),
      .flops = number("flops"),
      .activations = number("activations"),
  };
}

/// What is known of a sample's cost: the numbers of a transformer, or the cost itself.
void read_costs(const TomlReader& read, const toml::table& table, Trace& trace) {
  if (const toml::node* cost = table.get("cost")) trace.cost = read_cost(read, *cost);
  const toml::node* node = table.get("shape");
  if (node == nullptr) return;
  if (trace.cost) read.fail(*node, "'shape' and 'cost' both say what a sample costs", "leave one of them out");
  trace.shape = read.at(
      *node, [&] { return parse_transformer(read.text(*node, "'shape' must be text")); }, "shape: ");
  trace.cost = trace.shape->cost();
}

std::string cost_text(const Trace& trace) {
  if (trace.shape) return fmt::format("shape = {}\n", toml_text(format_transformer(*trace.shape)));
  if (!trace.cost) return {};
  return fmt::format("cost = {{ kind = {}, flops = {}, activations = {} }}\n", toml_text(to_string(trace.cost->kind)),
                     trace.cost->flops, trace.cost->activations);
}

std::string recorded_text(const RecordedJob& job) {
  std::string text =
      fmt::format("\n# The job in which it was recorded.\n[recorded]\nstep = \"{:.3f} us\"\n", job.step.value * 1e6);
  if (job.replayed.value > 0) text += fmt::format("replayed = \"{:.3f} us\"\n", job.replayed.value * 1e6);
  if (!job.gpu.empty()) text += fmt::format("gpu = {}\n", toml_text(job.gpu));
  if (job.ranks > 0) text += fmt::format("ranks = {}\n", job.ranks);
  if (!job.overlap) text += "overlap = false\n";
  return text;
}

}  // namespace

double RecordedJob::error() const { return replayed.value > 0 ? std::abs(std::log(replayed / step)) : 0; }

double Trace::elements() const { return static_cast<double>(timeline.all_elements()); }

Bytes Trace::state() const { return Bytes(elements() * state_bytes); }

std::string Trace::recorded_fusion() const {
  return buckets.empty() ? std::string() : parse_fusion(fmt::format("recorded:{}", fmt::join(buckets, "-"))).text();
}

Trace parse_trace(std::string_view text, std::string_view file_name) {
  const toml::table table = parse_toml(text, file_name);
  const TomlReader read(file_name, {}, kHelp);
  read.check_keys(table, kKeys);
  const toml::node& format = read.required(table, "format");
  if (format.value<std::int64_t>() != 1) read.fail(format, "this hbench reads traces of format 1");
  Trace trace{.name = std::filesystem::path(file_name).stem().string(),
              .title = read_text(read, table, "title"),
              .source = read_text(read, table, "source"),
              .timeline = {}};
  trace.timeline.batch =
      read.whole(read.required(table, "batch"), 1, 1'000'000, "'batch' must be a whole number of at least 1");
  trace.timeline.forward = read_time(read, table, "forward");
  trace.timeline.backward = read_time(read, table, "backward");
  if (table.contains("update")) trace.timeline.update = read_time(read, table, "update");
  if (trace.timeline.passes().value <= 0) read.fail(read.required(table, "backward"), "a step must take time");
  Seconds last(0);
  std::set<std::string, std::less<>> names;
  for (const toml::node& node : read.array(read.required(table, "gradients"), 1, "'gradients' must list the tensors")) {
    trace.timeline.gradients.push_back(read_gradient(read, node, last, trace.timeline.backward));
    const GradientEvent& gradient = trace.timeline.gradients.back();
    last = gradient.ready;
    if (!names.insert(gradient.tensor).second) read.fail(node, fmt::format("'{}' is listed twice", gradient.tensor));
  }
  if (const toml::node* bytes = table.get("state_bytes"))
    trace.state_bytes = read.number(*bytes, 1, 64, "'state_bytes' must be a number of bytes from 1 to 64");
  if (const toml::node* buckets = table.get("buckets"))
    trace.buckets = read_buckets(read, *buckets, trace.timeline.gradients.size());
  read_costs(read, table, trace);
  if (const toml::node* recorded = table.get("recorded")) trace.recorded = read_recorded(read, *recorded);
  return trace;
}

std::string format_trace(const Trace& trace) {
  std::string out = fmt::format(
      "format = 1\ntitle = {}\nsource = {}\nbatch = {}\nforward = \"{:.3f} us\"\nbackward = \"{:.3f} us\"\n",
      toml_text(trace.title), toml_text(trace.source), trace.timeline.batch, trace.timeline.forward.value * 1e6,
      trace.timeline.backward.value * 1e6);
  if (trace.timeline.update.value > 0)
    out += fmt::format("update = \"{:.3f} us\"\n", trace.timeline.update.value * 1e6);
  if (trace.state_bytes != Trace().state_bytes) out += fmt::format("state_bytes = {:g}\n", trace.state_bytes);
  out += cost_text(trace);
  if (!trace.buckets.empty())
    out +=
        fmt::format("\n# Gradients that travelled together when it was recorded: --fusion recorded\nbuckets = [{}]\n",
                    fmt::join(trace.buckets, ", "));
  out +=
      "\n# In the order in which gradients become ready: tensor, elements, microseconds since the backward pass "
      "began.\ngradients = [\n";
  for (const GradientEvent& gradient : trace.timeline.gradients)
    out +=
        fmt::format("  [{}, {}, {:.3f}],\n", toml_text(gradient.tensor), gradient.elements, gradient.ready.value * 1e6);
  return out + "]\n" + (trace.recorded ? recorded_text(*trace.recorded) : "");
}

void TraceLibrary::add(Trace trace) {
  std::string name = trace.name;
  added_.insert_or_assign(std::move(name), std::move(trace));
}

bool TraceLibrary::has(std::string_view name) const {
  return added_.contains(name) || std::ranges::find(files_.names(), name) != files_.names().end() ||
         is_transformer(name) || find_published_shape(name) != nullptr;
}

Trace TraceLibrary::load(std::string_view name_or_file) const {
  if (const auto added = added_.find(name_or_file); added != added_.end()) return added->second;
  if (is_model_file(name_or_file)) throw no_timeline(name_or_file);
  if (is_transformer(name_or_file) || find_published_shape(name_or_file) != nullptr)
    return computed_trace(name_or_file);
  if (!is_file_name(name_or_file) && !has(name_or_file)) throw unknown(name_or_file);
  const NamedText file = files_.read(name_or_file);
  return parse_trace(file.text, file.file_name);
}

Error TraceLibrary::unknown(std::string_view name, std::span<const std::string> others) const {
  constexpr std::array<std::string_view, 5> kSparse{"dlrm", "dcn", "deepfm", "wide-deep", "wide_deep"};
  const auto is_this = [lower = lower_case(std::string(name))](auto each) { return lower.starts_with(each); };
  if (std::ranges::any_of(kSparse, is_this))
    return Error(ExitCode::usage,
                 fmt::format("'{}' has sparse embeddings, which are not modelled: only dense gradients are", name),
                 "ask for its dense layers alone, in a timeline that hbench import-job makes of a trace of them");
  std::vector<std::string_view> known(names().begin(), names().end());
  for (const PublishedShape& shape : published_shapes()) known.push_back(shape.name);
  for (const std::string& other : others)
    if (std::ranges::find(names(), other) == names().end()) known.push_back(other);
  return unknown_name("workload", name, known, "hbench list workloads");
}

}  // namespace hbench
