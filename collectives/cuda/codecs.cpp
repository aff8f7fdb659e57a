#include "collectives/cuda/codecs.hpp"

#include <array>

namespace hbench {
namespace cuda {

extern const CudaCodec kBf16;
extern const CudaCodec kFp16;
extern const CudaCodec kInt4;
extern const CudaCodec kInt8;
extern const CudaCodec kMinMax8;
extern const CudaCodec kOneBit;
extern const CudaCodec kQsgd;
extern const CudaCodec kRandomK;
extern const CudaCodec kSign;
extern const CudaCodec kTopK;

namespace {

constexpr std::array kCodecs{&kFp16, &kBf16, &kInt4, &kInt8, &kMinMax8, &kOneBit, &kQsgd, &kRandomK, &kSign, &kTopK};

}  // namespace
}  // namespace cuda

std::span<const CudaCodec* const> cuda_codecs() { return cuda::kCodecs; }

const CudaCodec* find_cuda_codec(std::string_view compressor) {
  for (const CudaCodec* codec : cuda::kCodecs)
    if (codec->name == compressor) return codec;
  return nullptr;
}

}  // namespace hbench
