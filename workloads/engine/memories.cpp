#include "workloads/engine/memories.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "collectives/base/error.hpp"
#include "workloads/engine/messages.hpp"

namespace hbench {
namespace {

struct Row {
  std::int64_t parameter;
  std::int64_t elements;
};

constexpr std::string_view kSharing = "sharing the order of gradients";

std::vector<Row> rows_of(const GradientLayout& layout) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < layout.elements.size(); ++i) rows.push_back({layout.parameters[i], layout.elements[i]});
  return rows;
}

void send_layout(const GradientLayout& layout, Transport& transport, Seconds timeout) {
  Outbox outbox(transport);
  const std::vector<Row> rows = rows_of(layout);
  for (Rank rank = 1; rank < transport.size(); ++rank) {
    outbox.send(rank, kLayoutTag, static_cast<std::int64_t>(rows.size()));
    outbox.send(rank, kLayoutTag, std::as_bytes(std::span(rows)));
  }
  flush(outbox, timeout, kSharing);
}

GradientLayout receive_layout(Transport& transport, Seconds timeout) {
  std::int64_t count = 0;
  receive_now(transport, 0, kLayoutTag, as_message(count), timeout, kSharing);
  std::vector<Row> rows(static_cast<std::size_t>(count));
  receive_now(transport, 0, kLayoutTag, std::as_writable_bytes(std::span(rows)), timeout, kSharing);
  GradientLayout layout;
  for (const Row& row : rows) {
    layout.parameters.push_back(static_cast<int>(row.parameter));
    layout.elements.push_back(row.elements);
  }
  return layout;
}

/// The same tensors, in whatever order.
bool same_tensors(const GradientLayout& a, const GradientLayout& b) {
  const auto sorted = [](const GradientLayout& layout) {
    std::vector<std::pair<std::int64_t, std::int64_t>> pairs;
    for (const Row& row : rows_of(layout)) pairs.emplace_back(row.parameter, row.elements);
    std::ranges::sort(pairs);
    return pairs;
  };
  return sorted(a) == sorted(b);
}

/// Elements as they are.
class Verbatim final : public Codec {
 public:
  explicit Verbatim(Device& device) : device_(device) {}

  std::int64_t max_wire_bytes(std::int64_t elements) const override {
    return elements * static_cast<std::int64_t>(sizeof(float));
  }
  std::int64_t encode(std::span<const float> in, const Draw&, std::span<std::byte> out) const override {
    device_.copy(std::as_bytes(in), out);
    return std::ssize(out);
  }
  void decode(std::span<const std::byte> in, TransferKind kind, std::span<float> out) const override {
    if (kind == TransferKind::copy)
      device_.copy(in, std::as_writable_bytes(out));
    else
      device_.accumulate(DataType::float32, ReduceOp::sum, in, std::as_writable_bytes(out));
  }

 private:
  Device& device_;
};

/// The memories of a bucket's parts, as the memory of the whole: what the bucket decodes to is handed to each as if it
/// alone had been sent, as it is.
class OfParts final : public GradientMemory {
 public:
  struct Part {
    GradientMemory* memory;
    std::size_t elements;
  };
  OfParts(std::vector<Part> parts, Scratch& scratch)
      : parts_(std::move(parts)), scratch_(scratch), verbatim_(scratch.device()) {}

  void compensate(std::span<float> gradient) override {
    for (const auto& [memory, elements] : parts_) {
      memory->compensate(gradient.first(elements));
      gradient = gradient.subspan(elements);
    }
  }

  void walk(StateWalk& state) override {
    for (const Part& part : parts_) part.memory->walk(state);
  }

  void update(std::span<const float> compensated, std::span<const std::byte> encoded, const Codec& codec) override {
    const std::span<float> decoded = scratch_.of(compensated.size());
    codec.decode(encoded, TransferKind::copy, decoded);
    std::span<const float> sent = decoded;
    for (const auto& [memory, elements] : parts_) {
      memory->update(compensated.first(elements), std::as_bytes(sent.first(elements)), verbatim_);
      compensated = compensated.subspan(elements);
      sent = sent.subspan(elements);
    }
  }

 private:
  std::vector<Part> parts_;
  Scratch& scratch_;
  Verbatim verbatim_;
};

}  // namespace

std::int64_t GradientLayout::total() const {
  return std::accumulate(elements.begin(), elements.end(), std::int64_t{0});
}

std::vector<std::int64_t> GradientLayout::offsets() const {
  std::vector<std::int64_t> offsets{0};
  for (const std::int64_t count : elements) offsets.push_back(offsets.back() + count);
  return offsets;
}

std::vector<std::int64_t> GradientLayout::bytes() const {
  std::vector<std::int64_t> bytes;
  for (const std::int64_t count : elements) bytes.push_back(count * static_cast<std::int64_t>(sizeof(float)));
  return bytes;
}

GradientLayout share_layout(const GradientLayout* own, Transport& transport, Seconds timeout) {
  if (transport.rank() == 0) {
    send_layout(*own, transport, timeout);
    return *own;
  }
  GradientLayout layout = receive_layout(transport, timeout);
  if (own != nullptr && !same_tensors(*own, layout)) {
    throw Error(ExitCode::wrong_data,
                fmt::format("rank {} trains a model with other tensors than rank 0", transport.rank()),
                "start every rank with the same arguments and the same build");
  }
  return layout;
}

bool contiguous(const Bucket& bucket) {
  return std::ranges::adjacent_find(bucket.tensors, [](int a, int b) { return b != a + 1; }) == bucket.tensors.end();
}

std::vector<ElementRange> ranges_of(const Bucket& bucket, std::span<const std::int64_t> offsets) {
  constexpr auto kNumber = static_cast<std::int64_t>(sizeof(float));
  std::vector<ElementRange> ranges;
  for (const int tensor : bucket.tensors) {
    const auto i = static_cast<std::size_t>(tensor);
    ElementRange next{offsets[i], offsets[i + 1]};
    if (!bucket.whole()) next = {offsets[i] + bucket.begin / kNumber, offsets[i] + bucket.end / kNumber};
    if (!ranges.empty() && ranges.back().end == next.begin)
      ranges.back().end = next.end;
    else
      ranges.push_back(next);
  }
  return ranges;
}

std::span<float> Scratch::of(std::size_t elements) {
  if (elements > elements_) {
    synchronize(device_);  // it may still use what is freed here
    memory_ = device_.allocate(elements * sizeof(float));
    elements_ = elements;
  }
  return {reinterpret_cast<float*>(memory_.get()), elements};
}

GradientMemories::GradientMemories(const CompressorChoice& compressor, const GradientLayout& layout, std::uint64_t seed,
                                   Device& device)
    : compressor_(compressor), layout_(layout), seed_(seed), scratch_(device) {}

std::shared_ptr<ExchangeMemory> GradientMemories::of(const Bucket& bucket, std::int32_t step) {
  if (compressor_.verbatim() || compressor_.compressor->exchange == Exchange::per_hop) return nullptr;
  if (compressor_.needs_fixed_buckets()) return of_fixed(bucket);
  // Buckets of one step draw different numbers.
  const auto first = static_cast<std::size_t>(bucket.tensors.front());
  const std::uint64_t place =
      static_cast<std::uint64_t>(layout_.offsets()[first]) * sizeof(float) + static_cast<std::uint64_t>(bucket.begin);
  auto memory = std::make_shared<ExchangeMemory>(compressor_, 0, seed_at(seed_, place), scratch_.device());
  memory->step = step;
  if (memory->gradient != nullptr) memory->gradient = of_parts(bucket);
  return memory;
}

std::shared_ptr<ExchangeMemory>& GradientMemories::of_fixed(const Bucket& bucket) {
  auto& known = buckets_[bucket];
  const std::int64_t elements = bucket.bytes(layout_.bytes()) / static_cast<std::int64_t>(sizeof(float));
  if (known == nullptr) known = std::make_shared<ExchangeMemory>(compressor_, elements, seed_, scratch_.device());
  return known;
}

GradientMemories::Part& GradientMemories::part(int tensor, std::int64_t begin, std::int64_t elements) {
  Part& known = parts_[{tensor, begin}];
  if (known.memory == nullptr) known = {compressor_.make_memory(elements, scratch_.device()), elements};
  return known;
}

std::unique_ptr<GradientMemory> GradientMemories::of_parts(const Bucket& bucket) {
  std::vector<OfParts::Part> parts;
  for (const int tensor : bucket.tensors) {
    const std::int64_t size = layout_.elements[static_cast<std::size_t>(tensor)];
    const std::int64_t elements =
        bucket.whole() ? size : (bucket.end - bucket.begin) / static_cast<std::int64_t>(sizeof(float));
    parts.push_back({part(tensor, bucket.begin, elements).memory.get(), static_cast<std::size_t>(elements)});
  }
  return std::make_unique<OfParts>(std::move(parts), scratch_);
}

void GradientMemories::walk(StateWalk& state) {
  struct Row {
    std::int64_t tensor, begin, elements;
  };
  std::vector<Row> rows;
  for (const auto& [place, known] : parts_) rows.push_back({place.first, place.second, known.elements});
  state.numbers("parts with residuals", rows);
  for (const Row& row : rows) part(static_cast<int>(row.tensor), row.begin, row.elements).memory->walk(state);

  std::vector<Bucket> buckets;
  for (const auto& [bucket, known] : buckets_) buckets.push_back(bucket);
  auto count = std::ssize(buckets);
  state.number("buckets with residuals", count);
  buckets.resize(static_cast<std::size_t>(count));
  for (Bucket& bucket : buckets) {
    state.numbers("tensors of a bucket", bucket.tensors);
    state.number("begin of a bucket", bucket.begin);
    state.number("end of a bucket", bucket.end);
    of_fixed(bucket)->walk(state, compressor_);
  }
}

}  // namespace hbench
