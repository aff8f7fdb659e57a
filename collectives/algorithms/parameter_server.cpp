#include <algorithm>

#include "collectives/algorithms/algorithm.hpp"

namespace hbench {
namespace {

std::string refuses(const World& world) {
  if (world.workers < 1) return "it needs at least 1 worker";
  if (world.servers < 1) return "it needs at least 1 parameter server";
  if (world.group < 1) return "a group has at least 1 worker";
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

/// What is worth a message of its own, in elements.
constexpr std::int64_t kLeastPiece = 4096;

/// Every chunk in up to `pieces` parts, so that as many workers of a group share the way to its server.
Layout in_pieces(const Layout& whole, int pieces) {
  if (pieces == 1) return whole;
  Layout layout;
  for (std::size_t chunk = 0; chunk < whole.server.size(); ++chunk) {
    if (whole.offsets.empty()) {
      layout.server.insert(layout.server.end(), static_cast<std::size_t>(pieces), whole.server[chunk]);
      continue;
    }
    if (layout.offsets.empty()) layout.offsets.push_back(0);
    const std::int64_t elements = whole.offsets[chunk + 1] - whole.offsets[chunk];
    const std::int64_t parts = std::clamp<std::int64_t>(elements / kLeastPiece, 1, pieces);
    for (std::int64_t part = 1; part <= parts; ++part) {
      layout.server.push_back(whole.server[chunk]);
      layout.offsets.push_back(whole.offsets[chunk] + elements * part / parts);
    }
  }
  return layout;
}

/// The transfers of one world and layout, phase by phase.
class Builder {
 public:
  Builder(const World& world, const Layout& layout) : world_(world), layout_(layout) {
    schedule_.world = world;
    schedule_.chunks = static_cast<int>(layout.server.size());
    schedule_.offsets = layout.offsets;
    groups_ = (world.workers + world.group - 1) / world.group;
  }

  /// Groups add up, push to the servers, take the sums back, spread them. A group that is alone with its servers needs
  /// none of them (BytePS reduces inside a single node without servers): its sums are what everybody wants.
  Schedule schedule() {
    within_groups(TransferKind::reduce);
    end_phase();
    if (!is_alone()) {
      push();
      end_phase();
      pull();
      end_phase();
    }
    within_groups(TransferKind::copy);
    end_phase();
    return std::move(schedule_);
  }

 private:
  bool is_alone() const { return groups_ == 1 && world_.colocated; }
  Rank server_of(int chunk) const { return world_.server_rank(layout_.server[static_cast<std::size_t>(chunk)]); }
  Rank first_of(int group) const { return group * world_.group; }
  Rank end_of(int group) const { return std::min(world_.workers, first_of(group) + world_.group); }

  /// Who of `group` adds up a chunk and talks to its server: the server itself where it is one of them.
  Rank leader(int group, int chunk) const {
    const Rank server = server_of(chunk);
    if (!is_alone() && server >= first_of(group) && server < end_of(group)) return server;
    return first_of(group) + chunk % (end_of(group) - first_of(group));
  }

  void add(Rank src, Rank dst, int chunk, TransferKind kind) {
    if (src != dst) schedule_.transfers.push_back({schedule_.rounds, src, dst, chunk, 1, kind});
  }

  /// A phase without transfers is no round.
  void end_phase() {
    if (schedule_.transfers.size() > sent_) ++schedule_.rounds;
    sent_ = schedule_.transfers.size();
  }

  void within_groups(TransferKind kind) {
    if (world_.group == 1) return;  // a worker alone has nobody to add up with
    for (int chunk = 0; chunk < schedule_.chunks; ++chunk)
      for (Rank worker = 0; worker < world_.workers; ++worker) {
        const Rank head = leader(worker / world_.group, chunk);
        kind == TransferKind::reduce ? add(worker, head, chunk, kind) : add(head, worker, chunk, kind);
      }
  }

  // Every group begins at another chunk and every chunk returns to another group first; otherwise all would queue
  // at one end while the others idle.
  void push() {
    for (int step = 0; step < schedule_.chunks; ++step)
      for (int group = 0; group < groups_; ++group) {
        const int chunk = (group + step) % schedule_.chunks;
        add(leader(group, chunk), server_of(chunk), chunk, TransferKind::reduce);
      }
  }

  void pull() {
    for (int step = 0; step < groups_; ++step)
      for (int chunk = 0; chunk < schedule_.chunks; ++chunk)
        add(server_of(chunk), leader((chunk + step) % groups_, chunk), chunk, TransferKind::copy);
  }

  const World& world_;
  const Layout& layout_;
  int groups_ = 0;
  std::size_t sent_ = 0;  ///< transfers of the phases that have ended
  Schedule schedule_;
};

Layout layout_of(const ScheduleRequest& request) {
  Layout layout = chunks_of(request.shards);
  if (layout.server.empty()) layout = even_split(request.world.servers);
  return in_pieces(layout, request.world.group);
}

Schedule build(const ScheduleRequest& request) {
  const Layout layout = layout_of(request);
  return Builder(request.world, layout).schedule();
}

/// Every chunk goes from every worker to its server and back, in two steps where groups add up; a worker that is the
/// server keeps its own. Where one group holds everybody and the servers, nothing leaves it.
Shape shape(const ScheduleRequest& request) {
  const World& world = request.world;
  const auto chunks = static_cast<int>(layout_of(request).server.size());
  const int within = world.group > 1 && world.workers > 1 ? 2 : 0;
  const int across = world.colocated && world.workers <= world.group ? 0 : 2;
  return {chunks, within + across, 2 * std::int64_t{chunks} * (world.workers - (world.colocated ? 1 : 0))};
}

/// A worker sends and receives all that it does not hold itself; a server what it holds, once per other worker.
Traffic traffic(const ScheduleRequest& request, const Cut& cut, Rank rank) {
  const World& world = request.world;
  std::int64_t elements = 0;
  for (int server = 0; server < world.servers; ++server) {
    const bool holds = world.server_rank(server) == rank;
    const bool works = rank < world.workers;
    const int messages = holds ? world.workers - (works ? 1 : 0) : (works ? 1 : 0);
    elements += messages * cut.size(server);
  }
  return {elements, elements};
}

}  // namespace

extern constinit const Algorithm kParameterServer{
    .name = "ps",
    .summary = "synchronous parameter servers: workers push gradients, servers add them and send the sums back",
    .citation = "Li et al., Scaling Distributed Machine Learning with the Parameter Server, OSDI 2014",
    .uses_servers = true,
    .concurrent = true,
    .refuses = refuses,
    .build = build,
    .shape = shape,
    .traffic = traffic,
};

}  // namespace hbench
