#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "collectives/base/parameters.hpp"
#include "collectives/compressors/compressor.hpp"
#include "collectives/compressors/select.hpp"

namespace hbench {
namespace {

struct Settings {
  double ratio = 0;
  float momentum = 0;
  std::int64_t warm_up = 0;  ///< steps on each stair
  float clip = 0;            ///< largest norm of one rank's gradient; 0: any
};

Settings settings_of(std::string_view parameters) {
  const std::vector<std::string_view> texts = split(parameters, ':');
  Settings settings{.ratio = parse_ratio("dgc", texts[0]),
                    .momentum = parse_magnitude("dgc", "momentum", texts[1]),
                    .warm_up = parse_whole("dgc", "warm-up", texts[2], 0, 1'000'000'000),
                    .clip = parse_magnitude("dgc", "clip", texts[3])};
  if (settings.momentum >= 1) refuse_parameter("dgc", "momentum", texts[1], "a number from 0 on, and below 1");
  return settings;
}

/// Top-k with a share that goes down stairs.
class Warming final : public Codec {
 public:
  explicit Warming(const Settings& settings) : settings_(settings) {}

  std::int64_t max_wire_bytes(std::int64_t elements) const override {
    expect_short_positions(elements);
    return sparse_bytes(share_of(elements, ratio_in(0)));
  }

  std::int64_t encode(std::span<const float> in, const Draw& draw, std::span<std::byte> out) const override {
    expect_short_positions(std::ssize(in));
    return encode_sparse(in, largest_elements(in, share_of(std::ssize(in), ratio_in(draw.step))), out);
  }

  void decode(std::span<const std::byte> in, TransferKind kind, std::span<float> out) const override {
    decode_sparse(in, kind, out);
  }

 private:
  /// The paper's stairs (section 3.3), down to the ratio that was asked for.
  double ratio_in(std::int64_t step) const {
    constexpr std::array kStairs{0.25, 0.0625, 0.015625, 0.004};
    if (step >= settings_.warm_up * std::ssize(kStairs)) return settings_.ratio;
    return std::max(kStairs[static_cast<std::size_t>(step / settings_.warm_up)], settings_.ratio);
  }

  Settings settings_;
};

/// Momentum correction and momentum factor masking (algorithm 4 of the paper): velocities, not gradients, add up until
/// they are sent; what was sent starts again from nothing.
class Velocity final : public GradientMemory {
 public:
  Velocity(const Settings& settings, std::int64_t elements)
      : settings_(settings),
        velocity_(static_cast<std::size_t>(elements)),
        unsent_(static_cast<std::size_t>(elements)) {}

  void compensate(std::span<float> gradient) override {
    const float scale = clipping(gradient);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      velocity_[i] = settings_.momentum * velocity_[i] + scale * gradient[i];
      unsent_[i] += velocity_[i];
      gradient[i] = unsent_[i];
    }
  }

  void update(std::span<const float> compensated, std::span<const std::byte> encoded, const Codec& codec) override {
    for (std::size_t i = 0; i < unsent_.size(); ++i) unsent_[i] = -compensated[i];
    codec.decode(encoded, TransferKind::reduce, unsent_);
    for (std::size_t i = 0; i < unsent_.size(); ++i) {
      // Values travel as they are, so what was sent is exactly 0 now. What is not finite starts again, too.
      const bool sent = (unsent_[i] == 0 && compensated[i] != 0) || !std::isfinite(unsent_[i]);
      unsent_[i] = sent ? 0.0F : -unsent_[i];
      if (sent) velocity_[i] = 0;
    }
  }

  void walk(StateWalk& state) override {
    walk_floats(state, "velocity", host_device(), velocity_);
    walk_floats(state, "unsent", host_device(), unsent_);
  }

 private:
  float clipping(std::span<const float> gradient) const {
    if (settings_.clip == 0) return 1;
    double squares = 0;
    for (const float x : gradient) squares += static_cast<double>(x) * static_cast<double>(x);
    const double norm = std::sqrt(squares);
    return norm > static_cast<double>(settings_.clip) ? static_cast<float>(static_cast<double>(settings_.clip) / norm)
                                                      : 1.0F;
  }

  Settings settings_;
  std::vector<float> velocity_;
  std::vector<float> unsent_;
};

}  // namespace

extern constinit const Compressor kDgc{
    .name = "dgc",
    .summary = "top-k of momentum that adds up until it is sent; the share steps down from 25 % while it warms up",
    .citation = "Lin et al., Deep Gradient Compression, ICLR 2018",
    .exchange = Exchange::gather,
    .fields = "ratio:momentum:warm-up:clip",
    .defaults = "0.001:0.9:0:0",
    .memory_traffic = 1.01,
    .relative_error = 1,
    .relative_l2_error = 0.993,
    .not_finite = {.what = "kept, and sent before all others"},
    .make = [](std::string_view parameters) -> std::unique_ptr<Codec> {
      return std::make_unique<Warming>(settings_of(parameters));
    },
    .make_memory = [](std::string_view parameters, std::int64_t elements) -> std::unique_ptr<GradientMemory> {
      return std::make_unique<Velocity>(settings_of(parameters), elements);
    },
};

}  // namespace hbench
