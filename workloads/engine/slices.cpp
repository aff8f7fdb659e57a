#include "workloads/engine/slices.hpp"

#include <algorithm>
#include <utility>

namespace hbench {
namespace {

std::size_t elements_of(const Slices::Part& part) {
  std::size_t elements = 0;
  for (const std::span<float> piece : part) elements += piece.size();
  return elements;
}

std::size_t longest_of(const std::vector<Slices::Part>& parts) {
  std::size_t longest = 0;
  for (const Slices::Part& part : parts) longest = std::max(longest, elements_of(part));
  return longest;
}

}  // namespace

bool reorders_parts(const Task& task, const RankGroups& owners) {
  return task.collective == CollectiveKind::reduce_scatter && owners.all() && !task.groups.all();
}

PartOrder part_order(const Task& scatter, Rank rank, int workers) {
  const auto place = [workers](const RankGroups& groups, Rank of) { return groups.place(of, workers); };
  PartOrder order;
  for (Rank owner = 0; owner < workers; ++owner) {
    if (scatter.part_among && place(*scatter.part_among, owner) != place(*scatter.part_among, rank)) continue;
    order.sent.push_back(owner);
    if (place(scatter.groups, owner) == place(scatter.groups, rank)) order.left.push_back(owner);
  }
  std::ranges::stable_sort(order.sent, {}, [&](Rank owner) { return place(scatter.groups, owner); });
  return order;
}

Slices::Slices(Device& device, PartOrder order, const std::vector<Part>& parts)
    : order_(std::move(order)),
      longest_(longest_of(parts)),
      padding_(device.allocate(longest_ * sizeof(float))),
      packing_(packing_of(device, order_.sent, parts)),
      unpacking_(packing_of(device, order_.left, parts)) {
  device.fill_neutral(DataType::float32, ReduceOp::sum, {padding_.get(), longest_ * sizeof(float)});
}

std::unique_ptr<Packing> Slices::packing_of(Device& device, const std::vector<int>& which,
                                            const std::vector<Part>& parts) {
  std::vector<std::span<std::byte>> pieces;
  for (const int index : which) {
    const Part& part = parts[static_cast<std::size_t>(index)];
    for (const std::span<float> piece : part) pieces.push_back(std::as_writable_bytes(piece));
    if (const std::size_t rest = longest_ - elements_of(part); rest > 0)
      pieces.emplace_back(padding_.get(), rest * sizeof(float));
  }
  return device.packing(pieces);
}

void Slices::unpack(std::span<const float> buffer) {
  const auto first = std::ranges::find(order_.sent, order_.left.front()) - order_.sent.begin();
  unpacking_->unpack(
      std::as_bytes(buffer.subspan(static_cast<std::size_t>(first) * longest_, order_.left.size() * longest_)));
}

}  // namespace hbench
