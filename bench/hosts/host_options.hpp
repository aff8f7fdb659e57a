#pragma once

#include <array>
#include <string>

#include "bench/command/arguments.hpp"
#include "bench/launch/allocation.hpp"

namespace hbench {

/// What people say of hosts.
struct HostOptions {
  HostFlags named;
  std::string network;  ///< as `Job::network`
};

/// `-H`, `--hostfile`, `--network-interface`, `--launcher` and `--expect-hosts`, of which the first two exclude each
/// other. `options` outlives `app`.
std::array<Option*, 5> add_host_options(Arguments& app, HostOptions& options);

}  // namespace hbench
