#pragma once

#include "collectives/executors/endpoint.hpp"

namespace hbench {

/// GPUs for ranks that are threads: rank r takes GPU r modulo their number. \pre `cuda_availability`
DeviceFactory cuda_device_factory();

}  // namespace hbench
