// Lossy exchanges of ranks on a GPU against those in host memory; skipped, with the reason, where there is none.

#include <set>
#include <string>

#include "collectives/cuda/cuda_endpoints.hpp"
#include "tests/collectives/cuda_device.hpp"
#include "tests/collectives/exchanged.hpp"

namespace hbench::cuda_exchange_test {
namespace {

using namespace hbench::support;  // NOLINT(google-build-using-namespace)

class CudaExchanges : public OnGpu {};

std::vector<std::byte> content(Device& device, std::span<const std::byte> buffer) {
  std::vector<std::byte> bytes(buffer.size());
  device.read(buffer, bytes);
  return bytes;
}

/// |found - right| / |right|.
double relative_error(std::span<const std::byte> found, std::span<const std::byte> right) {
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < right.size() / sizeof(float); ++i) {
    const double difference = as_floats(found)[i] - as_floats(right)[i];
    error += difference * difference;
    norm += static_cast<double>(as_floats(right)[i]) * as_floats(right)[i];
  }
  return norm > 0 ? std::sqrt(error / norm) : error;
}

TEST_F(CudaExchanges, EndAsThoseInHostMemoryDo) {
  for (const int ranks : {1, 2, 3, 4}) {
    Endpoints gpu = make_cuda_endpoints(ranks), host = make_thread_endpoints(ranks);
    std::set<std::string> emulated;
    for (Case c : compressed_in_every_form(ranks)) {
      if (!cuda_compresses(*c.compressor.compressor) || c.algorithm.algorithm->collective != CollectiveKind::all_reduce)
        continue;
      // Making columns orthonormal has a thousand threads meet hundreds of times, whatever moves them then.
      if (kEmulatedGpu && c.compressor.compressor->exchange == Exchange::low_rank &&
          !emulated.insert(c.compressor.text()).second)
        continue;
      c.elements = static_cast<std::int64_t>(emulated_share(8, 10'007));
      SCOPED_TRACE(c.name());
      const Results found = exchanged(gpu, c, content), right = exchanged(host, c, content);
      if (c.compressor.compressor->exchange != Exchange::low_rank) {
        ASSERT_EQ(found, right);
        continue;
      }
      // Products are added up in another order. On the host, with sums of doubles instead, three steps differ by 7e-7.
      for (const auto& worker : found) {
        ASSERT_EQ(worker, found[0]);
        for (std::size_t step = 0; step < worker.size(); ++step)
          ASSERT_LT(relative_error(worker[step], right[0][step]), 1e-5);
      }
    }
  }
}

}  // namespace
}  // namespace hbench::cuda_exchange_test
