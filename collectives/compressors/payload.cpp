#include "collectives/compressors/payload.hpp"

#include <fmt/format.h>

#include "collectives/base/error.hpp"

namespace hbench {

void refuse_payload(const char* why) {
  throw Error(ExitCode::wrong_data, fmt::format("a compressed gradient is damaged: {}", why),
              "all ranks must run the same program with the same compressor; else the network damages data");
}

void expect_size(std::span<const std::byte> in, std::int64_t bytes) {
  if (std::ssize(in) != bytes)
    refuse_payload(fmt::format("it has {} bytes, and should have {}", in.size(), bytes).c_str());
}

}  // namespace hbench
