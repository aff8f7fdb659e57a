// The functions of CUDA's runtime that are about streams and events.

#include <chrono>

#include "tests/emulated_gpu/runtime.hpp"

using namespace hbench::emulated_gpu;  // NOLINT(google-build-using-namespace)

namespace {

EventState& event_of(cudaEvent_t handle) { return *reinterpret_cast<EventState*>(handle); }
Scheduler& scheduler() { return machine().scheduler; }

}  // namespace

extern "C" {

// Blocking streams wait for the default stream, which is not emulated: hbench has none.
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* pStream, unsigned flags) {
  return call([&] {
    if (flags != cudaStreamNonBlocking) return cudaErrorInvalidValue;
    *pStream = reinterpret_cast<cudaStream_t>(&scheduler().make_stream(current_device()));
    return cudaSuccess;
  });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return call([&] {
    scheduler().destroy(stream_of(stream));
    return cudaSuccess;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return call([&] {
    scheduler().synchronize(stream_of(stream));
    return cudaSuccess;
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  return call([&] {
    if (event_of(event).recorded != nullptr) scheduler().wait(stream_of(stream), event_of(event).recorded);
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return call([&] {
    auto* const made = new EventState{current_device(), (flags & cudaEventDisableTiming) == 0, nullptr};
    *event = reinterpret_cast<cudaEvent_t>(made);
    return cudaSuccess;
  });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return call([&] {
    delete &event_of(event);
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return call([&] {
    if (event_of(event).device != stream_of(stream).device) return cudaErrorInvalidResourceHandle;
    event_of(event).recorded = scheduler().record(stream_of(stream));
    return cudaSuccess;
  });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return call([&] {
    const auto recorded = event_of(event).recorded;
    return recorded == nullptr || scheduler().query(recorded) ? cudaSuccess : cudaErrorNotReady;
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return call([&] {
    if (const auto recorded = event_of(event).recorded; recorded != nullptr) scheduler().synchronize(recorded);
    return cudaSuccess;
  });
}

// The time of the emulation, which says nothing of a GPU's: it only never runs backwards.
cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  return call([&] {
    const EventState &from = event_of(start), &to = event_of(end);
    if (!from.is_timed || !to.is_timed || !from.recorded || !to.recorded) return cudaErrorInvalidResourceHandle;
    if (!from.recorded->is_done || !to.recorded->is_done) return cudaErrorNotReady;
    *ms = std::chrono::duration<float, std::milli>(to.recorded->time - from.recorded->time).count();
    return cudaSuccess;
  });
}

}  // extern "C"
