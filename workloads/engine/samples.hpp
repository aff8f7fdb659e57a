#pragma once

/// Synthetic training data: sample `index` of a job is the same wherever it is made, so that P workers with
/// a batch of B see together what one worker with a batch of P x B sees.

#include <cstdint>
#include <span>

namespace hbench {

/// Pixels: uniform with mean 0 and variance 1.
void fill_image(std::uint64_t seed, std::uint64_t index, std::span<float> pixels);
/// Tokens: whole numbers from 0 to below `vocabulary`, each as likely.
void fill_tokens(std::uint64_t seed, std::uint64_t index, std::span<std::int64_t> tokens, std::int64_t vocabulary);
/// A class, from 0.
std::int64_t label_of(std::uint64_t seed, std::uint64_t index, int classes);

}  // namespace hbench
