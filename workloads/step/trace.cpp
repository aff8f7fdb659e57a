#include "workloads/step/trace.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "collectives/base/error.hpp"
#include "collectives/base/toml_file.hpp"
#include "collectives/base/toml_text.hpp"
#include "collectives/base/units_text.hpp"
#include "collectives/fusion/fusion.hpp"

namespace hbench {
namespace {

constexpr std::string_view kHelp = "workloads/traces/README.md documents the format; `hbench calibrate` writes one";

// Beyond these, sums of bytes and nanoseconds of time would be lost.
constexpr std::int64_t kMostElements = 1'000'000'000'000;
constexpr Seconds kMostTime(3600);

class Reader {
 public:
  Reader(const toml::table& table, std::string_view file_name) : table_(table), file_name_(file_name) {}

  [[noreturn]] void fail(const toml::node& node, std::string_view what) const {
    throw Error(ExitCode::usage, fmt::format("{}: {}", place_in(file_name_, node), what), std::string(kHelp));
  }

  const toml::node& required(std::string_view key) const {
    const toml::node* node = table_.get(key);
    if (node == nullptr)
      throw Error(ExitCode::usage, fmt::format("{}: '{}' is missing", file_name_, key), std::string(kHelp));
    return *node;
  }

  std::string text(std::string_view key) const {
    const toml::node& node = required(key);
    const auto value = node.value_exact<std::string>();
    if (!value) fail(node, fmt::format("'{}' must be text", key));
    return *value;
  }

  Seconds time(std::string_view key) const {
    const toml::node& node = required(key);
    const auto value = node.value_exact<std::string>();
    if (!value) fail(node, fmt::format("'{}' has no unit; write it as text, such as \"64.8 ms\"", key));
    Seconds time;
    try {
      time = parse_seconds(*value);
    } catch (const Error& error) {
      fail(node, fmt::format("{}: {}", key, error.what()));
    }
    if (time.value < 0 || time > kMostTime) fail(node, fmt::format("'{}' must lie between 0 and 1 hour", key));
    return time;
  }

  GradientEvent gradient(const toml::node& node, Seconds earliest, Seconds latest) const {
    const toml::array* row = node.as_array();
    if (row == nullptr || row->size() != 3) fail(node, "a gradient is [\"tensor\", elements, ready in microseconds]");
    const auto name = (*row)[0].value_exact<std::string>();
    const auto elements = (*row)[1].value_exact<std::int64_t>();
    const auto ready = (*row)[2].value<double>();
    if (!name || !elements || !ready) fail(node, "a gradient is [\"tensor\", elements, ready in microseconds]");
    if (name->empty()) fail(node, "a tensor has no name");
    if (*elements < 1 || *elements > kMostElements) fail(node, fmt::format("'{}' has {} elements", *name, *elements));
    const Seconds at(*ready * 1e-6);
    if (!(at.value >= 0)) fail(node, fmt::format("'{}' is ready before the backward pass", *name));
    if (at < earliest) fail(node, fmt::format("'{}' is ready before the gradient above it", *name));
    // Half a nanosecond: times are written rounded.
    if (at.value > latest.value + 5e-10) fail(node, fmt::format("'{}' is ready after the backward pass", *name));
    return {*name, *elements, std::min(at, latest)};
  }

  std::vector<int> buckets(std::size_t gradients) const {
    const toml::node& node = required("buckets");
    const toml::array* counts = node.as_array();
    if (counts == nullptr) fail(node, "'buckets' must list how many gradients each bucket has");
    std::vector<int> buckets;
    std::size_t sum = 0;
    for (const toml::node& each : *counts) {
      const std::int64_t count = each.value_exact<std::int64_t>().value_or(0);
      if (count < 1 || count > kMostElements) fail(each, "a bucket has a whole number of gradients, at least 1");
      sum += static_cast<std::size_t>(count);
      if (sum > gradients) fail(each, fmt::format("the buckets have more gradients than there are ({})", gradients));
      buckets.push_back(static_cast<int>(count));
    }
    if (sum != gradients) fail(node, fmt::format("the buckets have {} of {} gradients", sum, gradients));
    return buckets;
  }

  void refuse_unknown_keys() const {
    static constexpr std::string_view kKeys[] = {"format",  "title",    "source",    "batch",
                                                 "forward", "backward", "gradients", "buckets"};
    for (const auto& [key, node] : table_)
      if (std::ranges::find(kKeys, key.str()) == std::end(kKeys))
        fail(node, fmt::format("unknown key '{}'", key.str()));
  }

 private:
  const toml::table& table_;
  std::string_view file_name_;
};

}  // namespace

Trace parse_trace(std::string_view text, std::string_view file_name) {
  const toml::table table = parse_toml(text, file_name);
  const Reader read(table, file_name);
  read.refuse_unknown_keys();
  if (read.required("format").value<std::int64_t>() != 1)
    read.fail(read.required("format"), "this hbench reads traces of format 1");
  Trace trace;
  trace.name = std::filesystem::path(file_name).stem().string();
  trace.title = read.text("title");
  trace.source = read.text("source");
  const auto batch = read.required("batch").value_exact<std::int64_t>();
  if (!batch || *batch < 1 || *batch > 1'000'000)
    read.fail(read.required("batch"), "'batch' must be a whole number of at least 1");
  trace.timeline.batch = static_cast<int>(*batch);
  trace.timeline.forward = read.time("forward");
  trace.timeline.backward = read.time("backward");
  if (trace.timeline.step().value <= 0) read.fail(read.required("backward"), "a step must take time");
  const toml::array* gradients = read.required("gradients").as_array();
  if (gradients == nullptr || gradients->empty())
    read.fail(read.required("gradients"), "'gradients' must list the tensors");
  Seconds last(0);
  std::set<std::string, std::less<>> names;
  for (const toml::node& node : *gradients) {
    trace.timeline.gradients.push_back(read.gradient(node, last, trace.timeline.backward));
    const GradientEvent& gradient = trace.timeline.gradients.back();
    last = gradient.ready;
    if (!names.insert(gradient.tensor).second) read.fail(node, fmt::format("'{}' is listed twice", gradient.tensor));
  }
  if (table.contains("buckets")) trace.buckets = read.buckets(trace.timeline.gradients.size());
  return trace;
}

std::string Trace::recorded_fusion() const {
  return buckets.empty() ? std::string() : parse_fusion(fmt::format("recorded:{}", fmt::join(buckets, "-"))).text();
}

std::string format_trace(const Trace& trace) {
  std::string out = fmt::format(
      "format = 1\ntitle = {}\nsource = {}\nbatch = {}\nforward = \"{:.3f} us\"\nbackward = \"{:.3f} us\"\n",
      toml_text(trace.title), toml_text(trace.source), trace.timeline.batch, trace.timeline.forward.value * 1e6,
      trace.timeline.backward.value * 1e6);
  if (!trace.buckets.empty())
    out += fmt::format("# Gradients that travelled together when it was recorded: --fusion recorded\nbuckets = [{}]\n",
                       fmt::join(trace.buckets, ", "));
  out +=
      "\n# In the order in which gradients become ready: tensor, elements, microseconds since the backward pass "
      "began.\ngradients = [\n";
  for (const GradientEvent& gradient : trace.timeline.gradients)
    out +=
        fmt::format("  [{}, {}, {:.3f}],\n", toml_text(gradient.tensor), gradient.elements, gradient.ready.value * 1e6);
  return out + "]\n";
}

Trace TraceLibrary::load(std::string_view name_or_file) const {
  const NamedText file = files_.read(name_or_file);
  return parse_trace(file.text, file.file_name);
}

}  // namespace hbench
