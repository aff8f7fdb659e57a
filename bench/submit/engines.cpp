#include <array>

#include "bench/submit/engine.hpp"

namespace hbench {

extern const Engine kSlurmEngine, kKubernetesEngine, kSparkEngine;

namespace {
constexpr std::array kEngines{&kSlurmEngine, &kKubernetesEngine, &kSparkEngine};
}

std::span<const Engine* const> engines() { return kEngines; }

}  // namespace hbench
