#include <array>

#include "collectives/algorithms/algorithm.hpp"

namespace hbench {

// All-reduces
extern const Algorithm kRing;
extern const Algorithm kSegmentedRing;
extern const Algorithm kRecursiveDoubling;
extern const Algorithm kHalvingDoubling;
extern const Algorithm kBinomialTree;
extern const Algorithm kDoubleBinaryTree;
extern const Algorithm kHierarchical;
extern const Algorithm kTorus;
extern const Algorithm kDirect;
extern const Algorithm kParameterServer;
extern const Algorithm kVendor;
// What they are made of
extern const Algorithm kRingReduceScatter;
extern const Algorithm kSegmentedRingReduceScatter;
extern const Algorithm kRecursiveHalving;
extern const Algorithm kDirectReduceScatter;
extern const Algorithm kVendorReduceScatter;
extern const Algorithm kRingAllGather;
extern const Algorithm kSegmentedRingAllGather;
extern const Algorithm kRecursiveDoublingAllGather;
extern const Algorithm kDirectAllGather;
extern const Algorithm kVendorAllGather;
extern const Algorithm kBinomialBroadcast;
extern const Algorithm kDoubleTreeBroadcast;
extern const Algorithm kChain;
extern const Algorithm kVendorBroadcast;

std::span<const Algorithm* const> algorithms() {
  static constexpr std::array kTable{
      &kRing,
      &kSegmentedRing,
      &kRecursiveDoubling,
      &kHalvingDoubling,
      &kBinomialTree,
      &kDoubleBinaryTree,
      &kHierarchical,
      &kTorus,
      &kDirect,
      &kParameterServer,
      &kVendor,
      &kRingReduceScatter,
      &kSegmentedRingReduceScatter,
      &kRecursiveHalving,
      &kDirectReduceScatter,
      &kVendorReduceScatter,
      &kRingAllGather,
      &kSegmentedRingAllGather,
      &kRecursiveDoublingAllGather,
      &kDirectAllGather,
      &kVendorAllGather,
      &kBinomialBroadcast,
      &kDoubleTreeBroadcast,
      &kChain,
      &kVendorBroadcast,
  };
  return kTable;
}

}  // namespace hbench
