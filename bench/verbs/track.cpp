#include "bench/verbs/track.hpp"

#include <array>

#include "bench/command/verb.hpp"

namespace hbench {
namespace {

ExitCode run_track(const Call& call) {
  const std::array actions{kTrackInit,   kTrackRun,    kTrackCheck, kTrackHistory,
                           kTrackAccept, kTrackFreeze, kTrackPair,  kTrackBisect};
  return run_action(
      call,
      {.verb = "hbench track",
       .description = "Tracks how fast a project is over its commits.",
       .kind = "action on tracked runs",
       .footer = "Examples:\n  hbench track init && hbench track run\n  hbench track check --baseline main\n"
                 "  hbench track history --out history.html\nhbench track check --help and so on say more."},
      actions);
}

}  // namespace

extern const Verb kTrack;
constinit const Verb kTrack{.name = "track", .summary = "find what has become slower, for CI", .run = run_track};

}  // namespace hbench
