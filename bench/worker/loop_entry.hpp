#pragma once

/// One candidate of a size in a rank's loop, with what it has shown so far.

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/worker/candidate.hpp"
#include "bench/worker/gpu_observations.hpp"
#include "bench/worker/loop_case.hpp"

namespace hbench {

struct LoopEntry {
  const LoopCase* of = nullptr;
  Endpoint* endpoint = nullptr;
  std::span<std::byte> buffer{};
  std::unique_ptr<Candidate> candidate{};  ///< null where it cannot be done
  std::string refusal{};                   ///< why not
  bool void_in_place = false, void_out_of_place = false;
  int iterations = 0;
  bool slow = false;                                          ///< one iteration takes longer than the budget
  std::map<std::string_view, std::vector<double>> times{};    ///< seconds of this rank, by metric
  std::map<std::string_view, std::vector<double>> warmups{};  ///< the same, not to be counted
  std::vector<Sample> figures{};
  GpuObservations looks{};
  bool lossy = false;
  int passes = 0;  ///< over memory, for the bound

  std::size_t bytes() const { return static_cast<std::size_t>(of->asked.collective.bytes); }
  Device& device() const { return endpoint->device(); }
  bool in_host_memory() const { return &device() == &host_device(); }
  bool runs() const { return candidate != nullptr; }

  void add_time(std::string_view metric, double seconds, bool warmup) {
    (warmup ? warmups : times)[metric].push_back(seconds);
  }
  /// A figure of the job, not of one rank or iteration.
  void add_figure(std::string_view metric, double value, std::string_view unit) {
    figures.push_back({.metric = std::string(metric), .value = value, .unit = std::string(unit)});
  }
};

/// \pre aligned as floats are
inline std::span<float> as_floats(std::span<std::byte> bytes) {
  return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
}

}  // namespace hbench
