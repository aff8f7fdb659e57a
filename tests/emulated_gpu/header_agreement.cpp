// Our headers of CUDA and NCCL against NVIDIA's: compiled with ours always, and with NVIDIA's where they are
// found. The functions' signatures are compared by compiling the emulator's own sources with both.

#include <cuda_runtime_api.h>
#include <nccl.h>

#include <cstddef>

static_assert(CUDART_VERSION >= 12000);

static_assert(cudaSuccess == 0 && cudaErrorInvalidValue == 1 && cudaErrorMemoryAllocation == 2);
static_assert(cudaErrorInitializationError == 3 && cudaErrorInvalidConfiguration == 9);
static_assert(cudaErrorInsufficientDriver == 35 && cudaErrorDevicesUnavailable == 46 && cudaErrorNoDevice == 100);
static_assert(cudaErrorInvalidDevice == 101 && cudaErrorNoKernelImageForDevice == 209);
static_assert(cudaErrorUnsupportedPtxVersion == 222 && cudaErrorInvalidResourceHandle == 400);
static_assert(cudaErrorNotReady == 600 && cudaErrorIllegalAddress == 700);
static_assert(cudaErrorPeerAccessAlreadyEnabled == 704 && cudaErrorMisalignedAddress == 716);
static_assert(cudaErrorLaunchFailure == 719);

static_assert(cudaStreamNonBlocking == 1 && cudaEventDefault == 0 && cudaEventDisableTiming == 2);
static_assert(cudaIpcMemLazyEnablePeerAccess == 1 && cudaDevAttrMultiProcessorCount == 16);
static_assert(cudaMemcpyHostToHost == 0 && cudaMemcpyHostToDevice == 1 && cudaMemcpyDeviceToHost == 2);
static_assert(cudaMemcpyDeviceToDevice == 3 && cudaMemcpyDefault == 4);
static_assert(cudaMemPoolAttrReleaseThreshold == 4 && cudaMemLocationTypeDevice == 1);
static_assert(cudaMemAccessFlagsProtReadWrite == 3);

static_assert(sizeof(cudaIpcMemHandle_t) == 64 && sizeof(cudaMemLocation) == 8);
static_assert(sizeof(cudaMemAccessDesc) == 12 && offsetof(cudaMemAccessDesc, flags) == 8);
static_assert(sizeof(uint2) == 8 && alignof(uint2) == 8 && sizeof(uint4) == 16 && alignof(uint4) == 16);
static_assert(sizeof(uint3) == 12 && sizeof(dim3) == 12);

static_assert(NCCL_VERSION(2, 30, 0) == 23000 && sizeof(ncclUniqueId) == 128);
static_assert(ncclSuccess == 0 && ncclUnhandledCudaError == 1 && ncclSystemError == 2 && ncclInternalError == 3);
static_assert(ncclInvalidArgument == 4 && ncclInvalidUsage == 5 && ncclRemoteError == 6 && ncclInProgress == 7);
static_assert(ncclSum == 0 && ncclProd == 1 && ncclMax == 2 && ncclMin == 3 && ncclAvg == 4);
static_assert(ncclInt8 == 0 && ncclUint8 == 1 && ncclInt32 == 2 && ncclUint32 == 3 && ncclInt64 == 4);
static_assert(ncclUint64 == 5 && ncclFloat16 == 6 && ncclFloat32 == 7 && ncclFloat64 == 8 && ncclBfloat16 == 9);
