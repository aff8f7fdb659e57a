#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

#include "collectives/base/error.hpp"
#include "collectives/base/units_text.hpp"
#include "collectives/transport/mpi_support.hpp"
#include "collectives/transport/slot_pool.hpp"

namespace hbench {
namespace {

/// Messages travel between hosts in pieces that Open MPI sends at once (btl_tcp_eager_limit: 64 KiB with its header). A
/// longer message asks its receiver first, and the link idles for a round trip between two processes that must both be
/// awake: a segmented ring between 4 ranks at 1 Gbit/s used 81 % of the link in messages of 256 KiB, and all of it in
/// pieces. No power of two apart from another by a multiple of it (64 x 7 x 137): see `piece_of`.
constexpr std::size_t kPiece = 61376;
/// Within a host Open MPI asks from 4 KiB on (btl_vader_eager_limit), and the receiver then copies all at once out of
/// the sender's memory: a piece more is a question more. As much as MPI counts, at most.
constexpr std::size_t kPieceOnHost = std::size_t{1} << 30;

/// A rank that waits tests all of its messages in turn, and MPI looks at all of its connections each time that it is
/// asked: a server with hundreds of messages in flight took both cores for that. So one look serves a turn: MPI is
/// asked when a message is tested that was tested since the last look.
class MpiTransport final : public Transport {
 public:
  explicit MpiTransport(MPI_Comm communicator) : communicator_(communicator), on_host_(ranks_of_host(communicator)) {
    succeed(MPI_Comm_rank(communicator_, &rank_), "MPI_Comm_rank");
    succeed(MPI_Comm_size(communicator_, &size_), "MPI_Comm_size");
  }

  Rank rank() const override { return rank_; }
  int size() const override { return size_; }

  Request send(Rank to, int tag, std::span<const std::byte> payload) override {
    const Request request = slots_.take();
    Slot& slot = slots_[request];
    slot.is_send = true;
    begin(slot, to, payload.size());
    for (std::size_t i = 0; i < slot.pieces.size(); ++i) {
      const auto piece = piece_of(payload, i, slot);
      succeed(
          MPI_Isend(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, to, tag, communicator_, &slot.pieces[i]),
          "MPI_Isend");
    }
    wait_for(request);
    return request;
  }

  Request receive(Rank from, int tag, std::span<std::byte> landing, Sink* sink, std::size_t message) override {
    const Request request = slots_.take();
    Slot& slot = slots_[request];
    slot.is_send = false;
    slot.from = from;
    slot.landing = landing;
    slot.sink = sink;
    slot.message = message;
    begin(slot, from, landing.size());
    for (std::size_t i = 0; i < slot.pieces.size(); ++i) {
      const auto piece = piece_of(landing, i, slot);
      succeed(
          MPI_Irecv(piece.data(), static_cast<int>(piece.size()), MPI_BYTE, from, tag, communicator_, &slot.pieces[i]),
          "MPI_Irecv");
    }
    wait_for(request);
    return request;
  }

  bool test(Request request) override {
    Slot& slot = slots_[request];
    if (slot.tested == looks_) look();
    slot.tested = looks_;
    if (slot.done < slot.pieces.size()) return false;
    if (!slot.is_send && slot.sink != nullptr) slot.sink->take(slot.landing, slot.message);
    slots_.give_back(request);
    return true;
  }

  void cancel(Request request) override {
    Slot& slot = slots_[request];
    if (slot.done < slot.pieces.size())
      stop_waiting(static_cast<std::size_t>(std::ranges::find(owners_, request) - owners_.begin()));
    for (MPI_Request& piece : slot.pieces) {
      // There is none any more where a piece arrived, or could not be used.
      if (piece == MPI_REQUEST_NULL) continue;
      MPI_Cancel(&piece);
      MPI_Request_free(&piece);
    }
    slots_.give_back(request);
  }

 private:
  struct Slot {
    std::vector<MPI_Request> pieces;  ///< in the order in which they arrive
    std::size_t piece = 0;            ///< bytes of all but the first
    std::size_t done = 0;             ///< the number of pieces that are done
    bool is_send = false;
    Rank from = 0;  ///< this and what follows: of a receive
    std::span<std::byte> landing;
    Sink* sink = nullptr;
    std::size_t message = 0;
    std::uint64_t tested = 0;  ///< after which look it was tested last, or posted
  };

  /// An empty message is a piece, too.
  void begin(Slot& slot, Rank peer, std::size_t bytes) const {
    slot.piece = on_host_[static_cast<std::size_t>(peer)] >= 0 ? kPieceOnHost : kPiece;
    slot.pieces.assign(std::max<std::size_t>(1, (bytes + slot.piece - 1) / slot.piece), MPI_REQUEST_NULL);
    slot.done = 0;
  }

  /// Once its pieces are posted.
  void wait_for(Request request) {
    slots_[request].tested = looks_;
    waiting_.push_back(slots_[request].pieces.front());
    owners_.push_back(request);
  }

  void stop_waiting(std::size_t place) {
    waiting_[place] = waiting_.back();
    owners_[place] = owners_.back();
    waiting_.pop_back();
    owners_.pop_back();
  }

  /// Asks MPI about all requests at once, and again while it has news. A call that finds none done moves messages on
  /// but does not report the result (Open MPI), so that there is a second.
  void look() {
    ++looks_;
    bool again = true;
    while (!waiting_.empty()) {
      indices_.resize(waiting_.size());
      statuses_.resize(waiting_.size());
      int done = 0;
      const int code =
          MPI_Testsome(static_cast<int>(waiting_.size()), waiting_.data(), &done, indices_.data(), statuses_.data());
      if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS) succeed(code, "MPI_Testsome");
      if (done == 0 && !std::exchange(again, false)) return;
      for (int i = 0; i < done; ++i) take_piece(i, code == MPI_SUCCESS);
      drop_finished();
    }
  }

  /// The `i`-th of the pieces that are done: the next of its message is waited for.
  void take_piece(int i, bool all_well) {
    const auto place = static_cast<std::size_t>(indices_[static_cast<std::size_t>(i)]);
    const MPI_Status& status = statuses_[static_cast<std::size_t>(i)];
    Slot& slot = slots_[owners_[place]];
    slot.pieces[slot.done] = MPI_REQUEST_NULL;
    if (!all_well && status.MPI_ERROR != MPI_SUCCESS) fail(status.MPI_ERROR, slot);
    if (!slot.is_send) check_length(slot, status);
    if (++slot.done < slot.pieces.size()) waiting_[place] = slot.pieces[slot.done];
  }

  void drop_finished() {
    for (std::size_t place = waiting_.size(); place-- > 0;)
      if (waiting_[place] == MPI_REQUEST_NULL) stop_waiting(place);
  }

  /// The piece that is not full comes first: then two ranks that expect different lengths find out at once, unless
  /// these are a multiple of a piece apart.
  template <class Byte>
  static std::span<Byte> piece_of(std::span<Byte> message, std::size_t index, const Slot& slot) {
    const std::size_t first = message.size() - (slot.pieces.size() - 1) * slot.piece;
    return index == 0 ? message.first(first) : message.subspan(first + (index - 1) * slot.piece, slot.piece);
  }

  std::size_t expected(const Slot& slot) const { return piece_of(slot.landing, slot.done, slot).size(); }

  static std::vector<Rank> ranks_of_host(MPI_Comm all) {
    MPI_Comm host = MPI_COMM_NULL;
    succeed(MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host), "MPI_Comm_split_type");
    std::vector<Rank> numbers = numbers_in(host, all);
    MPI_Comm_free(&host);
    return numbers;
  }

  [[noreturn]] void fail(int code, const Slot& slot) const {
    int kind = MPI_SUCCESS;
    MPI_Error_class(code, &kind);
    if (kind == MPI_ERR_TRUNCATE) refuse_length(slot.from, rank_, std::nullopt, expected(slot));
    succeed(code, "MPI_Testsome");
    std::abort();
  }

  void check_length(const Slot& slot, const MPI_Status& status) const {
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    const auto got = static_cast<std::size_t>(count);
    if (got != expected(slot)) refuse_length(slot.from, rank_, got, expected(slot));
  }

  MPI_Comm communicator_;
  std::vector<Rank> on_host_;  ///< by rank: -1 where it is on another host
  int rank_ = 0;
  int size_ = 0;
  SlotPool<Slot> slots_;
  /// The first piece that is not done of each message that is not; whose it is.
  std::vector<MPI_Request> waiting_;
  std::vector<Request> owners_;
  std::uint64_t looks_ = 0;
  std::vector<int> indices_;  ///< of a look, kept for the next
  std::vector<MPI_Status> statuses_;
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

std::vector<Rank> numbers_in(MPI_Comm part, MPI_Comm all) {
  int ranks = 0;
  MPI_Comm_size(all, &ranks);
  std::vector<Rank> of_all(static_cast<std::size_t>(ranks)), numbers(of_all.size());
  std::iota(of_all.begin(), of_all.end(), 0);
  MPI_Group all_group = MPI_GROUP_NULL, part_group = MPI_GROUP_NULL;
  MPI_Comm_group(all, &all_group);
  MPI_Comm_group(part, &part_group);
  succeed(MPI_Group_translate_ranks(all_group, ranks, of_all.data(), part_group, numbers.data()),
          "MPI_Group_translate_ranks");
  MPI_Group_free(&all_group);
  MPI_Group_free(&part_group);
  std::ranges::replace(numbers, MPI_UNDEFINED, -1);
  return numbers;
}

int mpi_count(std::size_t count, std::size_t bytes) {
  if (count <= INT_MAX) return static_cast<int>(count);
  throw Error(ExitCode::usage,
              fmt::format("{} are more than MPI takes at once", format(Bytes(static_cast<double>(bytes)))),
              "choose smaller buckets, or an algorithm that cuts them into more parts");
}

std::unique_ptr<Transport> make_mpi_transport(MPI_Comm communicator) {
  return std::make_unique<MpiTransport>(communicator);
}

}  // namespace hbench
