#include "collectives/algorithms/algorithm.hpp"
#include "collectives/algorithms/compose.hpp"

// Why segments: in the plain ring a rank has one message in flight, and cannot send the next one before the one that it
// receives has come to its end. The wire idles for a latency and a wake-up in every one of 2(P-1) rounds. Here S rings
// follow each other one round apart, so that the message of a round depends on one that came S rounds earlier: while
// segment s is on the wire, segments s+1 .. s+S-1 are ready to be posted behind it, and the wire never waits as long as
// a latency is shorter than S-1 segments.
//
// One segment per round, not all S in one: the order says which message is needed first, and an executor that
// keeps several rounds in flight (each begins as soon as its own data are there) needs no more. An executor that ends
// each round before it begins the next gains nothing from any numbering: around a cycle of ranks that all send as much
// as they receive, nobody has received a round before its own messages of that round have left. More segments cost a
// message's fixed price each, hence about 256 KiB, and at least four, so that three are in reserve.

namespace hbench {

extern const Algorithm kRing;
extern const Algorithm kRingReduceScatter;
extern const Algorithm kRingAllGather;

namespace {

constexpr std::string_view kCitation =
    "Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, J. Parallel Distrib. "
    "Comput. 69(2), 2009; segments as in Chan, Heimlich, Purkayastha and van de Geijn, Collective communication: "
    "theory, practice, and experience, Concurrency Comput. Pract. Exper. 19(13), 2007";

constexpr std::int64_t kSegmentBytes = 256 * 1024;
constexpr int kFewest = 4;
constexpr int kMost = 64;

int segments(const World& world, std::int64_t bytes) {
  return segments_of(bytes / world.workers, kSegmentBytes, kFewest, kMost);
}

template <const Algorithm& kPlain>
Schedule build(const ScheduleRequest& request) {
  return pipelined(kPlain.build(request), request.segments, request.segments);
}

template <const Algorithm& kPlain>
Shape shape(const ScheduleRequest& request) {
  Shape all = kPlain.shape(request);
  all.chunks *= request.segments;
  all.rounds *= request.segments;
  all.transfers *= request.segments;
  all.runs = 0;
  return all;
}

/// What the ring moves whose chunks are these chunks' runs.
template <const Algorithm& kPlain>
Traffic traffic(const ScheduleRequest& request, const Cut& cut, Rank rank) {
  return kPlain.traffic(request, cut.part(0, request.world.workers, request.segments), rank);
}

}  // namespace

extern constinit const Algorithm kSegmentedRingReduceScatter{
    .name = "ring-segmented",
    .summary = "the ring with each part in S segments, so that the next is in flight while one is received",
    .citation = kCitation,
    .collective = CollectiveKind::reduce_scatter,
    .refuses = refuse_servers,
    .build = build<kRingReduceScatter>,
    .shape = shape<kRingReduceScatter>,
    .traffic = traffic<kRingReduceScatter>,
    .segments = segments,
};

extern constinit const Algorithm kSegmentedRingAllGather{
    .name = "ring-segmented",
    .summary = "the ring with each part in S segments, so that the next is in flight while one is received",
    .citation = kCitation,
    .collective = CollectiveKind::all_gather,
    .refuses = refuse_servers,
    .build = build<kRingAllGather>,
    .shape = shape<kRingAllGather>,
    .traffic = traffic<kRingAllGather>,
    .segments = segments,
};

extern constinit const Algorithm kSegmentedRing{
    .name = "ring-segmented",
    .summary = "the ring with each part in S segments, so that the next is in flight while one is received",
    .citation = kCitation,
    .refuses = refuse_servers,
    .build = build<kRing>,
    .shape = shape<kRing>,
    .traffic = traffic<kRing>,
    .segments = segments,
    .reduce_scatter = &kSegmentedRingReduceScatter,
    .all_gather = &kSegmentedRingAllGather,
};

}  // namespace hbench
