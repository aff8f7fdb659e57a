#pragma once

/// Small traces of torch.profiler for tests, written as it writes them.

#include <string>
#include <vector>

#include "analysis/job/job.hpp"
#include "tests/support/temporary_folder.hpp"

namespace hbench {

/// Events of one rank. Times in milliseconds since the trace began, threads 1 (program), 2 (backward pass) and 3 (the
/// library's).
class TraceText {
 public:
  /// A complete event of the host. `arguments` is what stands in the braces of its `args`.
  TraceText& host(const std::string& name, double begin, double end, int thread = 1, const std::string& arguments = "");
  /// A mark of the program.
  TraceText& mark(const std::string& name, double begin, double end, int thread = 1, const std::string& arguments = "");
  /// A kernel, and the launch of it by a thread.
  TraceText& kernel(const std::string& name, double launched, int thread, double begin, double end,
                    const std::string& arguments = "");
  /// A kernel that was launched before the recording began.
  TraceText& earlier_kernel(const std::string& name, double begin, double end);
  /// The gradient of a tensor; 0 elements: its shape is not recorded.
  TraceText& gradient(double begin, double end, int elements);
  TraceText& raw(const std::string& event);

  /// With `distributedInfo` where there are ranks.
  std::string text(int rank = 0, int world = 2, const std::string& backend = "gloo") const;

 private:
  std::string events_;
  int correlation_ = 0;
};

/// Two steps of 100 ms that begin at 0 and 100: forward 20, backward 40 with three gradients of 10, 20 and 30 elements
/// in two buckets, of which the second arrives 10 ms after the backward pass, on the processor with Gloo. A rank that
/// is `earlier` by some milliseconds waits for as long.
TraceText gloo_steps(double earlier = 0);

/// Writes a text into a file of a temporary folder; its name.
std::string file_of(const TemporaryFolder& folder, const std::string& name, const std::string& text);

/// The job of these files.
TrainingJob job_of(const std::vector<std::string>& files, const JobRequest& request = {});

}  // namespace hbench
