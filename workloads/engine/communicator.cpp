#include "workloads/engine/communicator.hpp"

#include <thread>

#include "workloads/engine/async_servers.hpp"
#include "workloads/engine/gossip.hpp"
#include "workloads/engine/means.hpp"

namespace hbench {
namespace {

using std::chrono::nanoseconds;

nanoseconds in_nanoseconds(Seconds time) {
  return std::chrono::duration_cast<nanoseconds>(std::chrono::duration<double>(time.value));
}

/// Where messages can only be polled and this rank's core computes. A look costs about 15 us of the core on a virtual
/// machine, and delays that end before the backward pass cost nothing.
constexpr PollingInterval kHostPolling{std::chrono::microseconds(200), std::chrono::microseconds(1600)};
/// A GPU computes, and the host's core is free.
constexpr PollingInterval kDevicePolling{std::chrono::microseconds(100), std::chrono::microseconds(100)};

/// For so long a rank whose compute thread has finished looks again and again: what it waits for is likely to come
/// soon.
constexpr std::chrono::milliseconds kSpinning{2};
/// A server that has found nothing so often leaves its core to workers that compute.
constexpr int kServerSpins = 200;
constexpr std::chrono::microseconds kServerPolling{50};

std::unique_ptr<Negotiator> make_side(const TrainingRequest& request, Transport& transport,
                                      const GradientLayout& layout, const StepPlan& plan) {
  if (!in_lockstep(plan)) return make_free_side(request, transport, layout, plan);
  return transport.rank() == 0 ? make_coordinator_side(request, transport, layout, plan)
                               : make_worker_side(request, transport, plan);
}

/// What is not among all ranks; null where everything is.
std::unique_ptr<SomeExchange> make_some_exchange(const TrainingRequest& request, Endpoint& endpoint,
                                                 const GradientLayout& layout, const StepPlan& plan,
                                                 const ModelMemory& memory) {
  if (in_lockstep(plan)) return nullptr;
  if (exchanges_among(plan, Among::servers))
    return std::make_unique<AsyncServers>(request, endpoint, layout, plan, memory);
  if (exchanges_among(plan, Among::neighbours))
    return std::make_unique<Neighbours>(endpoint, request.world.workers, layout, memory);
  return std::make_unique<Gossip>(request, endpoint, layout, memory);
}

/// Who finds out first who is late has the least patience: rank 0 of ranks that meet, any neighbour of those that wait
/// for neighbours, and servers that hold back their answers.
double patience_of(Rank rank, const StepPlan& plan) {
  if (exchanges_among(plan, Among::servers)) return kMorePatience;
  return rank == 0 || !in_lockstep(plan) ? 1 : kMorePatience;
}

/// Whether it is a gather for a pass of its unit, which waits for passes of others and not for its own tensors.
bool is_before_a_pass(const Task& task) {
  return task.unit != Task::kWhole && task.collective == CollectiveKind::all_gather;
}

std::vector<std::int64_t> bytes_of(const StepPlan& plan, const GradientLayout& layout) {
  const std::vector<std::int64_t> of_tensor = layout.bytes();
  std::vector<std::int64_t> bytes;
  for (int task = 0; task < plan.size(); ++task) {
    bytes.push_back(0);
    for (const int tensor : plan.tensors_of(task, layout.tensors()))
      bytes.back() += of_tensor[static_cast<std::size_t>(tensor)];
  }
  return bytes;
}

}  // namespace

Communicator::Communicator(const TrainingRequest& request, Endpoint& endpoint, const GradientLayout& layout,
                           const StepPlan& plan, const ModelMemory& memory)
    : patience_(request.timeout * patience_of(endpoint.transport().rank(), plan)),
      health_check_(in_nanoseconds(request.timeout / 8)),
      device_(endpoint.device()),
      doorbell_(endpoint.doorbell() != nullptr ? endpoint.doorbell() : &own_doorbell_),
      polls_(endpoint.doorbell() == nullptr),
      polling_(in_nanoseconds(request.polling)),
      plan_(plan),
      bytes_(bytes_of(plan, layout)),
      negotiator_(make_side(request, endpoint.control(), layout, plan)),
      trace_(endpoint.transport().rank(), Lane::communication, endpoint.device()),
      some_(make_some_exchange(request, endpoint, layout, plan, memory)),
      reducer_(request, endpoint, layout, plan, memory, &trace_, some_.get()),
      ready_(static_cast<std::size_t>(layout.tensors())) {}

void Communicator::run(Handover& handover) noexcept {
  try {
    while (const auto begun = handover.wait_for_step()) {
      if (begun->traced) trace_.begin();
      begin_step(begun->at, begun->iteration);
      if (!step(handover)) return;
    }
  } catch (...) {
    handover.fail(std::current_exception());
  }
}

void Communicator::begin_step(std::chrono::steady_clock::time_point at, int iteration) {
  iteration_ = iteration;
  departed_ = 0;
  missing_ = bytes_;
  if (some_ != nullptr) some_->begin_step(iteration);
  negotiator_->begin_step(at, iteration);
  reducer_.begin_step();
}

/// False when the compute thread leaves before the step's end.
bool Communicator::step(Handover& handover) {
  PollingInterval polling = polling_.count() > 0         ? PollingInterval(polling_, polling_)
                            : &device_ == &host_device() ? kHostPolling
                                                         : kDevicePolling;
  std::optional<Handover::Clock::time_point> spins_until;
  Arrivals arrivals;
  while (true) {
    const Doorbell::Ticket ticket = handover.doorbell().listen();
    const Announced announced = handover.take(device_);
    if (announced.closed) return false;
    note_ready(announced.ready);
    negotiator_->announce(announced.task, announced.ready);
    arrivals = look(arrivals);
    end_collectives(arrivals, handover);
    handover.set_communicating(reducer_.in_flight() > 0);
    const bool needed = answers() && !announced.computed;  // by others, until this rank's parameters change
    if (negotiator_->all_launched() && reducer_.in_flight() == 0 && !needed) break;
    if (!arrivals.empty() || !announced.ready.empty()) polling.reset();
    if (!announced.computed) spins_until.reset();
    if (!arrivals.empty()) continue;
    if (announced.computed && polling_.count() == 0) {
      if (!spins_until) spins_until = Handover::Clock::now() + kSpinning;
      if (polls_ || Handover::Clock::now() < *spins_until) {
        std::this_thread::yield();
        continue;
      }
    }
    handover.doorbell().wait(ticket, longest_wait(announced.pending, polling));
  }
  ++step_;
  if (some_ != nullptr && negotiator_->next() == Phase::stop) {
    some_->leave(iteration_ + 1);
    unseen_ = some_->gather_unseen();
  }
  handover.end_step({negotiator_->next(), device_.record_event()});
  if (negotiator_->next() == Phase::stop) negotiator_->finish();
  return true;
}

void Communicator::serve() {
  if (some_ == nullptr) return serve_steps();
  int idle = 0;
  while (!some_->done()) {
    const Doorbell::Ticket ticket = doorbell_->listen();
    wait_as_server(ticket, some_->progress(), idle);
  }
  some_->gather_unseen();
}

void Communicator::wait_as_server(const Doorbell::Ticket& ticket, bool moved, int& idle) {
  idle = moved ? 0 : idle + 1;
  if (polling_.count() > 0) {
    if (!moved) doorbell_->wait(ticket, polling_);
  } else if (idle > kServerSpins) {
    doorbell_->wait(ticket, polls_ ? nanoseconds(kServerPolling) : health_check_);
  } else {
    std::this_thread::yield();
  }
}

void Communicator::serve_steps() {
  int iteration = 0;
  do {
    while (!exchanges_in(plan_, iteration)) ++iteration;
    begin_step(Negotiator::Clock::now(), iteration);
    Arrivals arrivals;
    int idle = 0;
    do {
      const Doorbell::Ticket ticket = doorbell_->listen();
      arrivals = look(arrivals);
      wait_as_server(ticket, !arrivals.empty(), idle);
    } while (!negotiator_->all_launched() || reducer_.in_flight() > 0);
    ++step_;
    ++iteration;
  } while (negotiator_->next() != Phase::stop);
  negotiator_->finish();
}

/// One look at everything; `before` is what had arrived with the look before, the result what has with this one.
Communicator::Arrivals Communicator::look(const Arrivals& before) {
  std::vector<int> tasks;
  for (const Reducer::Arrival& arrival : before) tasks.push_back(arrival.task);
  for (LeavingBucket& leaving : negotiator_->poll(tasks, reducer_.in_flight())) {
    note_departure(leaving);
    reducer_.launch(std::move(leaving));
  }
  if (some_ != nullptr) some_->progress();
  Arrivals arrivals = reducer_.progress();
  if (arrivals.empty()) check_late();
  return arrivals;
}

/// What computing waits for before the step's end.
void Communicator::end_collectives(const Arrivals& arrivals, Handover& handover) {
  for (const auto& [task, bytes] : arrivals) {
    std::int64_t& missing = missing_[static_cast<std::size_t>(task)];
    missing -= bytes;
    if (missing == 0 && !ends_step(plan_, task, iteration_))
      handover.end_collective(task, {device_.record_event(), reducer_.own_parts(task)});
  }
}

void Communicator::note_ready(std::span<const int> tensors) {
  if (!trace_.active()) return;
  const auto now = StepTrace::Clock::now();
  for (const int tensor : tensors) ready_[static_cast<std::size_t>(tensor)] = now;
}

/// Since this rank's last gradient of the bucket: what the others, the policy and the messages took.
void Communicator::note_departure(const LeavingBucket& leaving) {
  const int number = departed_++;
  if (!trace_.active() || is_before_a_pass(plan_.task(leaving.task))) return;
  StepTrace::Clock::time_point ready;
  for (const int tensor : leaving.bucket.tensors) ready = std::max(ready, ready_[static_cast<std::size_t>(tensor)]);
  trace_.add(SpanKind::negotiation, ready, StepTrace::Clock::now(), number);
}

/// How long nothing needs to be done unless the doorbell rings.
nanoseconds Communicator::longest_wait(bool announcements_pending, PollingInterval& polling) const {
  nanoseconds longest = health_check_;
  if (const auto due = negotiator_->wakeup()) longest = std::min(longest, nanoseconds(*due - Negotiator::Clock::now()));
  if (announcements_pending || (polls_ && (reducer_.in_flight() > 0 || answers() || negotiator_->expects_messages())))
    longest = std::min(longest, polling.next());
  return longest;
}

void Communicator::check_late() {
  const Operation* late = reducer_.late(patience_);
  if (late == nullptr) return;
  negotiator_->report_missing();
  negotiator_->abort(late->waiting_ranks());
  throw late_ranks(step_, patience_, late->waiting_for());
}

}  // namespace hbench
