#include "bench/worker/memory_pass.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "collectives/arithmetic/arithmetic.hpp"
#include "collectives/base/file.hpp"

namespace hbench {
namespace {

/// Of all streams together, as `OnePass` claims it at once.
constexpr std::size_t kBlockBytes = 256 << 10;
constexpr std::size_t kCacheLine = 64;

/// `32768K` in bytes; 0 for what is none.
std::size_t size_of_text(const std::string& text) {
  std::size_t value = 0, digits = 0;
  for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits)
    value = 10 * value + static_cast<std::size_t>(text[digits] - '0');
  return text.substr(digits) == "K" ? value << 10 : text.substr(digits) == "M" ? value << 20 : value;
}

}  // namespace

void MemoryPass::read(std::span<std::byte> buffer, std::size_t streams) { pass(buffer, streams, false); }
void MemoryPass::rewrite(std::span<std::byte> buffer, std::size_t streams) { pass(buffer, streams, true); }

void MemoryPass::pass(std::span<std::byte> buffer, std::size_t streams, bool writes) {
  const std::size_t part = buffer.size() / streams / kCacheLine * kCacheLine;
  const std::size_t block = std::max(kBlockBytes / streams / kCacheLine, std::size_t{1}) * kCacheLine;
  small_.resize(block);
  std::vector<const std::byte*> sources(streams);
  std::vector<std::byte*> targets(writes ? streams : 1, small_.data());
  for (std::size_t begin = 0; begin < part; begin += block) {
    for (std::size_t stream = 0; stream < streams; ++stream) {
      sources[stream] = buffer.data() + stream * part + begin;
      if (writes) targets[stream] = buffer.data() + stream * part + begin;
    }
    combine(DataType::uint8, ReduceOp::sum, sources, targets, std::min(block, part - begin), 1);
  }
}

std::size_t last_level_cache_bytes(const std::filesystem::path& cpus) {
  // Cores that share a cache name it by the same list of cores. Deeper levels count, not the sum of all.
  std::map<int, std::set<std::pair<std::string, std::size_t>>> by_level;
  std::error_code status;
  for (const auto& cpu : std::filesystem::directory_iterator(cpus, status)) {
    if (!cpu.path().filename().string().starts_with("cpu")) continue;
    for (const auto& index : std::filesystem::directory_iterator(cpu.path() / "cache", status)) {
      const std::string level = first_line(index.path() / "level");
      if (level.empty() || level.find_first_not_of("0123456789") != std::string::npos) continue;
      by_level[std::stoi(level)].emplace(first_line(index.path() / "shared_cpu_list"),
                                         size_of_text(first_line(index.path() / "size")));
    }
  }
  std::size_t bytes = 0;
  if (!by_level.empty())
    for (const auto& [cores, size] : by_level.rbegin()->second) bytes += size;
  return bytes;
}

}  // namespace hbench
