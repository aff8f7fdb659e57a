#pragma once

/// The events of a trace of PyTorch's profiler that say where a step's time goes, taken out of the millions that do
/// not. Names of events and of their arguments: pytorch/kineto `libkineto/src/output_json.cpp`, and what
/// torch.profiler 1.13 to 2.x write.

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/job/recording.hpp"

namespace hbench {

struct KinetoEvents {
  struct Interval {
    double begin = 0, end = 0;  ///< seconds; all events of a file have one origin
    std::int64_t thread = 0;
  };
  struct Mark : Interval {
    std::string name;
  };
  struct Gradient : Interval {
    std::int64_t elements = 0;  ///< 0: shapes were not recorded
  };
  /// One function of the backward pass.
  struct Task : Interval {
    std::int64_t sequence = 0;  ///< the place of its operator among those of the forward pass; 0: not recorded
  };
  struct Kernel {
    double begin = 0, end = 0;
    std::int64_t correlation = 0;
    double launched = std::numeric_limits<double>::infinity();  ///< by the host; infinite: not known
  };
  struct Launch {
    double at = 0;
    std::int64_t thread = 0, correlation = 0;
  };
  /// A call of a collective by the program, or its run on a device or a thread of the library.
  struct Exchange : Interval {
    std::string operation, type, group, group_words;
    std::int64_t elements = 0;
    int ranks = 0;
    std::int64_t correlation = 0;  ///< of a kernel
  };

  std::vector<Mark> steps;       ///< `ProfilerStep#N`
  std::vector<Mark> optimizers;  ///< `Optimizer.step#NAME`
  std::vector<Task> tasks;       ///< of the backward pass
  std::vector<Gradient> gradients;
  std::vector<Exchange> calls, runs;
  std::vector<Kernel> kernels;  ///< of the model: those of collectives are `runs`
  std::vector<Launch> launches;
  std::vector<Interval> loads;  ///< calls of the data loader
  bool sharded = false;         ///< an event of FSDP was seen
  bool operators = false;       ///< an operator of the model was seen
  bool graphs = false;          ///< a CUDA graph was launched, whose operators are not seen
  /// Facts of the head of the file; rank, world, backend and GPU are filled in.
  Recording facts;
  bool complete = true;      ///< the file ends where its list does
  bool of_pytorch = false;   ///< an event of PyTorch's operators, marks or autograd was seen
  std::string another;       ///< the name of the first event that is none; empty: there is no such event
  double first = 0;          ///< when the first event of PyTorch began; 0: there is none
  std::int64_t untimed = 0;  ///< events whose times are no numbers
};

/// Reads a file. \throws Error (usage) for what is no JSON.
KinetoEvents read_kineto_events(const std::string& file_name);

/// Leaves of the calls one for each collective, in the order of their begins, each with all that is known of it.
/// Returns the run of each call on a device or a thread, null where it is not known; they point into `events.runs`.
/// Runs that nothing called become calls of their own, at the end.
std::vector<const KinetoEvents::Exchange*> runs_of_calls(KinetoEvents& events);

}  // namespace hbench
