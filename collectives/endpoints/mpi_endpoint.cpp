#include <algorithm>
#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>

#include "collectives/base/error.hpp"
#include "collectives/endpoints/endpoint.hpp"
#include "collectives/transport/mpi_support.hpp"

namespace hbench {
namespace {

/// MPI from initialisation to finalisation. Does neither where MPI was initialised before.
class Session {
 public:
  Session() {
    int initialised = 0;
    MPI_Initialized(&initialised);
    if (initialised != 0) return;
    int level = MPI_THREAD_SINGLE;
    succeed(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread");
    ours_ = true;
    if (level < MPI_THREAD_SERIALIZED) {
      throw Error(ExitCode::environment, "this MPI does not let several threads take turns (MPI_THREAD_SERIALIZED)",
                  "use an MPI that was built with thread support");
    }
  }

  /// Does not finalise while an exception is in flight: finalising waits for all ranks, and would hide why this one
  /// fails. The launcher ends the others.
  ~Session() {
    if (ours_ && std::uncaught_exceptions() == 0) MPI_Finalize();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

 private:
  bool ours_ = false;
};

/// A communicator of our own, so that our tags match no messages of other libraries.
class Communicator {
 public:
  Communicator() {
    succeed(MPI_Comm_dup(MPI_COMM_WORLD, &handle_), "MPI_Comm_dup");
    succeed(MPI_Comm_set_errhandler(handle_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }
  ~Communicator() {
    if (std::uncaught_exceptions() == 0) MPI_Comm_free(&handle_);
  }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  MPI_Comm handle() const { return handle_; }

 private:
  MPI_Comm handle_ = MPI_COMM_NULL;
};

class MpiEndpoint final : public Endpoint {
 public:
  Transport& transport() override { return *transport_; }

  std::unique_ptr<Operation> vendor(CollectiveKind collective, const Operand& operand) override {
    return make_mpi_vendor(communicator_.handle(), collective, operand);
  }

  [[noreturn]] void abort(int exit_code) override {
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    std::abort();
  }

 private:
  Session session_;
  Communicator communicator_;
  std::unique_ptr<Transport> transport_ = make_mpi_transport(communicator_.handle());
};

}  // namespace

Availability mpi_availability() { return {}; }

std::string mpi_library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = {};
  int length = 0;
  if (MPI_Get_library_version(text, &length) != MPI_SUCCESS) return "";
  // Open MPI goes on with who packed it, MPICH with tabs and how it was configured.
  const std::string_view whole(text, static_cast<std::size_t>(length));
  std::string first(whole.substr(0, whole.find_first_of(",\n")));
  std::ranges::replace(first, '\t', ' ');
  return first;
}

std::unique_ptr<Endpoint> make_mpi_endpoint() { return std::make_unique<MpiEndpoint>(); }

}  // namespace hbench
