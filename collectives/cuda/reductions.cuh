#pragma once

/// The work items (`walk.cuh`) of accumulate, fill_neutral, finish, keep_rest and change.

#include <cstddef>

#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/cuda/elements.cuh"
#include "collectives/cuda/walk.cuh"

namespace hbench::cuda {

/// inout = inout (op) in.
template <class Element, ReduceOp op>
struct Accumulate {
  using Stored = typename Element::Stored;
  static constexpr int kGroup = 16 / sizeof(Stored);
  template <int kCount>
  struct Taken {
    Packed<Stored, kCount> in;
    Packed<Stored, kCount> inout;
  };

  const std::byte* in;
  std::byte* inout;

  template <int kCount>
  HBENCH_ON_BOTH Taken<kCount> take(std::size_t element) const {
    const std::size_t at = element * sizeof(Stored);
    return {load_packed<Stored, kCount>(in + at), load_packed<Stored, kCount>(inout + at)};
  }
  template <int kCount>
  HBENCH_ON_BOTH void give(std::size_t element, const Taken<kCount>& taken) const {
    const Group<Stored, kCount> other = taken.in.group();
    Group<Stored, kCount> sum = taken.inout.group();
    HBENCH_UNROLL
    for (int i = 0; i < kCount; ++i)
      sum.at[i] = Element::stored(combined<op>(Element::value(sum.at[i]), Element::value(other.at[i])));
    store(inout + element * sizeof(Stored), sum);
  }
};

/// buffer = buffer / divisor.
template <class Element>
struct Divide {
  using Stored = typename Element::Stored;
  static constexpr int kGroup = 16 / sizeof(Stored);
  template <int kCount>
  using Taken = Packed<Stored, kCount>;

  std::byte* buffer;
  Divisor divisor;

  template <int kCount>
  HBENCH_ON_BOTH Taken<kCount> take(std::size_t element) const {
    return load_packed<Stored, kCount>(buffer + element * sizeof(Stored));
  }
  template <int kCount>
  HBENCH_ON_BOTH void give(std::size_t element, const Taken<kCount>& taken) const {
    Group<Stored, kCount> group = taken.group();
    HBENCH_UNROLL
    for (int i = 0; i < kCount; ++i) group.at[i] = Element::stored(divided(Element::value(group.at[i]), divisor));
    store(buffer + element * sizeof(Stored), group);
  }
};

/// part = whole - part where that is finite, and 0 elsewhere.
struct KeepRest {
  static constexpr int kGroup = 4;
  template <int kCount>
  struct Taken {
    Group<float, kCount> whole;
    Group<float, kCount> part;
  };

  const std::byte* whole;
  std::byte* part;

  template <int kCount>
  HBENCH_ON_BOTH Taken<kCount> take(std::size_t element) const {
    return {load<float, kCount>(whole + 4 * element), load<float, kCount>(part + 4 * element)};
  }
  template <int kCount>
  HBENCH_ON_BOTH void give(std::size_t element, Taken<kCount> taken) const {
    constexpr std::uint32_t kInfinity = 0x7f80'0000;
    HBENCH_UNROLL
    for (int i = 0; i < kCount; ++i) {
      const float rest = taken.whole.at[i] - taken.part.at[i];
      taken.part.at[i] = (same_bits<std::uint32_t>(rest) & kInfinity) == kInfinity ? 0.0F : rest;
    }
    store(part + 4 * element, taken.part);
  }
};

/// What hbench::change does; a and b are read where the kind has them.
template <NumbersChange::Kind kind>
struct ChangeNumbers {
  using Kind = NumbersChange::Kind;
  static constexpr int kGroup = 4;
  static constexpr bool kHasA = kind != Kind::multiply;
  static constexpr bool kHasB = kind == Kind::add_product || kind == Kind::add_ratio;
  template <int kCount>
  struct Taken {
    Group<float, kCount> x, a, b;
  };

  const std::byte* a;
  const std::byte* b;
  std::byte* x;
  float factor, root, epsilon;

  template <int kCount>
  HBENCH_ON_BOTH Taken<kCount> take(std::size_t element) const {
    Taken<kCount> taken{load<float, kCount>(x + 4 * element), {}, {}};
    if constexpr (kHasA) taken.a = load<float, kCount>(a + 4 * element);
    if constexpr (kHasB) taken.b = load<float, kCount>(b + 4 * element);
    return taken;
  }
  template <int kCount>
  HBENCH_ON_BOTH void give(std::size_t element, Taken<kCount> taken) const {
    HBENCH_UNROLL
    for (int i = 0; i < kCount; ++i) taken.x.at[i] = changed(taken.x.at[i], taken.a.at[i], taken.b.at[i]);
    store(x + 4 * element, taken.x);
  }
  HBENCH_ON_BOTH float changed(float from, float first, float second) const {
    if constexpr (kind == Kind::multiply) return from * factor;
    if constexpr (kind == Kind::add) return from + factor * first;
    if constexpr (kind == Kind::add_product) return from + factor * first * second;
    return from + factor * first / (std::sqrt(second) / root + epsilon);
  }
};

/// buffer = value.
template <class Stored>
struct Fill {
  static constexpr int kGroup = 16 / sizeof(Stored);
  template <int kCount>
  struct Taken {};

  std::byte* buffer;
  Stored value;

  template <int kCount>
  HBENCH_ON_BOTH Taken<kCount> take(std::size_t) const {
    return {};
  }
  template <int kCount>
  HBENCH_ON_BOTH void give(std::size_t element, Taken<kCount>) const {
    Group<Stored, kCount> group;
    HBENCH_UNROLL
    for (int i = 0; i < kCount; ++i) group.at[i] = value;
    store(buffer + element * sizeof(Stored), group);
  }
};

/// Calls `run(work, extent)` for what hbench::accumulate does to `bytes` at these addresses.
template <class Run>
void with_accumulate(DataType type, ReduceOp op, const std::byte* in, std::byte* inout, std::size_t bytes, Run run) {
  with_element(type, [&]<class Element>(Element) {
    constexpr std::size_t kSize = sizeof(typename Element::Stored);
    const Side sides[] = {{in, kSize}, {inout, kSize}};
    const Extent extent = extent_of(bytes / kSize, 16 / kSize, sides);
    switch (op) {
      case ReduceOp::sum:
      case ReduceOp::average:
        return run(Accumulate<Element, ReduceOp::sum>{in, inout}, extent);
      case ReduceOp::min:
        return run(Accumulate<Element, ReduceOp::min>{in, inout}, extent);
      case ReduceOp::max:
        return run(Accumulate<Element, ReduceOp::max>{in, inout}, extent);
      case ReduceOp::product:
        return run(Accumulate<Element, ReduceOp::product>{in, inout}, extent);
    }
  });
}

/// The same for hbench::fill_neutral.
template <class Run>
void with_fill_neutral(DataType type, ReduceOp op, std::byte* buffer, std::size_t bytes, Run run) {
  with_element(type, [&]<class Element>(Element) {
    using Stored = typename Element::Stored;
    const Side sides[] = {{buffer, sizeof(Stored)}};
    const Extent extent = extent_of(bytes / sizeof(Stored), 16 / sizeof(Stored), sides);
    run(Fill<Stored>{buffer, Element::stored(neutral<typename Element::Value>(op))}, extent);
  });
}

/// The same for the division of hbench::finish, where there is one.
template <class Run>
void with_finish(DataType type, ReduceOp op, int workers, std::byte* buffer, std::size_t bytes, Run run) {
  if (op != ReduceOp::average || workers == 1) return;
  with_element(type, [&]<class Element>(Element) {
    constexpr std::size_t kSize = sizeof(typename Element::Stored);
    const Side sides[] = {{buffer, kSize}};
    run(Divide<Element>{buffer, Divisor(workers)}, extent_of(bytes / kSize, 16 / kSize, sides));
  });
}

/// The same for hbench::keep_rest.
template <class Run>
void with_keep_rest(const std::byte* whole, std::byte* part, std::size_t bytes, Run run) {
  const Side sides[] = {{whole, sizeof(float)}, {part, sizeof(float)}};
  run(KeepRest{whole, part}, extent_of(bytes / sizeof(float), KeepRest::kGroup, sides));
}

/// The same for hbench::change.
template <class Run>
void with_change(const NumbersChange& by, std::span<float> numbers, Run run) {
  using Kind = NumbersChange::Kind;
  const auto with = [&]<Kind kind>(std::integral_constant<Kind, kind>) {
    using Work = ChangeNumbers<kind>;
    const float* const x = numbers.data();
    const Side sides[] = {{x, sizeof(float)},
                          {Work::kHasA ? by.a.data() : x, sizeof(float)},
                          {Work::kHasB ? by.b.data() : x, sizeof(float)}};
    run(Work{reinterpret_cast<const std::byte*>(by.a.data()), reinterpret_cast<const std::byte*>(by.b.data()),
             reinterpret_cast<std::byte*>(numbers.data()), by.factor, by.root, by.epsilon},
        extent_of(numbers.size(), Work::kGroup, sides));
  };
  switch (by.kind) {
    case Kind::multiply:
      return with(std::integral_constant<Kind, Kind::multiply>());
    case Kind::add:
      return with(std::integral_constant<Kind, Kind::add>());
    case Kind::add_product:
      return with(std::integral_constant<Kind, Kind::add_product>());
    case Kind::add_ratio:
      return with(std::integral_constant<Kind, Kind::add_ratio>());
  }
}

}  // namespace hbench::cuda
