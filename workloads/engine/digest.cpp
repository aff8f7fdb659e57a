#include "workloads/engine/digest.hpp"

#include <fmt/format.h>

#include "collectives/base/error.hpp"
#include "workloads/engine/messages.hpp"

namespace hbench {
namespace {

constexpr std::string_view kWhat = "comparing the parameters of all workers";

template <class T>
T receive(Transport& transport, Rank from, Seconds timeout) {
  T value{};
  receive_now(transport, from, kDigestTag, as_message(value), timeout, kWhat);
  return value;
}

/// The first worker with another digest than rank 0's, or 0: rank 0's finding, which it sends to all.
std::int32_t find_different(std::uint64_t own, const TrainingRequest& request, Transport& transport) {
  Outbox outbox(transport);
  std::int32_t different = 0;
  if (transport.rank() != 0) {
    outbox.send(0, kDigestTag, own);
    different = receive<std::int32_t>(transport, 0, request.timeout);
  } else {
    for (Rank worker = request.world.workers - 1; worker > 0; --worker) {
      if (receive<std::uint64_t>(transport, worker, request.timeout) != own) different = worker;
    }
    for (Rank worker = 1; worker < request.world.workers; ++worker) outbox.send(worker, kDigestTag, different);
  }
  flush(outbox, request.timeout, kWhat);
  return different;
}

}  // namespace

void compare_digests(std::uint64_t own, const TrainingRequest& request, Transport& transport) {
  const std::int32_t different = find_different(own, request, transport);
  if (different == 0) return;
  throw Error(ExitCode::wrong_data,
              fmt::format("after training, the parameters of rank {} differ from those of rank 0", different),
              "the gradients were not reduced alike on all workers: the measured times mean nothing");
}

}  // namespace hbench
