#include <fmt/format.h>
#include <mpi.h>

#include <climits>
#include <cstdlib>
#include <exception>

#include "collectives/base/error.hpp"
#include "collectives/base/units_text.hpp"
#include "collectives/executors/endpoint.hpp"

namespace hbench {
namespace {

/// \throws Error when an MPI call has failed.
void succeed(int code, std::string_view what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(ExitCode::lost_rank, fmt::format("{} failed: {}", what, std::string_view(text, length)),
              "see what the other ranks said last");
}

/// MPI counts in `int`.
int count_of(std::size_t count, Bytes size) {
  if (count > INT_MAX) {
    throw Error(ExitCode::usage, fmt::format("{} in one message are more than MPI takes", format(size)),
                "choose smaller buckets, or an algorithm that cuts them into more parts");
  }
  return static_cast<int>(count);
}

class MpiTransport final : public Transport {
 public:
  explicit MpiTransport(MPI_Comm communicator) : communicator_(communicator) {
    succeed(MPI_Comm_rank(communicator_, &rank_), "MPI_Comm_rank");
    succeed(MPI_Comm_size(communicator_, &size_), "MPI_Comm_size");
  }

  Rank rank() const override { return rank_; }
  int size() const override { return size_; }

  Request send(Rank to, int tag, std::span<const std::byte> payload) override {
    const int count = bytes_of(payload.size());
    MPI_Request request = MPI_REQUEST_NULL;
    succeed(MPI_Isend(payload.data(), count, MPI_BYTE, to, tag, communicator_, &request), "MPI_Isend");
    return keep(request);
  }

  Request receive(Rank from, int tag, std::span<std::byte> payload) override {
    const int count = bytes_of(payload.size());
    MPI_Request request = MPI_REQUEST_NULL;
    succeed(MPI_Irecv(payload.data(), count, MPI_BYTE, from, tag, communicator_, &request), "MPI_Irecv");
    return keep(request);
  }

  bool test(Request request) override {
    int done = 0;
    succeed(MPI_Test(&requests_[request], &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) free_.push_back(request);
    return done != 0;
  }

  void cancel(Request request) override {
    MPI_Cancel(&requests_[request]);
    MPI_Request_free(&requests_[request]);
    free_.push_back(request);
  }

 private:
  static int bytes_of(std::size_t size) { return count_of(size, Bytes(static_cast<double>(size))); }

  Request keep(MPI_Request request) {
    if (free_.empty()) {
      free_.push_back(requests_.size());
      requests_.push_back(MPI_REQUEST_NULL);
    }
    const Request slot = free_.back();
    free_.pop_back();
    requests_[slot] = request;
    return slot;
  }

  MPI_Comm communicator_;
  int rank_ = 0;
  int size_ = 0;
  std::vector<MPI_Request> requests_;
  std::vector<Request> free_;
};

/// Blocks: Open MPI's MPI_Iallreduce takes twice the time of its MPI_Allreduce, and a peer is measured at its best.
class VendorAllReduce final : public Operation {
 public:
  VendorAllReduce(MPI_Comm communicator, std::span<float> buffer) : communicator_(communicator), buffer_(buffer) {
    count_ = count_of(buffer.size(), Bytes(static_cast<double>(buffer.size_bytes())));
  }

  bool progress() override {
    if (!done_)
      succeed(MPI_Allreduce(MPI_IN_PLACE, buffer_.data(), count_, MPI_FLOAT, MPI_SUM, communicator_), "MPI_Allreduce");
    done_ = true;
    return true;
  }

  std::string waiting_for() const override { return done_ ? "" : "the other ranks in MPI_Allreduce"; }

  std::vector<Rank> waiting_ranks() const override { return {}; }

 private:
  MPI_Comm communicator_;
  std::span<float> buffer_;
  int count_ = 0;
  bool done_ = false;
};

/// MPI itself, from initialisation to finalisation; leaves it alone where somebody else has it.
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

  /// Finalising waits for all ranks, and would hide why this one fails: the launcher ends the others then.
  ~Session() {
    if (ours_ && std::uncaught_exceptions() == 0) MPI_Finalize();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

 private:
  bool ours_ = false;
};

/// Our own communicator: our tags meet no one else's messages.
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
  Transport& transport() override { return transport_; }

  std::unique_ptr<Operation> vendor_all_reduce(std::span<float> buffer) override {
    return std::make_unique<VendorAllReduce>(communicator_.handle(), buffer);
  }

  [[noreturn]] void abort(int exit_code) override {
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    std::abort();
  }

 private:
  Session session_;
  Communicator communicator_;
  MpiTransport transport_{communicator_.handle()};
};

}  // namespace

Availability mpi_availability() { return {}; }

std::unique_ptr<Endpoint> make_mpi_endpoint() { return std::make_unique<MpiEndpoint>(); }

}  // namespace hbench
