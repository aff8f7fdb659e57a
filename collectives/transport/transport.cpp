#include "collectives/transport/transport.hpp"

#include <fmt/format.h>

#include "collectives/base/error.hpp"

namespace hbench {

void refuse_length(Rank from, Rank to, std::optional<std::size_t> got, std::size_t expected) {
  const std::string sent = got ? fmt::format("{} bytes", *got) : std::string("more");
  throw Error(ExitCode::wrong_data,
              fmt::format("rank {} sent {} to rank {}, which expects {} bytes", from, sent, to, expected),
              "give every rank a buffer of the same size, type and compressor");
}

}  // namespace hbench
