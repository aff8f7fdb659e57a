#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>

#include "bench/peers/peers.hpp"
#include "collectives/base/error.hpp"
#include "collectives/transport/host_place.hpp"

namespace hbench {
namespace {

// What an all-reduce needs of oneCCL's C API (`oneapi/ccl.h`, since 2022), which is that of NCCL with other names. It
// is declared here, so that oneCCL need not be there when this is built.
struct JobId {
  std::array<char, 4096> bytes;
};
using Handle = void*;
using Code = int;

/// The library's functions, loaded once.
struct OneCcl {
  Code (*version)(int* version) = nullptr;
  Code (*make_id)(JobId* id) = nullptr;
  Code (*connect)(Handle* communicator, std::size_t ranks, JobId id, int rank) = nullptr;
  Code (*all_reduce)(void* from, void* to, std::size_t count, int type, int op, Handle communicator,
                     void* stream) = nullptr;
  Code (*disconnect)(Handle communicator) = nullptr;
  const char* (*text)(Code code) = nullptr;
  bool complete = false;
};

OneCcl load() {
  OneCcl library;
  // By MPI, which is there already, and not by a provider of libfabric. Without a worker, as oneCCL decides itself
  // where the launcher gives a process one core: here it would share a core with the thread that waits for it, 10 ms a
  // call.
  setenv("CCL_ATL_TRANSPORT", "mpi", 0);
  setenv("CCL_WORKER_OFFLOAD", "0", 0);
  setenv("CCL_LOG_LEVEL", "error", 0);
  void* const file = dlopen("libccl.so.2", RTLD_NOW | RTLD_GLOBAL);
  if (file == nullptr) return library;
  const auto find = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(file, name));
    return function != nullptr;
  };
  library.complete = find("onecclGetVersion", library.version) && find("onecclGetUniqueId", library.make_id) &&
                     find("onecclCommInitRank", library.connect) && find("onecclAllReduce", library.all_reduce) &&
                     find("onecclCommDestroy", library.disconnect) && find("onecclGetErrorString", library.text);
  return library;
}

const OneCcl& oneccl() {
  static const OneCcl kLibrary = load();
  return kLibrary;
}

void succeed(Code code, std::string_view doing, ExitCode exit_code) {
  if (code != 0) throw Error(exit_code, fmt::format("oneCCL, {}: {}", doing, oneccl().text(code)));
}

std::string refuse(DataType type, ReduceOp) {
  if (type == DataType::float16 || type == DataType::bfloat16)
    return fmt::format("oneCCL is not asked for {}", entry_of(type).name);
  return {};
}

/// As oneCCL numbers them.
int number_of(DataType type) {
  switch (type) {
    case DataType::uint8:
      return 1;
    case DataType::int32:
      return 2;
    case DataType::int64:
      return 4;
    case DataType::float32:
      return 7;
    case DataType::float64:
      return 8;
    case DataType::float16:
    case DataType::bfloat16:
      break;
  }
  throw Error(ExitCode::usage, refuse(type, ReduceOp::sum));
}

int number_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::product:
      return 1;
    case ReduceOp::max:
      return 2;
    case ReduceOp::min:
      return 3;
    case ReduceOp::sum:
    case ReduceOp::average:
      break;
  }
  return 0;
}

class OneCclRanks final : public PeerLibraries {
 public:
  OneCclRanks(Transport& transport, Seconds timeout) : ranks_(transport.size()) {
    JobId id{};
    if (transport.rank() == 0) succeed(oneccl().make_id(&id), "beginning", ExitCode::environment);
    share_from_first(transport, std::as_writable_bytes(std::span(id.bytes)), timeout);
    succeed(oneccl().connect(&communicator_, static_cast<std::size_t>(ranks_), id, transport.rank()),
            "connecting the ranks", ExitCode::environment);
  }
  ~OneCclRanks() override { oneccl().disconnect(communicator_); }
  OneCclRanks(const OneCclRanks&) = delete;
  OneCclRanks& operator=(const OneCclRanks&) = delete;

  std::unique_ptr<Operation> make(std::string_view, const Operand& operand) override {
    const int type = number_of(operand.type), op = number_of(operand.op);
    return std::make_unique<BlockingAllReduce>(operand, ranks_, [=, this] {
      std::byte* const data = operand.buffer.data();
      succeed(oneccl().all_reduce(data, data, static_cast<std::size_t>(operand.elements()), type, op, communicator_,
                                  nullptr),
              "all-reduce", ExitCode::lost_rank);
    });
  }

 private:
  int ranks_;
  Handle communicator_ = nullptr;
};

/// `oneCCL 2022.2`
std::string name_with_version() {
  int version = 0;
  // oneCCL loads an MPI of MPICH's ABI, whose functions have the names of Open MPI's.
  if (mpi_library().starts_with("Open MPI") || !oneccl().complete || oneccl().version(&version) != 0) return "";
  return fmt::format("oneCCL {}.{}", version / 10000, version / 100 % 100);
}

}  // namespace

PeerSet oneccl_peers() {
  static const std::string kName = name_with_version();
  static const std::array kPeers{Peer{kName, "vendor", "oneCCL's all-reduce over MPI", refuse}};
  if (kName.empty()) return {};
  return {.peers = kPeers, .connect = [](Endpoint& endpoint, Seconds timeout) -> std::unique_ptr<PeerLibraries> {
            return std::make_unique<OneCclRanks>(endpoint.transport(), timeout);
          }};
}

}  // namespace hbench
