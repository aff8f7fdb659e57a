/// Execution traces of Chakra (`*.et`): protobuf messages, each after its length, a GlobalMetadata and then Nodes.
/// Fields: mlcommons/chakra `schema/protobuf/et_def.proto`. Nodes have durations and depend on each other, but few
/// files say when a node began, and none where a step does.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "analysis/jobs/job_format.hpp"
#include "analysis/jobs/json_elements.hpp"
#include "analysis/jobs/protobuf.hpp"
#include "analysis/jobs/text_source.hpp"
#include "analysis/jobs/words.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/text.hpp"
#include "collectives/base/units.hpp"

namespace hbench {
namespace {

constexpr std::size_t kMostMessageBytes = std::size_t{64} << 20;
constexpr std::uint64_t kMostElements = 1'000'000'000'000;

/// In the order of NodeType.
constexpr std::array<std::string_view, 8> kKinds{"invalid", "metadata", "load",    "store",
                                                 "compute", "send",     "receive", "collective"};
constexpr std::uint64_t kCollective = 7;
/// In the order of CollectiveCommType.
constexpr std::array<std::string_view, 10> kOperations{"all-reduce",     "reduce",    "all-gather", "gather",
                                                       "scatter",        "broadcast", "all-to-all", "reduce-scatter",
                                                       "reduce-scatter", "barrier"};

struct Node {
  std::uint64_t id = 0, type = 0, microseconds = 0;
  std::string_view shapes, types;
  bool on_host = false;
  std::optional<std::uint64_t> operation, bytes;  ///< of a collective
};

/// A value of an attribute: every kind of number and truth is a varint, or has its bits in `value`.
void read_attribute(Node& node, std::string_view bytes) {
  ProtobufMessage message(bytes);
  std::string_view name;
  std::uint64_t value = 0;
  while (const auto field = message.next()) {
    if (field->number == 1) name = field->bytes;
    if (field->number > 2 && !field->is_bytes) value = field->value;
  }
  if (name == "comm_type") node.operation = value;
  if (name == "comm_size") node.bytes = value;
  if (name == "is_cpu_op") node.on_host = value != 0;
}

/// Absent for what is no node.
std::optional<Node> node_of(std::string_view bytes) {
  ProtobufMessage message(bytes);
  Node node;
  bool named = false;
  while (const auto field = message.next()) {
    if (field->number == 1) node.id = field->value;
    if (field->number == 2) named = field->is_bytes;
    if (field->number == 3) node.type = field->value;
    if (field->number == 7) node.microseconds = std::min<std::uint64_t>(field->value, 1'000'000'000'000);
    if (field->number == 10) read_attribute(node, field->bytes);
    if (field->number != 8) continue;
    ProtobufMessage inputs(field->bytes);
    while (const auto input = inputs.next()) {
      if (input->number == 2) node.shapes = input->bytes;
      if (input->number == 3) node.types = input->bytes;
    }
  }
  return message.damaged() || !named ? std::nullopt : std::optional(node);
}

/// The elements of `[[2049000]]`, or, where there are no shapes, what makes the bytes; 0: not known.
std::int64_t elements_of(const Node& node) {
  const nlohmann::json shapes = nlohmann::json::parse(node.shapes, nullptr, false);
  double sum = 0;
  if (shapes.is_array())
    for (const nlohmann::json& shape : shapes) sum += elements_of_shape(shape);
  if (const std::int64_t elements = known_elements(sum); elements > 0) return elements;
  const int bytes = type_bytes(type_word(node.types));
  if (bytes == 0 || !node.bytes || *node.bytes > kMostElements) return 0;
  return static_cast<std::int64_t>(*node.bytes) / bytes;
}

/// Whether it is a part that stands there several times: the steps of a file with several, or one with equal buckets.
bool repeats(const std::vector<std::int64_t>& elements) {
  for (std::size_t part = 1; part <= elements.size() / 2; ++part)
    if (elements.size() % part == 0 &&
        std::equal(elements.begin() + static_cast<std::ptrdiff_t>(part), elements.end(), elements.begin()))
      return true;
  return false;
}

/// The messages of a file, one after the other.
class Messages {
 public:
  explicit Messages(const std::string& file_name) : source_(file_name) {}

  /// Reads the next one into `text`; false at the end. \throws Error (usage) where the file ends in it, or its length
  /// is none.
  bool next(std::string& text) {
    text.clear();
    if (source_.peek() < 0) return false;
    std::uint64_t size = 0;
    for (int shift = 0, byte = 0x80; byte >= 0x80; shift += 7) {
      byte = source_.take();
      if (byte < 0 || shift > 28) fail();
      size |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    }
    if (size > kMostMessageBytes) fail();
    while (text.size() < size) {
      const int byte = source_.take();
      if (byte < 0) fail();
      text.push_back(static_cast<char>(byte));
    }
    ++number_;
    return true;
  }

  [[noreturn]] void fail() const {
    throw Error(ExitCode::usage,
                fmt::format("{}: it is cut off or damaged after {}", source_.file_name(), counted(number_, "message")),
                "copy it again; was the program that wrote it stopped?");
  }

 private:
  TextSource source_;
  std::int64_t number_ = 0;
};

class Reader {
 public:
  Recording run(const std::string& file_name) {
    recording_.file = file_name;
    Messages messages(file_name);
    std::string text;
    for (bool first = true; messages.next(text); first = false) {
      if (first) continue;  // the metadata
      const std::optional<Node> node = node_of(text);
      if (!node) messages.fail();
      add(*node);
    }
    finish();
    return std::move(recording_);
  }

 private:
  struct Sum {
    int nodes = 0;
    Seconds time;
    std::vector<std::pair<std::uint64_t, std::int64_t>> sizes;  ///< number of the node, elements
  };

  void add(const Node& node) {
    const Seconds time(static_cast<double>(node.microseconds) * 1e-6);
    const auto plus = [&](Sum& sum) {
      ++sum.nodes;
      sum.time += time;
    };
    // What the host calls is listed beside what runs; only the latter says which collective it is.
    if (node.type == kCollective && node.operation && *node.operation < kOperations.size()) {
      Sum& sum = collectives_[kOperations[*node.operation]];
      plus(sum);
      sum.sizes.emplace_back(node.id, elements_of(node));
      if (recording_.gradient_type.empty() && *node.operation == 0) recording_.gradient_type = type_word(node.types);
      return;
    }
    const std::string_view kind = node.type < kKinds.size() ? kKinds[node.type] : "other";
    plus(kinds_[fmt::format("{} {}", kind, node.on_host ? "calls of the host" : "nodes")]);
  }

  void finish() {
    std::vector<std::string> parts;
    for (auto& [operation, sum] : collectives_) {
      std::ranges::sort(sum.sizes);
      std::vector<std::int64_t> elements;
      for (const auto& [id, size] : sum.sizes) elements.push_back(size);
      constexpr std::size_t kShown = 8;
      std::string shown =
          fmt::format("{}", fmt::join(elements.begin(), elements.begin() + std::min(elements.size(), kShown), ", "));
      if (elements.size() > kShown) shown += ", ..";
      parts.push_back(
          fmt::format("{} of {} elements ({:.1f} ms)", counted(sum.nodes, operation), shown, sum.time.value * 1e3));
      const bool gradients = is_reduction(operation);
      if (gradients && recording_.bucket_elements.empty() && !repeats(elements))
        recording_.bucket_elements = std::move(elements);
    }
    for (const auto& [kind, sum] : kinds_)
      parts.push_back(fmt::format("{} {} ({:.1f} ms)", sum.nodes, kind, sum.time.value * 1e3));
    if (parts.empty())
      throw Error(ExitCode::usage, fmt::format("{}: it has no nodes", recording_.file),
                  "did the program that wrote it fail?");
    recording_.holds = fmt::format("{}", fmt::join(parts, ", "));
  }

  Recording recording_;
  std::map<std::string_view, Sum> collectives_;
  std::map<std::string, Sum> kinds_;
};

bool recognises(std::string_view head) {
  ProtobufMessage file(head);
  const auto metadata = file.message();
  if (!metadata) return false;
  ProtobufMessage fields(*metadata);
  while (const auto field = fields.next())
    if (field->number > 2 || field->number < 1 || !field->is_bytes) return false;
  if (fields.damaged()) return false;
  const auto node = file.message();
  // A first node of more than the head is not looked into.
  return node ? node_of(*node).has_value() : !metadata->empty() && !file.rest().empty();
}

std::vector<Recording> read(const std::string& file_name) { return {Reader().run(file_name)}; }

}  // namespace

extern const JobFormat kChakraFormat;
constinit const JobFormat kChakraFormat{.name = "chakra",
                                        .summary = "sizes of a Chakra execution trace, beside a kineto trace",
                                        .example = "chakra_converter PyTorch --input et.json --output chakra.et",
                                        .recognises = recognises,
                                        .read = read};

}  // namespace hbench
