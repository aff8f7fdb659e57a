#include "bench/worker/probe.hpp"

#include "bench/worker/rank_endpoints.hpp"

namespace hbench {

ExitCode run_probe_worker(const ProbeOrder& order, const Say& say) {
  const std::unique_ptr<RankEndpoints> endpoints = make_process_endpoints();
  Endpoint& home = endpoints->home();
  const ProbeReport report{.pass_begins =
                               [&](int pass) {
                                 say(WorkingLine{0, pass});
                               },
                           .computed =
                               [&](Rank rank, const std::vector<double>& speeds) {
                                 say(SpeedLine{rank, std::nullopt, speeds});
                               },
                           .exchanged =
                               [&](Rank a, Rank b, const std::vector<double>& rates) {
                                 say(SpeedLine{a, b, rates});
                               }};
  return run_rank(&home, say, [&] {
    require_ranks(home.transport(), order.ranks);
    probe_speeds(home.control(), order, report);
    if (home.transport().rank() == 0) say(DoneLine{0, ""});
  });
}

}  // namespace hbench
