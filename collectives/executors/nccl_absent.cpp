#include "collectives/base/error.hpp"
#include "collectives/executors/nccl.hpp"

namespace hbench {

Availability nccl_availability() {
  return {false, "hbench was built without NCCL",
          "install NCCL with its header beside the CUDA toolkit and build again with -DHBENCH_WITH_NCCL=ON"};
}

std::string nccl_version() { return ""; }

namespace {

[[noreturn]] void throw_absent() {
  const Availability absent = nccl_availability();
  throw Error(ExitCode::environment, absent.reason, absent.cure);
}

}  // namespace

std::vector<std::unique_ptr<Endpoint>> make_nccl_endpoints(int) { throw_absent(); }

std::unique_ptr<Endpoint> make_nccl_endpoint(Endpoint&) { throw_absent(); }

}  // namespace hbench
