#include "collectives/cuda/reductions.cuh"

#include "collectives/cuda/launch.cuh"

namespace hbench::cuda {

void accumulate(const Queue& queue, DataType type, ReduceOp op, std::span<const std::byte> in,
                std::span<std::byte> inout) {
  with_accumulate(type, op, in.data(), inout.data(), inout.size(), launching(queue));
}

void fill_neutral(const Queue& queue, DataType type, ReduceOp op, std::span<std::byte> buffer) {
  with_fill_neutral(type, op, buffer.data(), buffer.size(), launching(queue));
}

void finish(const Queue& queue, DataType type, ReduceOp op, int workers, std::span<std::byte> buffer) {
  with_finish(type, op, workers, buffer.data(), buffer.size(), launching(queue));
}

void keep_rest(const Queue& queue, std::span<const float> whole, std::span<float> part) {
  with_keep_rest(reinterpret_cast<const std::byte*>(whole.data()), reinterpret_cast<std::byte*>(part.data()),
                 part.size_bytes(), launching(queue));
}

void change(const Queue& queue, const NumbersChange& by, std::span<float> numbers) {
  with_change(by, numbers, launching(queue));
}

}  // namespace hbench::cuda
