#pragma once

/// Small messages between processes of one machine by Unix sockets, whatever networks these are in: the control
/// messages of an emulation. Frameworks negotiate on connections of their own, and not behind the gradients of an MPI
/// library's queues.

#include <functional>
#include <memory>
#include <string>

#include "collectives/transport/transport.hpp"

namespace hbench {

/// One rank's end. Sockets have abstract names, `name` and the rank, in the network namespace that the calling thread
/// is in now: there all ranks must be when they make theirs, and no other job of that name. A message is there for its
/// receiver `delay(sender)` after it was sent. Nothing is lost: what the receiver has no room for waits with its
/// sender. \throws Error (environment) where there is no such socket to be had.
std::unique_ptr<Transport> make_local_transport(const std::string& name, Rank rank, int size,
                                                std::function<Seconds(Rank from)> delay);

}  // namespace hbench
