#include "bench/frameworks/framework.hpp"

namespace hbench {

constexpr FrameworkSetting kSettings[] = {
    {.name = "yield",
     .summary = "Open MPI gives the core away while it waits",
     .variable = "OMPI_MCA_mpi_yield_when_idle",
     .value = "1"},
    {.name = "gloo", .summary = "over Gloo in the place of the MPI library, as horovodrun --gloo"}};

extern const Framework kHorovodFramework;
constinit const Framework kHorovodFramework{
    .name = "horovod",
    .summary = "Horovod on PyTorch, over the MPI library that starts its ranks",
    .script = "horovod_rank.py",
    .install =
        "apt-get install python3-torch python3-torchvision python3-dev pybind11-dev cmake libopenmpi-dev && "
        "HOROVOD_WITH_PYTORCH=1 HOROVOD_WITH_MPI=1 HOROVOD_WITH_GLOO=1 python3 -m pip install --no-build-isolation "
        "horovod",
    .preset = "horovod",
    .settings = kSettings,
};

}  // namespace hbench
