#pragma once

/// The order in which the parts of a bucket travel where ranks add it up in several steps: within groups, then between
/// them.

#include <memory>
#include <span>
#include <vector>

#include "collectives/device/device.hpp"
#include "workloads/methods/step_plan.hpp"

namespace hbench {

/// Whether a scatter leaves runs of the bucket on other ranks than those that gather from there: it is among other
/// groups than all ranks, which share out the model.
bool reorders_parts(const Task& task, const RankGroups& owners);

/// The parts of a bucket, one for each rank of the job, in a reduce-scatter for which `reorders_parts`.
///
/// A reduce-scatter leaves one run of its buffer on each rank. For rank r to end with part r after all steps, the parts
/// that ranks of one place are to have lie together in the buffer: the slice reordering of ZeRO++'s qgZ. Two nodes of
/// two ranks add up parts 0, 2, 1, 3 within nodes, and then 0, 2 or 1, 3 between them.
struct PartOrder {
  std::vector<int> sent;  ///< as they lie in the buffer
  std::vector<int> left;  ///< those that the rank is left with: the run of its place
};
PartOrder part_order(const Task& scatter, Rank rank, int workers);

/// Copies the parts of a bucket to a buffer in their order, and those back that a rank is left with. All are as long as
/// the longest there, so that every run has the same number of elements.
class Slices {
 public:
  /// A part as it lies in memory, piece by piece.
  using Part = std::vector<std::span<float>>;

  /// \param parts of the bucket, by rank; their memory, and the device that it is on, outlive this
  Slices(Device& device, PartOrder order, const std::vector<Part>& parts);

  /// The number of elements of the buffer.
  std::size_t elements() const { return order_.sent.size() * longest_; }
  const std::vector<int>& left() const { return order_.left; }
  void pack(std::span<float> buffer) { packing_->pack(std::as_writable_bytes(buffer)); }
  void unpack(std::span<const float> buffer);

 private:
  std::unique_ptr<Packing> packing_of(Device& device, const std::vector<int>& which, const std::vector<Part>& parts);

  PartOrder order_;
  std::size_t longest_;
  DeviceMemory padding_;  ///< zeros behind shorter parts
  std::unique_ptr<Packing> packing_, unpacking_;
};

}  // namespace hbench
