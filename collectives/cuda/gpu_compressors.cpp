#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "collectives/cuda/cuda.hpp"

namespace hbench {
namespace {

bool compresses(const Compressor& compressor) { return compressor.memory_traffic > 0 && cuda_compresses(compressor); }

std::string those_that_have() {
  std::vector<std::string_view> names;
  for (const Compressor* compressor : compressors())
    if (compresses(*compressor)) names.push_back(compressor->name);
  return names.empty() ? "none has" : fmt::format("these have: {}", fmt::join(names, ", "));
}

}  // namespace

std::string refuse_on_gpu(const CompressorChoice& choice) {
  if (choice.verbatim() || compresses(*choice.compressor)) return {};
  return fmt::format("{} has no kernels for a GPU; {}", choice.compressor->name, those_that_have());
}

std::string refuse_by_nccl(const CompressorChoice& choice) {
  const bool messages = choice.both_sides || choice.compressor->exchange == Exchange::per_hop;
  if (choice.verbatim() || !messages) return refuse_on_gpu(choice);
  return fmt::format(
      "{} encodes every message, and NCCL's are sent as they are; the executor cuda has messages of ours",
      choice.text());
}

}  // namespace hbench
