#include "collectives/endpoints/shared_endpoint.hpp"

#include <algorithm>
#include <cstring>

#include "collectives/base/error.hpp"
#include "collectives/endpoints/shared_one_pass.hpp"
#include "collectives/transport/shared_transport.hpp"

namespace hbench {
namespace {

/// Shared memory to peers on this host, another transport to the others.
class JoinedTransport final : public Transport {
 public:
  JoinedTransport(const Hosts& hosts, Transport& inside, Transport& across)
      : hosts_(hosts), inside_(inside), across_(across) {}

  Rank rank() const override { return hosts_.rank; }
  int size() const override { return static_cast<int>(hosts_.local.size()); }

  Request send(Rank to, int tag, std::span<const std::byte> payload) override {
    const Rank local = local_of(to);
    return local >= 0 ? of_inside(inside_.send(local, tag, payload)) : of_across(across_.send(to, tag, payload));
  }
  Request receive(Rank from, int tag, std::span<std::byte> landing, Sink* sink, std::size_t message) override {
    const Rank local = local_of(from);
    return local >= 0 ? of_inside(inside_.receive(local, tag, landing, sink, message))
                      : of_across(across_.receive(from, tag, landing, sink, message));
  }
  bool test(Request request) override { return owner(request).test(request / 2); }
  void cancel(Request request) override { owner(request).cancel(request / 2); }

 private:
  // The last bit of a request names its transport.
  static Request of_inside(Request request) { return 2 * request; }
  static Request of_across(Request request) { return 2 * request + 1; }
  Transport& owner(Request request) { return request % 2 == 0 ? inside_ : across_; }
  Rank local_of(Rank rank) const { return hosts_.local[static_cast<std::size_t>(rank)]; }

  const Hosts& hosts_;
  Transport& inside_;
  Transport& across_;
};

/// The rank on this host, from its rank in the job.
Rank local_rank(const Hosts& hosts) { return hosts.local[static_cast<std::size_t>(hosts.rank)]; }

class SharedEndpoint final : public Endpoint {
 public:
  SharedEndpoint(std::shared_ptr<SharedMemory> memory, const Hosts& hosts, std::unique_ptr<Endpoint> outer)
      : memory_(std::move(memory)),
        hosts_(hosts),
        outer_(std::move(outer)),
        segment_(*memory_, hosts_.local_ranks(), local_rank(hosts_)),
        doorbell_(segment_.doorbell(segment_.rank())),
        inside_(segment_),
        ledgers_(SharedSegment::kControls) {
    if (!hosts_.one()) joined_ = std::make_unique<JoinedTransport>(hosts_, inside_, outer_->transport());
  }

  Transport& transport() override { return joined_ != nullptr ? *joined_ : static_cast<Transport&>(inside_); }

  std::span<std::byte> allocate(std::size_t bytes) override {
    const std::span<std::byte> memory = segment_.allocate(bytes);
    std::memset(memory.data(), 0, memory.size());
    return memory;
  }

  std::unique_ptr<Operation> prepare(const Schedule& schedule, const Operand& operand, const Codec* codec) override {
    if (codec != nullptr || !hosts_.one() || !has_one_pass_form(schedule))
      return Endpoint::prepare(schedule, operand, codec);
    const int control = passes_++ % SharedSegment::kControls;
    ControlLedger& ledger = ledgers_[static_cast<std::size_t>(control)];
    if (ledger.used)
      throw Error(ExitCode::usage, "too many collectives are prepared at once", "destroy those that are complete");
    return std::make_unique<OnePass>(schedule, operand, segment_, control, ledger, byte_counts());
  }

  std::unique_ptr<Operation> vendor(CollectiveKind collective, const Operand& operand) override {
    return outer_ != nullptr ? outer_->vendor(collective, operand) : Endpoint::vendor(collective, operand);
  }

  bool shares_memory() const override { return hosts_.one(); }
  Doorbell* doorbell() override { return hosts_.one() ? &doorbell_ : nullptr; }

  [[noreturn]] void abort(int exit_code) override {
    SharedHeader& header = segment_.header();
    std::int32_t nobody = 0;
    header.exit_code.store(exit_code);
    header.stopped_by.compare_exchange_strong(nobody, segment_.rank() + 1);
    segment_.ring_others();
    if (outer_ != nullptr) outer_->abort(exit_code);
    throw stopped_error(segment_);
  }

 private:
  std::shared_ptr<SharedMemory> memory_;
  Hosts hosts_;
  std::unique_ptr<Endpoint> outer_;
  SharedSegment segment_;
  FutexDoorbell doorbell_;
  SharedTransport inside_;
  std::unique_ptr<JoinedTransport> joined_;  ///< null where all ranks are on one host
  std::vector<ControlLedger> ledgers_;
  int passes_ = 0;
};

}  // namespace

int Hosts::local_ranks() const {
  return static_cast<int>(std::ranges::count_if(local, [](Rank number) { return number >= 0; }));
}

Hosts Hosts::only(int ranks, Rank rank) {
  Hosts hosts{.rank = rank};
  for (Rank each = 0; each < ranks; ++each) hosts.local.push_back(each);
  return hosts;
}

std::unique_ptr<Endpoint> make_shared_endpoint(std::shared_ptr<SharedMemory> memory, const Hosts& hosts,
                                               std::unique_ptr<Endpoint> outer) {
  return std::make_unique<SharedEndpoint>(std::move(memory), hosts, std::move(outer));
}

}  // namespace hbench
