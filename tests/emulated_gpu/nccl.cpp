// An emulated NCCL for ranks that are threads of one process, on the emulated GPUs. Communicators are non-blocking, and
// slow on purpose: what is issued is enqueued only after some calls of ncclCommGetAsyncError, and issuing more before
// that is reported. A rank touches its own memory alone, on its own stream.

#include <nccl.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "collectives/arithmetic/arithmetic.hpp"
#include "tests/emulated_gpu/checker.hpp"
#include "tests/emulated_gpu/reports.hpp"
#include "tests/emulated_gpu/runtime.hpp"

using namespace hbench::emulated_gpu;  // NOLINT(google-build-using-namespace)

namespace {

using Bytes = std::vector<std::byte>;

/// One collective of all ranks.
struct Round {
  std::map<int, const std::byte*> inputs;  ///< of the ranks whose streams have come to it
  std::vector<Bytes> results;              ///< by rank, made by the first that finds all inputs there
  int done = 0;
};

struct Job {
  int ranks = 0, joined = 0;
  bool is_over = false;
  std::map<std::uint64_t, Round> rounds;
  std::map<std::pair<int, int>, std::deque<Bytes>> messages;   ///< by sender and receiver
  std::map<std::pair<int, int>, std::size_t> receives_posted;  ///< by sender and receiver, not served yet
};

/// Taken by the worker under the scheduler's lock, and never held while something is enqueued.
std::mutex mutex;
std::map<std::string, std::shared_ptr<Job>> jobs;

/// Calls of ncclCommGetAsyncError until what was issued is enqueued.
constexpr int kNaps = 2;

}  // namespace

struct ncclComm {
  std::shared_ptr<Job> job;
  int rank = 0, device = 0;
  std::uint64_t rounds = 0;
  std::function<void()> issued;
  int naps = 0;
};

namespace {

struct Transfer {
  ncclComm* communicator;
  bool is_send;
  std::byte* memory;
  std::size_t bytes;
  int peer;
  cudaStream_t stream;
};
thread_local int group_depth = 0;
thread_local std::vector<Transfer> group;

hbench::DataType type_of(ncclDataType_t type) {
  using hbench::DataType;
  constexpr std::array kTypes{DataType::uint8,   DataType::uint8,   DataType::int32,   DataType::int32,
                              DataType::int64,   DataType::int64,   DataType::float16, DataType::float32,
                              DataType::float64, DataType::bfloat16};
  return kTypes.at(type);
}
hbench::ReduceOp operation_of(ncclRedOp_t op) {
  using hbench::ReduceOp;
  constexpr std::array kOps{ReduceOp::sum, ReduceOp::product, ReduceOp::max, ReduceOp::min, ReduceOp::average};
  return kOps.at(op);
}
std::size_t bytes_of(std::size_t count, ncclDataType_t type) { return count * hbench::size_of(type_of(type)); }

/// The reduction of a part of all inputs.
Bytes reduced(const Round& round, ncclDataType_t type, ncclRedOp_t op, std::size_t begin, std::size_t bytes) {
  Bytes result;
  for (const auto& [rank, input] : round.inputs) {
    const std::span<const std::byte> part(input + begin, bytes);
    if (rank == 0) {
      result.assign(part.begin(), part.end());
    } else {
      hbench::accumulate(type_of(type), operation_of(op), part, result);
    }
  }
  hbench::finish(type_of(type), operation_of(op), static_cast<int>(round.inputs.size()), result);
  return result;
}

bool may_read(const void* memory, std::size_t bytes) {
  return check_copy({reinterpret_cast<std::uintptr_t>(memory), bytes, AccessKind::read});
}
void write(void* memory, std::span<const std::byte> bytes) {
  if (!bytes.empty() && check_copy({reinterpret_cast<std::uintptr_t>(memory), bytes.size(), AccessKind::write}))
    std::memcpy(memory, bytes.data(), bytes.size());
}

/// `enqueue` is called later, by ncclCommGetAsyncError.
ncclResult_t issue(ncclComm& communicator, cudaStream_t stream, std::function<void()> enqueue) {
  const std::lock_guard lock(mutex);
  if (communicator.job->is_over) return ncclInvalidUsage;
  if (stream_of(stream).device != communicator.device) return ncclInvalidArgument;
  if (communicator.job->joined < communicator.job->ranks || communicator.issued) {
    report(Mistake::nccl, "work is issued to a communicator that is still in progress");
    return ncclInvalidUsage;
  }
  communicator.issued = std::move(enqueue);
  communicator.naps = kNaps;
  return ncclInProgress;
}

struct Collective {
  ncclComm& communicator;
  cudaStream_t stream;
  const void* input;
  std::size_t input_bytes;
  void* output;
  std::function<Bytes(const Round& round, int rank)> result;
};

void run_collective(Job& job, int rank, std::uint64_t number, const Collective& of) {
  const std::lock_guard lock(mutex);
  if (job.is_over) return;
  Round& round = job.rounds[number];
  for (int each = 0; each < job.ranks && std::ssize(round.results) < job.ranks; ++each)
    round.results.push_back(of.result(round, each));
  if (may_read(of.input, of.input_bytes)) write(of.output, round.results[static_cast<std::size_t>(rank)]);
  if (++round.done == job.ranks) job.rounds.erase(number);
}

ncclResult_t collective(const Collective& of) {
  ncclComm& communicator = of.communicator;
  const std::uint64_t number = communicator.rounds++;
  return issue(communicator, of.stream, [of, number, job = communicator.job, rank = communicator.rank] {
    const auto all_are_there = [=] {
      const std::lock_guard lock(mutex);
      Round& round = job->rounds[number];
      round.inputs[rank] = static_cast<const std::byte*>(of.input);
      return job->is_over || std::ssize(round.inputs) == job->ranks;
    };
    machine().scheduler.enqueue(stream_of(of.stream), {.name = "NCCL collective", .is_ready = all_are_there},
                                [=] { run_collective(*job, rank, number, of); });
  });
}

/// Makes sends and receives known to their peers.
void post(Job& job, int rank, const std::vector<Transfer>& transfers) {
  for (const Transfer& each : transfers) {
    if (each.is_send) {
      job.messages[{rank, each.peer}].emplace_back(each.memory, each.memory + each.bytes);
    } else {
      ++job.receives_posted[{each.peer, rank}];
    }
  }
}

/// Messages begin only when their receivers have come to them, as NCCL's do.
bool all_have_peers(Job& job, int rank, const std::vector<Transfer>& transfers) {
  std::map<std::pair<int, int>, std::size_t> receives;
  for (const Transfer& each : transfers) {
    const std::pair<int, int> way = each.is_send ? std::pair(rank, each.peer) : std::pair(each.peer, rank);
    if (each.is_send && job.messages[way].size() > job.receives_posted[way]) return false;
    if (!each.is_send && job.messages[way].size() < ++receives[way]) return false;
  }
  return true;
}

void run_transfers(Job& job, int rank, const std::vector<Transfer>& transfers) {
  const std::lock_guard lock(mutex);
  if (job.is_over) return;
  for (const Transfer& each : transfers) {
    if (each.is_send) {
      may_read(each.memory, each.bytes);
      continue;
    }
    auto& queue = job.messages[{each.peer, rank}];
    if (queue.front().size() != each.bytes) report(Mistake::nccl, "a message is received with another size than sent");
    queue.front().resize(each.bytes);
    write(each.memory, queue.front());
    queue.pop_front();
    --job.receives_posted[{each.peer, rank}];
  }
}

ncclResult_t issue_transfers(ncclComm& communicator, const std::vector<Transfer>& transfers) {
  const cudaStream_t stream = transfers.front().stream;
  return issue(communicator, stream, [=, job = communicator.job, rank = communicator.rank] {
    const auto are_ready = [=, is_posted = false]() mutable {
      const std::lock_guard lock(mutex);
      if (!std::exchange(is_posted, true)) post(*job, rank, transfers);
      return job->is_over || all_have_peers(*job, rank, transfers);
    };
    machine().scheduler.enqueue(stream_of(stream), {.name = "NCCL messages", .is_ready = are_ready},
                                [=] { run_transfers(*job, rank, transfers); });
  });
}

ncclResult_t end_group() {
  std::map<ncclComm*, std::vector<Transfer>> parts;
  for (const Transfer& each : std::exchange(group, {})) parts[each.communicator].push_back(each);
  ncclResult_t result = ncclSuccess;
  for (const auto& [communicator, transfers] : parts)
    if (const ncclResult_t code = issue_transfers(*communicator, transfers); code != ncclSuccess) result = code;
  return result;
}

ncclResult_t add_to_group(const Transfer& transfer) {
  group.push_back(transfer);
  return group_depth > 0 ? ncclSuccess : end_group();
}

}  // namespace

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  *version = NCCL_VERSION(2, 30, 0);
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) { return result == ncclSuccess ? "no error" : "an emulated error"; }

ncclResult_t ncclGetUniqueId(ncclUniqueId* uniqueId) {
  static int made = 0;
  const std::lock_guard lock(mutex);
  *uniqueId = {};
  std::snprintf(uniqueId->internal, sizeof uniqueId->internal, "job %d", ++made);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int nranks, ncclUniqueId commId, int rank, ncclConfig_t* config) {
  if (config == nullptr || config->blocking != 0) return ncclInvalidArgument;  // hbench has no others
  const std::lock_guard lock(mutex);
  auto& job = jobs[commId.internal];
  if (job == nullptr) job = std::make_shared<Job>();
  job->ranks = nranks;
  ++job->joined;
  *comm = new ncclComm{job, rank, current_device(), 0, nullptr, 0};
  return ncclInProgress;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* asyncError) {
  std::function<void()> enqueue;
  {
    const std::lock_guard lock(mutex);
    const bool begins = comm->job->joined < comm->job->ranks;
    *asyncError = comm->job->is_over ? ncclRemoteError : begins || comm->naps-- > 0 ? ncclInProgress : ncclSuccess;
    if (*asyncError == ncclSuccess) enqueue = std::exchange(comm->issued, nullptr);
  }
  if (enqueue) enqueue();
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  if (comm->issued) report(Mistake::nccl, "a communicator is destroyed that has not enqueued what was issued");
  delete comm;
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  {
    const std::lock_guard lock(mutex);
    comm->job->is_over = true;
  }
  machine().scheduler.wake();
  delete comm;
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  ++group_depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() { return --group_depth == 0 && !group.empty() ? end_group() : ncclSuccess; }

ncclResult_t ncclSend(const void* sendbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  auto* const memory = static_cast<std::byte*>(const_cast<void*>(sendbuff));
  return add_to_group({comm, true, memory, bytes_of(count, datatype), peer, stream});
}

ncclResult_t ncclRecv(void* recvbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return add_to_group({comm, false, static_cast<std::byte*>(recvbuff), bytes_of(count, datatype), peer, stream});
}

ncclResult_t ncclAllReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
  const std::size_t bytes = bytes_of(count, datatype);
  return collective({*comm, stream, sendbuff, bytes, recvbuff,
                     [=](const Round& round, int) { return reduced(round, datatype, op, 0, bytes); }});
}

ncclResult_t ncclReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount, ncclDataType_t datatype,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  const std::size_t bytes = bytes_of(recvcount, datatype);
  const auto ranks = static_cast<std::size_t>(comm->job->ranks);
  return collective({*comm, stream, sendbuff, bytes * ranks, recvbuff, [=](const Round& round, int rank) {
                       return reduced(round, datatype, op, static_cast<std::size_t>(rank) * bytes, bytes);
                     }});
}

ncclResult_t ncclAllGather(const void* sendbuff, void* recvbuff, size_t sendcount, ncclDataType_t datatype,
                           ncclComm_t comm, cudaStream_t stream) {
  const std::size_t bytes = bytes_of(sendcount, datatype);
  return collective({*comm, stream, sendbuff, bytes, recvbuff, [=](const Round& round, int) {
                       Bytes all;
                       for (const auto& [rank, input] : round.inputs) all.insert(all.end(), input, input + bytes);
                       return all;
                     }});
}

ncclResult_t ncclBroadcast(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  const std::size_t bytes = bytes_of(count, datatype);
  return collective({*comm, stream, sendbuff, comm->rank == root ? bytes : 0, recvbuff, [=](const Round& round, int) {
                       const std::byte* const from = round.inputs.at(root);
                       return Bytes(from, from + bytes);
                     }});
}

}  // extern "C"
