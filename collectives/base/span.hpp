#pragma once

/// What a rank did from when to when: the one form of time lines, of measured and of simulated training steps. What a
/// step's time went to, who was late and what Perfetto draws are functions of spans (`analysis/trace`).

#include <array>
#include <cstdint>
#include <string_view>

#include "collectives/base/units.hpp"

namespace hbench {

/// Databases hold the numbers of kinds and lanes: new ones come last.
enum class SpanKind : std::uint8_t {
  step,           ///< the whole step, from the end of the one before
  forward,        ///< the forward pass
  backward,       ///< the backward pass, until the device has done it
  wait,           ///< the compute thread waits for the sums of gradients
  optimizer,      ///< applies them; with that the loss is read and checked
  negotiation,    ///< from this rank's last gradient of a bucket until the bucket leaves: ranks agree, policies wait
  communication,  ///< a bucket in flight
  coding,         ///< packs, compresses, decompresses or unpacks a bucket
  input           ///< samples of a data set are read, put together and brought to the device
};
inline constexpr std::array kSpanKinds{SpanKind::step,          SpanKind::forward,   SpanKind::backward,
                                       SpanKind::wait,          SpanKind::optimizer, SpanKind::negotiation,
                                       SpanKind::communication, SpanKind::coding,    SpanKind::input};
/// `forward`, `communication` ...
inline std::string_view to_string(SpanKind kind) {
  constexpr std::array<std::string_view, 9> kNames{"step",        "forward",       "backward", "wait", "optimizer",
                                                   "negotiation", "communication", "coding",   "input"};
  return kNames.at(static_cast<std::size_t>(kind));
}

/// Which of a rank's threads; on a GPU the work that it has enqueued.
enum class Lane : std::uint8_t { compute, communication };
inline constexpr std::array kLanes{Lane::compute, Lane::communication};
inline std::string_view to_string(Lane lane) { return lane == Lane::compute ? "compute" : "communication"; }

/// A value. Measured times are those of CLOCK_MONOTONIC, which the ranks of one host share: spans of different ranks
/// may be compared. Clocks of different hosts have nothing in common; there only durations, and the order of one rank's
/// spans, mean something. Simulated times are those of the one virtual clock.
struct Span {
  Rank rank = 0;
  Lane lane = Lane::compute;
  SpanKind kind = SpanKind::step;
  Seconds begin;
  Seconds end;
  int bucket = -1;  ///< in the order in which buckets leave in the step; -1: of no bucket

  Seconds duration() const { return end - begin; }
  friend bool operator==(const Span&, const Span&) = default;
};

}  // namespace hbench
