#include <algorithm>
#include <vector>

#include "collectives/exchange/staged_exchange.hpp"

namespace hbench {
namespace {

/// A buffer that is encoded part by part. Of one part it sends what was encoded, and does not encode it again.
class EncodedParts final : public Codec {
 public:
  EncodedParts(Device& device, std::shared_ptr<const Codec> codec, std::vector<ElementRange> parts,
               std::span<const float> buffer)
      : device_(device), codec_(std::move(codec)), parts_(std::move(parts)), buffer_(buffer) {
    for (const ElementRange& part : parts_)
      offsets_.push_back(offsets_.back() + static_cast<std::size_t>(codec_->max_wire_bytes(part.end - part.begin)));
    bytes_ = device_.allocate(offsets_.back());
  }

  void encode_all(Draw draw) {
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      draw.offset = parts_[part].begin;
      codec_->encode(part_of(buffer_, part), draw, encoded(all(), part));
    }
  }
  std::span<std::byte> all() const { return {bytes_.get(), offsets_.back()}; }
  /// That of a part, among those of all parts.
  template <class Byte>
  std::span<Byte> encoded(std::span<Byte> of_all, std::size_t part) const {
    return of_all.subspan(offsets_[part], size_of(part));
  }
  template <class T>
  std::span<T> part_of(std::span<T> buffer, std::size_t part) const {
    return buffer.subspan(static_cast<std::size_t>(parts_[part].begin),
                          static_cast<std::size_t>(parts_[part].end - parts_[part].begin));
  }
  std::size_t size_of(std::size_t part) const { return offsets_[part + 1] - offsets_[part]; }
  std::size_t parts() const { return parts_.size(); }

  std::int64_t max_wire_bytes(std::int64_t elements) const override { return codec_->max_wire_bytes(elements); }
  std::int64_t encode(std::span<const float> in, const Draw&, std::span<std::byte> out) const override {
    const std::int64_t begin = in.data() - buffer_.data();
    // Empty parts, which begin where the next one does, are not sent.
    const auto after = std::ranges::upper_bound(parts_, begin, {}, &ElementRange::begin);
    const std::span<std::byte> bytes = encoded(all(), static_cast<std::size_t>(after - parts_.begin() - 1));
    device_.copy(bytes, out.first(bytes.size()));
    return std::ssize(bytes);
  }
  /// Of one part, or of all of them.
  void decode(std::span<const std::byte> in, TransferKind kind, std::span<float> out) const override {
    if (out.size() < buffer_.size()) return codec_->decode(in, kind, out);
    for (std::size_t part = 0; part < parts_.size(); ++part)
      codec_->decode(encoded(in, part), kind, part_of(out, part));
  }

 private:
  Device& device_;
  std::shared_ptr<const Codec> codec_;
  std::vector<ElementRange> parts_;
  std::span<const float> buffer_;
  std::vector<std::size_t> offsets_{0};
  DeviceMemory bytes_;
};

AlgorithmChoice direct_scatter() { return parse_algorithm("direct", CollectiveKind::reduce_scatter); }

std::vector<ElementRange> parts_of(const Schedule& scatter, std::int64_t elements) {
  std::vector<ElementRange> parts;
  for (int chunk = 0; chunk < scatter.chunks; ++chunk) parts.push_back(scatter.range(chunk, 1, elements));
  return parts;
}

class BothSides final : public ExchangeStages {
 public:
  BothSides(Endpoint& endpoint, const ExchangeRequest& request)
      : device_(endpoint.device()),
        rank_(endpoint.transport().rank()),
        own_(static_cast<std::size_t>(rank_)),
        workers_(request.world.workers),
        operand_(request.operand),
        buffer_(operand_.floats()),
        codec_(timed(device_.codec_of(request.compressor), request.times)),
        memory_(request.memory) {
    const Schedule scatter = endpoint.schedules().of(direct_scatter(), request.world, 1);
    sent_ = std::make_unique<EncodedParts>(device_, codec_, parts_of(scatter, operand_.elements()), buffer_);
    programs.push_back(endpoint.prepare(scatter, Operand::of(buffer_), sent_.get()));
    memory_->sum_elements = std::ssize(own_part());
    if (memory_->sum == nullptr) memory_->sum = request.compressor.make_memory(memory_->sum_elements, device_);
    std::vector<std::int64_t> sizes;
    for (std::size_t part = 0; part < sent_->parts(); ++part)
      sizes.push_back(static_cast<std::int64_t>(sent_->size_of(part)));
    Schedule gather = all_gather_for(endpoint, request, std::ranges::max(sizes));
    gather.offsets = offsets_of(gather, sizes);
    sums_ = device_.allocate(static_cast<std::size_t>(gather.offsets.back()));
    programs.push_back(endpoint.prepare(gather, Operand{sums(), DataType::uint8}, nullptr));
  }

  /// What this rank adds of its own to the sum has lost as much as what it sends.
  void begin() override {
    memory_->gradient->compensate(buffer_);
    sent_->encode_all({.seed = memory_->seed, .rank = rank_, .step = memory_->step++});
    memory_->gradient->update(buffer_, sent_->all(), *sent_);
    codec_->decode(sent_->encoded(sent_->all(), own_), TransferKind::copy, own_part());
  }

  void after(std::size_t program) override {
    if (program == 0) return encode_sum();
    sent_->decode(sums(), TransferKind::copy, buffer_);
    device_.finish(operand_.type, operand_.op, workers_, operand_.buffer);
  }

 private:
  std::span<float> own_part() const { return sent_->part_of(buffer_, own_); }
  /// Encoded, of all parts, one behind the other.
  std::span<std::byte> sums() const { return {sums_.get(), sent_->all().size()}; }

  void encode_sum() {
    memory_->sum->compensate(own_part());
    const std::span<std::byte> encoded = sent_->encoded(sums(), own_);
    codec_->encode(own_part(), {.seed = memory_->seed, .rank = rank_, .step = memory_->step}, encoded);
    memory_->sum->update(own_part(), encoded, *codec_);
  }

  Device& device_;
  Rank rank_;
  std::size_t own_;
  int workers_;
  Operand operand_;
  std::span<float> buffer_;
  std::shared_ptr<const Codec> codec_;
  std::shared_ptr<ExchangeMemory> memory_;
  std::unique_ptr<EncodedParts> sent_;
  DeviceMemory sums_;
};

}  // namespace

std::unique_ptr<Operation> prepare_both_sides(Endpoint& endpoint, const ExchangeRequest& request) {
  return make_staged_exchange(endpoint.device(), std::make_unique<BothSides>(endpoint, request));
}

}  // namespace hbench
