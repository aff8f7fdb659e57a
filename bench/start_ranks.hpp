#pragma once

/// Ranks of one job, from their start to their end.

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bench/environment.hpp"
#include "bench/verdict.hpp"

namespace hbench {

/// What is started, and for how long it may be silent.
struct RankStart {
  std::string_view launcher;  ///< by name
  int processes = 1;
  std::vector<std::string> worker;                 ///< program and arguments of every process
  std::map<std::string, std::string> environment;  ///< added to ours
  Seconds silence{0};                              ///< of all of them; they are stopped after it
};

/// Ranks say why they give up before the parent, who waits for so much longer, notices silence.
inline constexpr Seconds kGrace{10};

/// Runs the ranks to their end and says how it came; on Ctrl-C (see `interrupted`) whatever it was is good. No process
/// stays behind. `heard` takes in which processes there are and what they fail of; `on_line` hears all that they say,
/// and must see to `Heard::complete`. \throws Error (environment) when the launcher is missing.
Ending start_ranks(const RankStart& start, const Host& host, Heard& heard,
                   const std::function<void(const WorkerLine& line)>& on_line);

}  // namespace hbench
