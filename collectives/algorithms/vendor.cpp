#include "collectives/algorithms/algorithm.hpp"
#include "collectives/algorithms/peers.hpp"

namespace hbench {

extern const Algorithm kVendor;
constinit const Algorithm kVendor{
    .name = "vendor",
    .summary = "the MPI library's own MPI_Allreduce: opaque, so measured only",
    .citation = "MPI Forum, MPI: A Message-Passing Interface Standard, chapter Collective Communication",
    .refuses = refuse_servers,
    .build = nullptr,
    .cost = nullptr,
};

}  // namespace hbench
