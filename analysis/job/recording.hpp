#pragma once

/// What a training job's own recording says about it: plain data, one process (rank) of the job each. Formats fill it
/// in; `job.hpp` makes a workload of it. What a format does not know stays empty or 0, and is never guessed.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/base/error.hpp"
#include "collectives/base/units.hpp"

namespace hbench {

/// One exchange between ranks. Times count from the beginning of its step.
struct RecordedCollective {
  std::string
      operation;  ///< `all-reduce`, `all-gather`, `reduce-scatter`, `all-to-all`, `broadcast`, `send-receive` ..
  std::int64_t elements = 0;  ///< that one rank puts in; 0: not known
  std::int64_t bytes = 0;     ///< the same, of recorders that see bytes and no elements; 0: not known
  std::string type;           ///< of an element: `float32`, `bfloat16` ..; empty: not known
  std::string group;          ///< the recorder's name of the ranks that take part; empty: not known
  std::string group_words;    ///< what the program says that these are; empty: nothing
  int ranks = 0;              ///< that take part; 0: not known
  bool in_backward = false;   ///< launched by the backward pass, or found to be late: it carries gradients
  /// Launched after the backward pass and before the optimizer: it carries gradients where the sizes say so
  /// (`job_parts.cpp`).
  bool after_backward = false;
  /// Of its step's gradients, those that had been announced when it was launched; absent where that is not known.
  std::optional<int> gradients_before;
  Seconds launched;                 ///< when the program asked for it; not known where the step's time is not
  std::optional<Seconds> began;     ///< when it began on its device or thread
  std::optional<Seconds> duration;  ///< from there to its end; waiting for other ranks is a part of it
  Seconds alone;                    ///< of it, with no kernel of the model at work beside it; 0: not known
  /// The end of it, until which the backward pass stood still with kernels that had been launched; 0: not known.
  Seconds held;
};

/// An exchange that had not completed when its recorder wrote the file.
struct UnfinishedExchange {
  std::string name;             ///< the recorder's: `all_reduce`, `recv 1<-0`
  std::int64_t sequence = 0;    ///< its number in its group; 0: not known, or between two ranks
  bool between_two = false;     ///< a send or a receive: what completes in its group says nothing of it
  std::int64_t bytes = 0;       ///< that one rank puts in; 0: not known
  std::int64_t launched = 0;    ///< nanoseconds since 1970
  std::optional<bool> started;  ///< on its device; absent where the recorder does not see starts
};

/// The exchanges that a rank has called in a group of ranks.
struct RecordedGroup {
  std::vector<int> members;                    ///< empty: not known
  std::int64_t last = 0;                       ///< the number of the newest exchange
  std::vector<UnfinishedExchange> unfinished;  ///< in their order
};

/// A gradient in the order in which they became ready.
struct RecordedGradient {
  std::string tensor;         ///< empty: not named
  std::int64_t elements = 0;  ///< 0: not known
  Seconds ready;              ///< since the step began
};

/// One step of one rank.
struct RecordedStep {
  std::string name;  ///< as the recorder calls it
  Seconds time;      ///< 0: not known
  /// Since the step began: the backward pass. Absent where the recording does not show it.
  std::optional<Seconds> backward_began, backward_ended;
  std::optional<Seconds> compute;  ///< with a kernel of the model at work (GPUs), or a thread (processors)
  /// Of the optimizer after the backward pass, its kernels (GPUs) or its call: when it began, and how long it took.
  /// Absent where it is not shown.
  std::optional<Seconds> optimizer_began, optimizer;
  std::optional<Seconds> input;  ///< in calls of the data loader; absent where no call is recorded
  /// After the backward pass until what was still on its way had arrived.
  Seconds exposed;
  std::vector<RecordedGradient> gradients;
  std::vector<RecordedCollective> collectives;
};

/// The way to record, with the program that wrote a file, what that lacks; empty where this is not known.
struct RecordingAdvice {
  std::string_view passes;    ///< where the time of a step goes
  std::string_view steps;     ///< how long a step takes
  std::string_view sizes;     ///< of tensors
  std::string_view launches;  ///< of a job whose gradients leave late: so that they leave sooner
};

/// One file, or one rank of a file that has several.
struct Recording {
  std::string file;    ///< as the user named it
  std::string format;  ///< its name in the table of formats
  std::optional<int> rank;
  int world = 0;                     ///< ranks of the job; 0: not known
  int sharing = 0;                   ///< of them, those that share one sum of gradients; 0: not known
  std::string backend;               ///< `nccl`, `gloo` ..
  std::string gpu;                   ///< as the driver calls it; empty: none, or not known
  bool sharded = false;              ///< parameters are gathered before they are used (FSDP, ZeRO-3)
  int batch = 0;                     ///< samples of one rank and step; 0: not known
  std::vector<RecordedStep> steps;   ///< at least one, or `no_steps` says why not
  std::vector<std::string> unknown;  ///< what the file does not say, in sentences, each with its cure
  std::string no_backward;           ///< where no step shows its backward pass: why, and the cure; empty: as usual
  int global_batch = 0;              ///< samples of all ranks and a step; 0: not known
  bool of_all = false;               ///< the file speaks for all ranks: it waits for none that is not in it
  RecordingAdvice advice;            ///< the format's
  /// Why there is no step: only of a recorder that also sees what has not completed.
  std::optional<Error> no_steps;
  std::map<std::string, RecordedGroup> groups;  ///< by name, of a recorder that sees what has not completed
  bool complete = true;                         ///< the file does not end before what the recorder saw does
  std::int64_t newest = 0;  ///< of a recorder with `groups`: nanoseconds since 1970 of its last event; 0: not known
};

}  // namespace hbench
