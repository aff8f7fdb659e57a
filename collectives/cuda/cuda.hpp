#pragma once

/// GPUs by CUDA, for code that does not include CUDA's headers. Without it in the build: `cuda_absent.cpp`.
///
/// A process that has called any of these must not fork ranks that use CUDA: the driver does not survive a fork.

#include <memory>
#include <string>
#include <vector>

#include "collectives/base/library.hpp"
#include "collectives/compressors/compressor.hpp"
#include "collectives/device/device.hpp"

namespace hbench {

/// Whether GPUs can be used here. Asks the driver; never throws.
Availability cuda_availability();

/// GPUs that this process sees; 0 where they cannot be used.
int cuda_devices();

/// Memory and one queue of work of GPU `gpu`, in 0 ... cuda_devices() - 1. Several may share a GPU, each used by a
/// thread of its own, and reach each other's memory; that of other GPUs, where the hardware lets them. Its memory may
/// outlive it. \throws Error (usage) for a GPU that is not there, (environment) where it cannot be used.
std::unique_ptr<Device> make_cuda_device(int gpu);
/// The same on the GPU's default stream, where libraries that were given no stream (LibTorch) enqueue their work.
std::unique_ptr<Device> make_default_cuda_device(int gpu);

/// Where the ranks of this host work: on GPU `rank` modulo their number; 0 where there is none.
int gpu_of(Rank rank);

/// Lets kernels of each of the first `gpus` GPUs use the memory of the others. \throws Error (environment) where the
/// hardware cannot.
void join_gpus(int gpus);

/// Of the CUDA that was built in: `13.0`; empty without. Does not ask the driver.
std::string cuda_runtime_version();

/// Where the GPU of a device is plugged in, as `driver_facts` names it: `0000:1b:00.0`; empty for other devices, and
/// where CUDA does not report it.
std::string pci_address_of(Device& device);
/// Of the GPUs that this process sees, in CUDA's order.
std::vector<std::string> cuda_pci_addresses();

/// Whether the devices of `make_cuda_device` have what an exchange with this compressor needs.
bool cuda_compresses(const Compressor& compressor);
/// Why a compressor cannot be used where data lie on a GPU, for a person; empty where it can.
std::string refuse_on_gpu(const CompressorChoice& compressor);

}  // namespace hbench
