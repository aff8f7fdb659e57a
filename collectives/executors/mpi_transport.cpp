#include <fmt/format.h>

#include <climits>
#include <vector>

#include "collectives/base/error.hpp"
#include "collectives/base/units_text.hpp"
#include "collectives/executors/mpi_support.hpp"

namespace hbench {
namespace {

class MpiTransport final : public Transport {
 public:
  explicit MpiTransport(MPI_Comm communicator) : communicator_(communicator) {
    succeed(MPI_Comm_rank(communicator_, &rank_), "MPI_Comm_rank");
    succeed(MPI_Comm_size(communicator_, &size_), "MPI_Comm_size");
  }

  Rank rank() const override { return rank_; }
  int size() const override { return size_; }

  Request send(Rank to, int tag, std::span<const std::byte> payload) override {
    const int count = mpi_count(payload.size(), payload.size());
    const Request request = free_slot();
    Slot& slot = slots_[request];
    slot.is_send = true;
    succeed(MPI_Isend(payload.data(), count, MPI_BYTE, to, tag, communicator_, &slot.handle), "MPI_Isend");
    return request;
  }

  Request receive(Rank from, int tag, std::span<std::byte> landing, Sink* sink, std::size_t message) override {
    const int count = mpi_count(landing.size(), landing.size());
    const Request request = free_slot();
    Slot& slot = slots_[request];
    slot = {.from = from, .landing = landing, .sink = sink, .message = message};
    succeed(MPI_Irecv(landing.data(), count, MPI_BYTE, from, tag, communicator_, &slot.handle), "MPI_Irecv");
    return request;
  }

  bool test(Request request) override {
    Slot& slot = slots_[request];
    int done = 0;
    MPI_Status status;
    const int code = MPI_Test(&slot.handle, &done, &status);
    if (code != MPI_SUCCESS) fail(code, slot);
    if (done == 0) return false;
    if (!slot.is_send) hand_over(slot, status);
    free_.push_back(request);
    return true;
  }

  void cancel(Request request) override {
    MPI_Request& handle = slots_[request].handle;
    // There is none any more where the message arrived but could not be used.
    if (handle != MPI_REQUEST_NULL) {
      MPI_Cancel(&handle);
      MPI_Request_free(&handle);
    }
    free_.push_back(request);
  }

 private:
  struct Slot {
    MPI_Request handle = MPI_REQUEST_NULL;
    bool is_send = false;
    Rank from = 0;  ///< this and what follows: of a receive
    std::span<std::byte> landing;
    Sink* sink = nullptr;
    std::size_t message = 0;
  };

  Request free_slot() {
    if (free_.empty()) {
      free_.push_back(slots_.size());
      slots_.emplace_back();
    }
    const Request request = free_.back();
    free_.pop_back();
    return request;
  }

  [[noreturn]] void fail(int code, const Slot& slot) const {
    int kind = MPI_SUCCESS;
    MPI_Error_class(code, &kind);
    if (kind == MPI_ERR_TRUNCATE) refuse_length(slot.from, rank_, std::nullopt, slot.landing.size());
    succeed(code, "MPI_Test");
    std::abort();
  }

  /// The sink may post new messages: `slots_` may move.
  void hand_over(const Slot& slot, const MPI_Status& status) const {
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    if (static_cast<std::size_t>(count) != slot.landing.size())
      refuse_length(slot.from, rank_, static_cast<std::size_t>(count), slot.landing.size());
    if (slot.sink != nullptr) slot.sink->take(slot.landing, slot.message);
  }

  MPI_Comm communicator_;
  int rank_ = 0;
  int size_ = 0;
  std::vector<Slot> slots_;
  std::vector<Request> free_;
};

}  // namespace

void succeed(int code, std::string_view what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(ExitCode::lost_rank, fmt::format("{} failed: {}", what, std::string_view(text, length)),
              "see what the other ranks said last");
}

int mpi_count(std::size_t count, std::size_t bytes) {
  if (count <= INT_MAX) return static_cast<int>(count);
  throw Error(ExitCode::usage,
              fmt::format("{} in one message are more than MPI takes", format(Bytes(static_cast<double>(bytes)))),
              "choose smaller buckets, or an algorithm that cuts them into more parts");
}

std::unique_ptr<Transport> make_mpi_transport(MPI_Comm communicator) {
  return std::make_unique<MpiTransport>(communicator);
}

}  // namespace hbench
