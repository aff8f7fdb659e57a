#include "tests/emulated_gpu/warp.hpp"

#include <fmt/format.h>

#include "tests/emulated_gpu/reports.hpp"

namespace hbench::emulated_gpu {

void Warp::begin(unsigned lanes) {
  alive_ = lanes >= kLanes ? ~0U : (1U << lanes) - 1;
  arrived_ = 0;
}

void Warp::arrive(unsigned lane, WarpOperation operation, unsigned mask, const WarpArgument& argument, Site site) {
  if ((mask >> lane & 1) == 0)
    report(Mistake::warp,
           fmt::format("lane {} is not in its own mask {:#x} at {}:{}", lane, mask, site.file, site.line));
  if (arrived_ == 0) {
    operation_ = operation;
    mask_ = mask;
    site_ = site;
  } else if (operation_ != operation || mask_ != mask || !is_same(site_, site)) {
    report(Mistake::warp, fmt::format("lanes meet at {}:{} with mask {:#x} and at {}:{} with {:#x}", site_.file,
                                      site_.line, mask_, site.file, site.line, mask));
  }
  arguments_[lane] = argument;
  arrived_ |= 1U << lane;
}

bool Warp::is_complete() const {
  const std::uint32_t needed = mask_ & alive_;
  return arrived_ != 0 && (arrived_ & needed) == needed;
}

unsigned Warp::source_of(unsigned lane) const {
  const auto width = static_cast<unsigned>(arguments_[lane].width);
  const auto argument = static_cast<unsigned>(arguments_[lane].lane);
  if (operation_ == WarpOperation::shuffle) return (lane & ~(width - 1)) | (argument & (width - 1));
  const unsigned source = lane ^ argument;
  return source >= kLanes || source / width > lane / width ? lane : source;
}

std::uint32_t Warp::complete() {
  std::uint32_t ballot = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if ((arrived_ >> lane & 1) != 0 && arguments_[lane].value != 0) ballot |= 1U << lane;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if ((arrived_ >> lane & 1) == 0) continue;
    results_[lane] = ballot;
    if (operation_ == WarpOperation::ballot) continue;
    const unsigned source = source_of(lane);
    if ((arrived_ >> source & 1) == 0)
      report(Mistake::warp, fmt::format("lane {} reads from lane {}, which is not there, at {}:{}", lane, source,
                                        site_.file, site_.line));
    results_[lane] = arguments_[source].value;
  }
  const std::uint32_t released = arrived_;
  arrived_ = 0;
  return released;
}

}  // namespace hbench::emulated_gpu
