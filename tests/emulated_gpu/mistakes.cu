#include "tests/emulated_gpu/mistakes.hpp"

#include <iterator>

namespace hbench::emulated_gpu {
namespace {

constexpr unsigned kThreads = 256;
constexpr std::size_t kBytes = kThreads * sizeof(unsigned);
constexpr unsigned kAll = 0xffff'ffff;

template <class... Parameters, class... Arguments>
void start(void (*kernel)(Parameters...), cudaStream_t stream, unsigned blocks, const Arguments&... arguments) {
  launch_kernel(kernel, blocks, kThreads, stream, arguments...);
}

// Kernels without a mistake of their own.

__global__ void fill(unsigned* out, unsigned value) { out[threadIdx.x] = value; }
__global__ void copy(unsigned* out, const unsigned* in) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void turn_round(unsigned* out) {
  __shared__ unsigned all[kThreads];
  for (unsigned turn = 0; turn < 3; ++turn) {
    all[threadIdx.x] = threadIdx.x + turn;
    __syncthreads();
    out[threadIdx.x] += all[kThreads - 1 - threadIdx.x];
    __syncthreads();
  }
}
__global__ void count(unsigned* out) { atomicAdd(out, 1); }
__global__ void fill_bytes(unsigned char* out) { out[threadIdx.x] = static_cast<unsigned char>(threadIdx.x); }
__global__ void vote_without_those_that_left(unsigned* out) {
  if (threadIdx.x % 32 >= 20) return;
  out[threadIdx.x] = __ballot_sync(kAll, 1);
}
__global__ void add_of_lanes(unsigned* out) {
  unsigned sum = threadIdx.x;
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(kAll, sum, distance);
  out[threadIdx.x] = sum + __shfl_sync(kAll, sum, 3, 16);
}

// Kernels with one.

__global__ void read_at_once(unsigned* out) {
  __shared__ unsigned all[kThreads];
  all[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = all[kThreads - 1 - threadIdx.x];
}
__global__ void write_while_others_read(unsigned* out) {
  __shared__ unsigned all[kThreads];
  for (unsigned turn = 0; turn < 3; ++turn) {
    all[threadIdx.x] = threadIdx.x + turn;
    __syncthreads();
    out[threadIdx.x] += all[kThreads - 1 - threadIdx.x];
  }
}
__global__ void write_first(unsigned* out) { out[0] = 7; }
__global__ void write_own_block(unsigned* out) { out[threadIdx.x] = blockIdx.x; }
__global__ void read_neighbouring_block(unsigned* out) {
  if (blockIdx.x == 0) out[threadIdx.x] = 1;
  if (blockIdx.x == 1) out[kThreads + threadIdx.x] = out[threadIdx.x];
}
__global__ void count_plainly(unsigned* out) {
  if (threadIdx.x == 0) out[0] += 1;
}
__global__ void write_behind_the_end(unsigned* out) { out[threadIdx.x + 1] = 1; }
__global__ void write_before_the_beginning(unsigned* out) { (out - 1)[threadIdx.x] = 1; }
__global__ void write_two_off(unsigned* out) { reinterpret_cast<uint2*>(out + 1)[threadIdx.x % 2] = uint2{1, 2}; }
__global__ void wait_apart(unsigned* out) {
  if (threadIdx.x < 100) {
    __syncthreads();
  } else {
    __syncthreads();
  }
  out[threadIdx.x] = 1;
}
__global__ void vote_without_one(unsigned* out) {
  if (threadIdx.x % 32 == 5) {
    __syncthreads();
  } else {
    out[threadIdx.x] = __ballot_sync(kAll, 1);
    __syncthreads();
  }
}
__global__ void wait_for_ever(unsigned* out) {
  if (threadIdx.x == 5) out[0] = __ballot_sync(0x3 << 5, 1);
  if (threadIdx.x != 5) __syncthreads();
}
__global__ void vote_apart(unsigned* out) {
  if (threadIdx.x % 2 == 0) {
    out[threadIdx.x] = __ballot_sync(kAll, 1);
  } else {
    out[threadIdx.x] = __ballot_sync(kAll, 0);
  }
}
__global__ void vote_for_others(unsigned* out) {
  out[threadIdx.x] = __ballot_sync(threadIdx.x % 32 == 0 ? 0xfffe : 0xffff, 1);
}
__global__ void read_from_a_lane_that_left(unsigned* out) {
  if (threadIdx.x % 32 == 9) return;
  out[threadIdx.x] = __shfl_sync(kAll, threadIdx.x, 9);
}
__global__ void leave_one_out(unsigned* out) {
  __shared__ unsigned all[kThreads];
  if (threadIdx.x != 17) all[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = all[threadIdx.x];
}
__global__ void read_a_neighbours_local(unsigned* out) {
  __shared__ const unsigned* where[kThreads];
  const volatile unsigned mine = threadIdx.x;
  where[threadIdx.x] = const_cast<const unsigned*>(&mine);
  __syncthreads();
  out[threadIdx.x] = *where[threadIdx.x ^ 1];
  __syncthreads();
}

constexpr WrongProgram kWrong[] = {
    {"SharedMemoryIsReadBeforeABarrier", Mistake::race_of_threads,
     [](Desk& desk) { start(read_at_once, desk.stream, 1, desk.numbers); }},
    {"SharedMemoryIsWrittenAgainWithoutABarrier", Mistake::race_of_threads,
     [](Desk& desk) { start(write_while_others_read, desk.stream, 1, desk.numbers); }},
    {"TwoThreadsWriteTheSameValue", Mistake::race_of_threads,
     [](Desk& desk) { start(write_first, desk.stream, 1, desk.numbers); }},
    {"TwoBlocksWriteOneElement", Mistake::race_of_blocks,
     [](Desk& desk) { start(write_own_block, desk.stream, 2, desk.numbers); }},
    {"ABlockReadsWhatAnotherWrites", Mistake::race_of_blocks,
     [](Desk& desk) { launch_kernel(read_neighbouring_block, 2, kThreads / 2, desk.stream, desk.numbers); }},
    {"BlocksAddWithoutAtomics", Mistake::race_of_blocks,
     [](Desk& desk) { start(count_plainly, desk.stream, 2, desk.numbers); }},
    {"AKernelWritesBehindTheEnd", Mistake::out_of_bounds,
     [](Desk& desk) { start(write_behind_the_end, desk.stream, 1, desk.numbers); }},
    {"AKernelWritesBeforeTheBeginning", Mistake::out_of_bounds,
     [](Desk& desk) { start(write_before_the_beginning, desk.stream, 1, desk.numbers); }},
    {"ACopyIsLongerThanItsMemory", Mistake::out_of_bounds,
     [](Desk& desk) {
       cudaMemcpyAsync(desk.numbers + 1, desk.results, kBytes, cudaMemcpyDeviceToDevice, desk.stream);
     }},
    {"AWideAccessIsMisaligned", Mistake::misaligned,
     [](Desk& desk) { launch_kernel(write_two_off, 1, 2, desk.stream, desk.numbers); }},
    {"ThreadsWaitAtDifferentBarriers", Mistake::barrier,
     [](Desk& desk) { start(wait_apart, desk.stream, 1, desk.numbers); }},
    {"ALaneWaitsAtABarrierWhileOthersVote", Mistake::deadlock,
     [](Desk& desk) { start(vote_without_one, desk.stream, 1, desk.numbers); }},
    {"AVoteWaitsForALaneThatNeverComes", Mistake::deadlock,
     [](Desk& desk) { start(wait_for_ever, desk.stream, 1, desk.numbers); }},
    {"LanesVoteAtDifferentPlaces", Mistake::warp, [](Desk& desk) { start(vote_apart, desk.stream, 1, desk.numbers); }},
    {"ALaneVotesWithoutBeingInItsMask", Mistake::warp,
     [](Desk& desk) { launch_kernel(vote_for_others, 1, 16, desk.stream, desk.numbers); }},
    {"ALaneReadsFromOneThatLeft", Mistake::warp,
     [](Desk& desk) { start(read_from_a_lane_that_left, desk.stream, 1, desk.numbers); }},
    {"SharedMemoryIsReadThatNobodyWrote", Mistake::unwritten,
     [](Desk& desk) { start(leave_one_out, desk.stream, 1, desk.numbers); }},
    {"AKernelReadsFreshMemory", Mistake::unwritten,
     [](Desk& desk) { start(copy, desk.stream, 1, desk.results, desk.fresh); }},
    {"ACopyReadsFreshMemory", Mistake::unwritten,
     [](Desk& desk) { cudaMemcpyAsync(desk.host, desk.fresh, kBytes, cudaMemcpyDeviceToHost, desk.stream); }},
    {"AKernelReadsTheHostsMemory", Mistake::host_memory,
     [](Desk& desk) { start(copy, desk.stream, 1, desk.results, desk.host); }},
    {"AThreadReadsItsNeighboursLocals", Mistake::host_memory,
     [](Desk& desk) { start(read_a_neighbours_local, desk.stream, 1, desk.results); }},
    {"AStreamReadsWhatAnotherWrites", Mistake::race_of_streams,
     [](Desk& desk) {
       start(fill, desk.stream, 1, desk.numbers, 1U);
       start(copy, desk.other, 1, desk.results, desk.numbers);
     }},
    {"AnEventIsRecordedBeforeTheWork", Mistake::race_of_streams,
     [](Desk& desk) {
       cudaEventRecord(desk.event, desk.stream);
       start(fill, desk.stream, 1, desk.numbers, 1U);
       cudaStreamWaitEvent(desk.other, desk.event, 0);
       start(copy, desk.other, 1, desk.results, desk.numbers);
     }},
    {"AWriterWaitsForOneOfTwoReaders", Mistake::race_of_streams,
     [](Desk& desk) {
       unsigned* const more = desk.make(desk.stream);
       cudaStreamSynchronize(desk.stream);
       start(copy, desk.stream, 1, more, desk.numbers);
       start(copy, desk.other, 1, desk.results, desk.numbers);
       cudaEventRecord(desk.event, desk.other);
       cudaStreamWaitEvent(desk.third, desk.event, 0);
       start(fill, desk.third, 1, desk.numbers, 2U);
       cudaStreamSynchronize(desk.third);
       cudaFreeAsync(more, desk.stream);
     }},
    {"MemoryIsFreedWhileAnotherStreamUsesIt", Mistake::freed_in_use,
     [](Desk& desk) {
       unsigned* const more = desk.make(desk.stream);
       cudaStreamSynchronize(desk.stream);
       start(fill, desk.stream, 1, more, 1U);
       cudaFreeAsync(more, desk.other);
     },
     Mistake::use_after_free},
    {"MemoryIsUsedAfterItWasFreed", Mistake::use_after_free,
     [](Desk& desk) {
       unsigned* const more = desk.make(desk.stream);
       cudaFreeAsync(more, desk.stream);
       start(fill, desk.stream, 1, more, 1U);
     }},
    {"MemoryIsUsedBeforeItIsAllocated", Mistake::not_yet_allocated,
     [](Desk& desk) {
       unsigned* const more = desk.make(desk.stream);
       start(fill, desk.other, 1, more, 1U);
       cudaStreamSynchronize(desk.other);
       cudaFreeAsync(more, desk.stream);
     }},
    {"MemoryIsFreedTwice", Mistake::bad_free,
     [](Desk& desk) {
       unsigned* const more = desk.make(desk.stream);
       cudaFreeAsync(more, desk.stream);
       cudaFreeAsync(more, desk.stream);
     }},
    {"MemoryOfAPoolIsFreedAsIfItHadNone", Mistake::bad_free, [](Desk& desk) { cudaFree(desk.numbers); }},
    {"AGpuUsesAnothersMemory", Mistake::no_peer_access,
     [](Desk& desk) {
       cudaSetDevice(1);
       start(fill, desk.of_peer, 1, desk.numbers, 1U);
     }},
    {"WorkIsEnqueuedOnADestroyedStream", Mistake::stream,
     [](Desk& desk) {
       cudaStream_t gone = nullptr;
       cudaStreamCreateWithFlags(&gone, cudaStreamNonBlocking);
       cudaStreamDestroy(gone);
       start(fill, gone, 1, desk.numbers, 1U);
     }},
};

constexpr RightProgram kRight[] = {
    {"BarriersBetweenWritesAndReads", [](Desk& desk) { start(turn_round, desk.stream, 1, desk.numbers); }},
    {"AtomicAdditionsOfManyBlocks", [](Desk& desk) { start(count, desk.stream, 3, desk.numbers); }},
    {"NeighbouringBytesOfDifferentThreads",
     [](Desk& desk) { start(fill_bytes, desk.stream, 1, reinterpret_cast<unsigned char*>(desk.fresh)); }},
    {"LanesThatLeaveBeforeAVote",
     [](Desk& desk) { start(vote_without_those_that_left, desk.stream, 1, desk.numbers); }},
    {"SumsOfAllLanes", [](Desk& desk) { start(add_of_lanes, desk.stream, 1, desk.fresh); }},
    {"AnEventBetweenStreams",
     [](Desk& desk) {
       start(fill, desk.stream, 1, desk.numbers, 1U);
       cudaEventRecord(desk.event, desk.stream);
       cudaStreamWaitEvent(desk.other, desk.event, 0);
       start(copy, desk.other, 1, desk.results, desk.numbers);
     }},
    {"ASynchronisationBetweenStreams",
     [](Desk& desk) {
       start(fill, desk.stream, 1, desk.numbers, 1U);
       cudaStreamSynchronize(desk.stream);
       start(copy, desk.other, 1, desk.results, desk.numbers);
     }},
    {"TwoReadersAndAWriterThatWaitsForBoth",
     [](Desk& desk) {
       start(copy, desk.stream, 1, desk.results, desk.numbers);
       start(copy, desk.other, 1, desk.fresh, desk.numbers);
       cudaEventRecord(desk.event, desk.other);
       cudaStreamWaitEvent(desk.stream, desk.event, 0);
       start(fill, desk.stream, 1, desk.numbers, 1U);
     }},
    {"ThreeStreamsWithNeighbouringBytes",
     [](Desk& desk) {
       auto* const bytes = reinterpret_cast<std::byte*>(desk.fresh);
       cudaMemsetAsync(bytes + 3, 0, 1, desk.stream);
       cudaStreamSynchronize(desk.stream);
       cudaMemcpyAsync(desk.numbers, bytes + 3, 1, cudaMemcpyDeviceToDevice, desk.stream);
       cudaMemcpyAsync(desk.results, bytes + 3, 1, cudaMemcpyDeviceToDevice, desk.other);
       cudaMemsetAsync(bytes, 0, 3, desk.third);
     }},
};

}  // namespace

Desk::Desk() {
  cudaSetDevice(1);
  cudaStreamCreateWithFlags(&of_peer, cudaStreamNonBlocking);
  cudaSetDevice(0);
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&third, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  cudaDeviceGetDefaultMemPool(&pool, 0);
  numbers = make(stream);
  results = make(stream);
  fresh = make(stream);
  cudaMemsetAsync(numbers, 0, kBytes, stream);
  cudaMemsetAsync(results, 0, kBytes, stream);
  cudaStreamSynchronize(stream);
}

Desk::~Desk() {
  cudaSetDevice(0);
  for (cudaStream_t each : {stream, other, third, of_peer}) cudaStreamSynchronize(each);
  for (unsigned* each : {numbers, results, fresh}) cudaFreeAsync(each, stream);
  cudaStreamSynchronize(stream);
  for (cudaStream_t each : {stream, other, third, of_peer}) cudaStreamDestroy(each);
  cudaEventDestroy(event);
}

unsigned* Desk::make(cudaStream_t where) const {
  void* made = nullptr;
  cudaMallocFromPoolAsync(&made, kBytes, pool, where);
  return static_cast<unsigned*>(made);
}

std::span<const WrongProgram> wrong_programs() { return kWrong; }
std::span<const RightProgram> right_programs() { return kRight; }

}  // namespace hbench::emulated_gpu
