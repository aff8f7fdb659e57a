#include "collectives/algorithms/algorithm.hpp"
#include "collectives/algorithms/compose.hpp"

namespace hbench {
namespace {

constexpr std::string_view kCitation =
    "MPI Forum, MPI: A Message-Passing Interface Standard, chapter Collective Communication";

constexpr Algorithm vendor(CollectiveKind collective, std::string_view summary) {
  return {.name = "vendor",
          .summary = summary,
          .citation = kCitation,
          .collective = collective,
          .refuses = refuse_servers,
          .build = nullptr,
          .shape = nullptr,
          .traffic = nullptr};
}

}  // namespace

extern constinit const Algorithm kVendor =
    vendor(CollectiveKind::all_reduce,
           "the MPI library's own MPI_Allreduce, or NCCL's: measured, and on a cluster by a model of NCCL's");

extern constinit const Algorithm kVendorReduceScatter =
    vendor(CollectiveKind::reduce_scatter,
           "the MPI library's own MPI_Reduce_scatter, or NCCL's: measured, and on a cluster by a model of NCCL's");

extern constinit const Algorithm kVendorAllGather =
    vendor(CollectiveKind::all_gather,
           "the MPI library's own MPI_Allgatherv, or NCCL's: measured, and on a cluster by a model of NCCL's");

extern constinit const Algorithm kVendorBroadcast =
    vendor(CollectiveKind::broadcast,
           "the MPI library's own MPI_Bcast, or NCCL's: measured, and on a cluster by a model of NCCL's");

}  // namespace hbench
