#include <algorithm>

#include "collectives/algorithms/algorithm.hpp"

namespace hbench {
namespace {

std::string refuses(const World& world) {
  if (world.workers < 1) return "it needs at least 1 worker";
  if (world.servers < 1) return "it needs at least 1 parameter server";
  return {};
}

/// What the servers hold: chunk c lives on `server[c]`. `offsets` as in `Schedule`.
struct Layout {
  std::vector<int> server;
  std::vector<std::int64_t> offsets;
};

Layout even_split(int servers) {
  Layout layout;
  for (int server = 0; server < servers; ++server) layout.server.push_back(server);
  return layout;
}

/// One chunk per run of shards on one server: what lies side by side travels as one message.
Layout chunks_of(std::span<const Shard> shards) {
  Layout layout;
  layout.offsets.push_back(0);
  for (const Shard& shard : shards) {
    if (shard.elements == 0) continue;
    const std::int64_t end = layout.offsets.back() + shard.elements;
    if (!layout.server.empty() && layout.server.back() == shard.server) {
      layout.offsets.back() = end;
    } else {
      layout.server.push_back(shard.server);
      layout.offsets.push_back(end);
    }
  }
  return layout;
}

/// Workers push every chunk to its server, which adds them up; then each server sends the sums back.
Schedule build(const World& world, std::span<const Shard> shards) {
  Layout layout = chunks_of(shards);
  if (layout.server.empty()) layout = even_split(world.servers);
  const int chunks = static_cast<int>(layout.server.size());
  const int workers = world.workers;
  Schedule schedule{.world = world, .chunks = chunks, .rounds = 0, .transfers = {}, .offsets = layout.offsets};
  const auto server_of = [&](int chunk) { return world.server_rank(layout.server[static_cast<std::size_t>(chunk)]); };
  // Every worker begins at another chunk and every chunk returns to another worker first; otherwise all would
  // queue at one end while the others idle.
  for (int step = 0; step < chunks; ++step)
    for (Rank worker = 0; worker < workers; ++worker) {
      const int chunk = (worker + step) % chunks;
      if (server_of(chunk) == worker) continue;  // its own contribution is there already
      schedule.transfers.push_back({0, worker, server_of(chunk), chunk, 1, TransferKind::reduce});
    }
  for (int step = 0; step < workers; ++step)
    for (int chunk = 0; chunk < chunks; ++chunk) {
      const Rank worker = (chunk + step) % workers;
      if (server_of(chunk) == worker) continue;
      schedule.transfers.push_back({1, server_of(chunk), worker, chunk, 1, TransferKind::copy});
    }
  schedule.rounds = schedule.transfers.empty() ? 0 : 2;
  return schedule;
}

/// A worker sends and receives all it has not got itself, a server what it holds once per other worker.
Cost cost(const World& world, std::int64_t elements) {
  const std::int64_t servers = world.servers;
  const std::int64_t workers = world.workers;
  if (world.colocated && workers == 1) return {};
  // The first rank that serves holds the longest chunks, and the most of them where servers share ranks.
  const std::int64_t held_chunks = world.colocated ? (servers + workers - 1) / workers : 1;
  const std::int64_t held = held_chunks * (elements / servers) + std::min(held_chunks, elements % servers);
  const std::int64_t busiest =
      world.colocated ? (elements - held) + held * (workers - 1) : std::max(elements, held * workers);
  return {.rounds = 2, .sent = busiest, .received = busiest};
}

}  // namespace

extern const Algorithm kParameterServer;
constinit const Algorithm kParameterServer{
    .name = "ps",
    .summary = "synchronous parameter servers: workers push gradients, servers add them and send the sums back",
    .citation = "Li et al., Scaling Distributed Machine Learning with the Parameter Server, OSDI 2014",
    .uses_servers = true,
    .concurrent = true,
    .refuses = refuses,
    .build = build,
    .cost = cost,
};

}  // namespace hbench
