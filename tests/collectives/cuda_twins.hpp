#pragma once

/// The kernels of codecs, as grids that run on the host thread by thread.

#include <cstddef>
#include <string_view>

#include "collectives/compressors/compressor.hpp"

namespace hbench::support {

struct CodecTwin {
  std::string_view compressor;
  void (*encode)(const CompressorChoice& choice, const std::byte* floats, std::size_t elements, std::byte* wire);
  void (*decode)(const CompressorChoice& choice, const std::byte* wire, bool add, std::byte* floats,
                 std::size_t elements);
};

/// Fails where there is none.
const CodecTwin& twin_of(std::string_view compressor);

}  // namespace hbench::support
