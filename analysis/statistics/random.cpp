#include "analysis/statistics/random.hpp"

namespace hbench {

std::uint64_t Random::next() {
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::size_t Random::below(std::size_t n) { return static_cast<std::size_t>(((next() >> 32) * n) >> 32); }

}  // namespace hbench
