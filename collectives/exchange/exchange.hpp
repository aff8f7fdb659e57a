#pragma once

/// Collectives with any algorithm, compressor, type and operation: the one way to make one.

#include <memory>
#include <string>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/compressors/compressor.hpp"
#include "collectives/endpoints/endpoint.hpp"
#include "collectives/exchange/exchange_request.hpp"

namespace hbench {

/// Returns why this combination is invalid, for a person; an empty string when it is valid. Whether the transport can
/// do it (a vendor collective between threads, say) is checked by its endpoint.
std::string refuse_exchange(const AlgorithmChoice& algorithm, const CompressorChoice& compressor, DataType type,
                            ReduceOp op, const World& world);

/// Why `device` cannot do what the compressor needs, for a person; empty when it can.
std::string refuse_device(Device& device, const CompressorChoice& compressor);

/// Returns the elements of a buffer of `elements` that the rank of a `place` in its group is left with by a
/// reduce-scatter, or brings to an all-gather, of an exchange with as many segments as the algorithm says. \pre a
/// vendor's library gets equal parts.
ElementRange part_of_place(Endpoint& endpoint, const AlgorithmChoice& algorithm, const World& world,
                           const RankGroups& groups, std::int64_t elements, int place);
/// Returns that of this rank.
ElementRange own_part(Endpoint& endpoint, const AlgorithmChoice& algorithm, const World& world,
                      const RankGroups& groups, std::span<const float> buffer);

/// This rank's part of the collective; nothing moves before the first `progress`. All ranks prepare their exchanges in
/// the same order. The operand's memory outlives the operation. Every worker ends with the same bits. Where the operand
/// is on a device that does its work later, everything is enqueued there, and nothing waits for it. \throws Error
/// (usage) for what `refuse_exchange` or `refuse_device` refuses, and for operands that do not fit.
std::unique_ptr<Operation> prepare_exchange(Endpoint& endpoint, const ExchangeRequest& request);

}  // namespace hbench
