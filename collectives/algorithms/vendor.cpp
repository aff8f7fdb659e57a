#include "collectives/algorithms/algorithm.hpp"
#include "collectives/algorithms/peers.hpp"

namespace hbench {
namespace {

constexpr std::string_view kCitation =
    "MPI Forum, MPI: A Message-Passing Interface Standard, chapter Collective Communication";

constexpr Algorithm vendor(Goal goal, std::string_view summary) {
  return {.name = "vendor",
          .summary = summary,
          .citation = kCitation,
          .goal = goal,
          .refuses = refuse_servers,
          .build = nullptr,
          .shape = nullptr,
          .traffic = nullptr};
}

}  // namespace

extern const Algorithm kVendor;
constinit const Algorithm kVendor =
    vendor(Goal::all_reduce, "the MPI library's own MPI_Allreduce: opaque, so measured only");

extern const Algorithm kVendorReduceScatter;
constinit const Algorithm kVendorReduceScatter =
    vendor(Goal::reduce_scatter, "the MPI library's own MPI_Reduce_scatter: opaque, so measured only");

extern const Algorithm kVendorAllGather;
constinit const Algorithm kVendorAllGather =
    vendor(Goal::all_gather, "the MPI library's own MPI_Allgatherv: opaque, so measured only");

extern const Algorithm kVendorBroadcast;
constinit const Algorithm kVendorBroadcast =
    vendor(Goal::broadcast, "the MPI library's own MPI_Bcast: opaque, so measured only");

}  // namespace hbench
