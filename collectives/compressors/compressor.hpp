#pragma once

/// The family of gradient compressors: how float32 elements travel.
///
/// One compressor is one file that defines one constant and is listed in `compressors.cpp`. What an entry declares
/// (exchange, error, bytes, unbiasedness) is tested for every entry.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "collectives/device/device.hpp"
#include "collectives/schedule/schedule.hpp"

namespace hbench {

/// How encoded gradients of several ranks become one sum; decides which algorithms a compressor goes with.
enum class Exchange : std::uint8_t {
  per_hop,   ///< every transfer of an all-reduce is encoded by its sender and decoded (and added) by its receiver
  gather,    ///< every rank encodes its gradient once; all encodings are all-gathered, decoded and added in rank order
  low_rank,  ///< two all-reduces of small factors (PowerSGD)
};

/// What a draw of random numbers depends on, so that equal runs give equal bytes.
struct Draw {
  std::uint64_t seed = 1;
  std::int32_t rank = 0;
  std::int32_t step = 0;
  /// Position of the first element in the rank's buffer: parts of a buffer draw different numbers.
  std::int64_t offset = 0;
};

/// A compressor with its parameters. Immutable; any number of threads may use it.
class Codec {
 public:
  virtual ~Codec() = default;
  /// Upper bound, in bytes, of the encoded form of `elements` elements. Per-hop codecs write exactly this number of
  /// bytes.
  virtual std::int64_t max_wire_bytes(std::int64_t elements) const = 0;
  /// Writes to `out`, of `max_wire_bytes(in.size())` bytes and any alignment; returns how many it wrote.
  virtual std::int64_t encode(std::span<const float> in, const Draw& draw, std::span<std::byte> out) const = 0;
  /// Reads what `encode` wrote for `out.size()` elements; replaces `out`, or adds to it when `kind` is reduce.
  /// \throws Error (wrong_data) for bytes that no encoder wrote, where they can be recognised.
  virtual void decode(std::span<const std::byte> in, TransferKind kind, std::span<float> out) const = 0;
};

/// What one rank carries over from step to step for one buffer: a residual, a momentum. Used by its rank alone.
class GradientMemory {
 public:
  virtual ~GradientMemory() = default;
  /// Turns this step's gradient, in place, into what is to be encoded.
  virtual void compensate(std::span<float> gradient) = 0;
  /// `compensated` was encoded as `encoded`: keeps what was lost.
  virtual void update(std::span<const float> compensated, std::span<const std::byte> encoded, const Codec& codec) = 0;
  /// Goes through all that is carried over.
  virtual void walk(StateWalk& state) = 0;
};

/// What becomes of NaN and infinities.
struct NotFinite {
  std::string_view what = "kept";  ///< in words
  bool kept = true;                ///< the element decodes to the infinity or NaN that it was
  /// The number of elements of the block that it is in, and outside of which it spoils nothing; 0: the block is the
  /// buffer.
  std::int64_t block = 1;
};

/// One entry of the family.
struct Compressor {
  std::string_view name;
  std::string_view summary;
  std::string_view citation;
  /// Only changes the number format of each element, as any framework can.
  bool cast = false;
  Exchange exchange = Exchange::per_hop;
  /// Names and defaults of text parameters, separated by colons (`ratio`, `0.01`); empty when there are none.
  std::string_view fields = {};
  std::string_view defaults = {};
  /// The mean of many decoded forms, drawn with different seeds, is the input.
  bool unbiased = false;
  /// What is written depends on the values: `max_wire_bytes` is its bound. Otherwise, with the default parameters, it
  /// is exactly as much.
  bool bytes_vary = false;
  /// Bytes read and written by one encode or decode, per byte of float32 input: what a
  /// memory-bound kernel costs. 0 means that nothing is done.
  double memory_traffic = 0;
  /// Largest |decode(encode(x)) - x| / |x| of an element, for normal x in the format's range; 0 is exact. Negative:
  /// errors are bounded by the block or buffer, not by the element; see `relative_l2_error`.
  double relative_error = 0;
  /// Largest |decode(encode(x)) - x| / |x| in the Euclidean norm over a buffer of normally distributed values; for
  /// the default parameters. Measured by the tests, which hold it to within 10 %.
  double relative_l2_error = 0;
  NotFinite not_finite = {};
  /// \throws Error (usage) when the parameters make no sense. `parameters` are complete.
  std::unique_ptr<Codec> (*make)(std::string_view parameters) = nullptr;
  /// Its own memory (DGC's momentum), in host memory, for a buffer of `elements`; null for those without.
  std::unique_ptr<GradientMemory> (*make_memory)(std::string_view parameters, std::int64_t elements) = nullptr;
};

/// The table, in the order in which `hbench list compressors` prints it.
std::span<const Compressor* const> compressors();

/// What an implementation takes on one device, as measured. Seconds.
struct CodingRate {
  double encode = 0, decode = 0;  ///< for each byte of float32 input
  double call = 0;                ///< for each call of either, beside its bytes
};

/// How the elements of an all-reduce travel.
struct Encoding {
  const Codec* codec = nullptr;  ///< per-hop; null: as they are
  /// As `Compressor::memory_traffic`.
  double memory_traffic = 0;
  std::size_t element_size = sizeof(float);
  std::optional<CodingRate> measured;  ///< in place of what memory would take

  /// Seconds of encoding `bytes` of float32 `encodes` times and of decoding them `decodes` times, where a byte of
  /// memory traffic takes `memory_seconds_per_byte`.
  double coding(double bytes, int encodes, int decodes, double memory_seconds_per_byte) const {
    if (!measured) return bytes * (encodes + decodes) * memory_traffic * memory_seconds_per_byte;
    return bytes * (encodes * measured->encode + decodes * measured->decode) + (encodes + decodes) * measured->call;
  }

  std::int64_t wire_bytes(std::int64_t elements) const {
    return codec != nullptr ? codec->max_wire_bytes(elements) : elements * static_cast<std::int64_t>(element_size);
  }
};

/// A compressor with its parameters, and with error feedback or not.
struct CompressorChoice {
  const Compressor* compressor = nullptr;
  std::string parameters;       ///< complete, defaults filled in; empty when there are none
  bool error_feedback = false;  ///< what was lost in one step is added to the gradient of the next
  /// Each rank adds up a part, which is encoded again with error feedback of its own, in place of all of all ranks.
  bool both_sides = false;
  std::shared_ptr<const Codec> codec;
  std::optional<CodingRate> measured;  ///< of its implementation where it runs, in place of declared traffic

  /// The canonical text: `fp16`, `topk:0.01`, `ef:sign`.
  std::string text() const;
  /// What is carried over belongs to a buffer as a whole, and not to its elements: buckets must stay the same.
  bool needs_fixed_buckets() const { return both_sides || compressor->exchange == Exchange::low_rank; }
  /// Elements travel as they are: nothing is encoded.
  bool verbatim() const { return compressor->memory_traffic == 0; }
  /// At most the number format changes: what an implementation costs beside the bytes is not in question.
  bool at_most_casts() const { return !error_feedback && (verbatim() || compressor->cast); }
  /// \pre per-hop. Valid while the choice, or a copy of it, lives.
  Encoding encoding() const {
    return {.codec = verbatim() ? nullptr : codec.get(),
            .memory_traffic = compressor->memory_traffic,
            .measured = verbatim() ? std::nullopt : measured};
  }
  /// For a buffer of `elements` where `device` has it; null where nothing is carried over. \pre the device is the
  /// host's, or the compressor has no memory of its own.
  std::unique_ptr<GradientMemory> make_memory(std::int64_t elements, Device& device = host_device()) const;
};

/// Reads `name`, `name:parameters`, or either after `ef:` for error feedback (Stich et al., Sparsified SGD with Memory,
/// NeurIPS 2018; Karimireddy et al., Error Feedback Fixes SignSGD, ICML 2019) or after `ef2:` for that on both sides
/// (Tang et al., DoubleSqueeze, ICML 2019). \throws Error (usage), with a
/// suggestion; also where error feedback cannot be combined with the compressor.
CompressorChoice parse_compressor(std::string_view text);

/// \throws Error (usage): `field` of the compressor is `text`, but `wanted` is wanted.
[[noreturn]] void refuse_parameter(std::string_view compressor, std::string_view field, std::string_view text,
                                   std::string_view wanted);

/// A whole number from `least` to `most`. \throws Error (usage) that names the parameter.
std::int64_t parse_whole(std::string_view compressor, std::string_view field, std::string_view text, std::int64_t least,
                         std::int64_t most);

/// A number above 0 and at most 1. \throws Error (usage)
double parse_ratio(std::string_view compressor, std::string_view text);

/// A finite number from 0 on. \throws Error (usage)
float parse_magnitude(std::string_view compressor, std::string_view field, std::string_view text);

}  // namespace hbench
