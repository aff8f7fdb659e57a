#pragma once

/// What a plan of `hbench collective` combines: names that are known, with defaults where nothing was asked for.

#include <cstdint>
#include <string>
#include <vector>

#include "bench/collective/means.hpp"
#include "bench/collective/request.hpp"

namespace hbench {

struct Candidates {
  std::vector<int> ranks{};
  std::vector<std::string> algorithms{};  ///< empty: as each executor likes best
  std::vector<std::string> compressors{}, executors{};
};

/// \throws Error (usage) for a name that nothing knows, and for options that none of them takes.
Candidates candidates_of(const CollectiveRequest& request, const CollectiveMachine& machine,
                         const std::vector<std::int64_t>& tensors);

/// Returns the algorithms that were asked for; otherwise one that is good for the executor.
std::vector<std::string> algorithms_on(const std::string& executor, const CollectiveRequest& request,
                                       const Candidates& chosen);

/// Returns the bytes of an element.
std::int64_t element_size(const CollectiveRequest& request);

/// Returns the buffers of each size, in elements. Parts are equal where each worker has one.
std::vector<std::vector<std::int64_t>> buffers_of(const CollectiveRequest& request,
                                                  const std::vector<std::int64_t>& tensors, int workers);

/// Returns what is asked about these buffers, wherever the answer comes from.
Case question_of(const CollectiveRequest& request, int workers, const std::vector<std::int64_t>& buffers);

}  // namespace hbench
