#include "collectives/exchange/exchange_request.hpp"

namespace hbench {

ExchangeMemory::ExchangeMemory(const CompressorChoice& compressor, std::int64_t elements, std::uint64_t with_seed,
                               Device& on_device)
    : device(on_device), seed(with_seed), gradient(compressor.make_memory(elements, device)) {
  if (compressor.compressor->exchange == Exchange::low_rank)
    factors.emplace(make_low_rank_state(compressor, elements, seed, device));
}

}  // namespace hbench
