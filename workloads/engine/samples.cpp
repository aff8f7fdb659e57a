#include "workloads/engine/samples.hpp"

namespace hbench {
namespace {

/// SplitMix64: Steele, Lea and Flood, Fast splittable pseudorandom number generators, OOPSLA 2014.
class Stream {
 public:
  Stream(std::uint64_t seed, std::uint64_t index) : state_(seed * 0xd1342543de82ef95U + index) { next(); }

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

constexpr float kHalfWidth = 1.7320508F;  // sqrt(3): variance 1

}  // namespace

void fill_image(std::uint64_t seed, std::uint64_t index, std::span<float> pixels) {
  // Labels use stream 2 * index + 1.
  Stream stream(Stream(seed, 2 * index).next(), 0);
  for (float& pixel : pixels) {
    const float unit = static_cast<float>(stream.next() >> 40) * 0x1p-24F;
    pixel = (2 * unit - 1) * kHalfWidth;
  }
}

void fill_tokens(std::uint64_t seed, std::uint64_t index, std::span<std::int64_t> tokens, std::int64_t vocabulary) {
  Stream stream(Stream(seed, 2 * index).next(), 0);
  for (std::int64_t& token : tokens)
    token = static_cast<std::int64_t>(stream.next() % static_cast<std::uint64_t>(vocabulary));
}

std::int64_t label_of(std::uint64_t seed, std::uint64_t index, int classes) {
  return static_cast<std::int64_t>(Stream(seed, 2 * index + 1).next() % static_cast<std::uint64_t>(classes));
}

}  // namespace hbench
