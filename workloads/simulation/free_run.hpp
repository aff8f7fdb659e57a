#pragma once

/// A job in virtual time whose ranks do not meet in collectives: each has a clock of its own, and exchanges with
/// servers, with its neighbours or with a partner. Their messages share the links of the cluster.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "collectives/network/message_flow.hpp"
#include "collectives/network/stop.hpp"
#include "workloads/simulation/rank_walk.hpp"

namespace hbench {

/// Returns the time of a rank's passes in its next iteration, by that of the timeline.
using Lateness = std::function<double(Rank rank)>;

/// Each rank's passes vary from iteration to iteration: normal, with `deviation`, the same in every run.
Lateness drawn_lateness(double deviation, int workers);

/// How finely such a job is simulated: the less travels in it, the finer.
struct FreeRunGrain {
  /// Bytes that a connection carries before another has its turn. Ranks that have sent at the same time get their
  /// answers at the same time, if a link gives each of them an even part, and so they meet again; whoever is served
  /// before others is ahead of them from then on. At 10 Gbit/s 16 ranks and their servers train MobileNetV2 1.37 times
  /// as fast in turns of a MiB as in turns of 16 KiB; TCP sends no more than 64 KiB at once.
  std::int64_t turn = 0;
  int iterations = 0;  ///< that each rank does at least, with its first ones, which do not count
  Seconds time;        ///< that simulating them takes, about
};
FreeRunGrain grain_of(const World& world, const StepTimeline& timeline, const TrainingStrategy& strategy);

/// Not thread-safe.
class FreeRun : private Carrier, private MessageFlow::Owner {
 public:
  /// What `request` refers to, and `network`, which is empty, outlive it. \pre the plan of the method has one exchange,
  /// which is not among all ranks.
  FreeRun(const RankWalk::Request& request, Network& network, Lateness lateness, StopRequested stop);

  /// The mean step over all ranks and iterations, but for the first of each rank: as many steps of one rank as all
  /// ranks do in its time. Its spans are those of rank 0.
  StepTimes run();

 private:
  struct Walker {
    std::unique_ptr<RankWalk> walk;
    double origin = 0;              ///< when its iteration began
    double due = 0, local_due = 0;  ///< of its next event
    double compute_due = 0;         ///< of its compute, since `origin`
    int iteration = 0;
    double measured_from = 0;
    StepTimes sum;            ///< of measured iterations
    std::map<int, int> came;  ///< messages of neighbours, by iteration and bucket
  };
  /// What a bucket waits for.
  struct Exchange {
    Rank rank = 0;
    int number = 0;                        ///< of the bucket
    int iteration = 0;                     ///< of the rank
    int missing = 0;                       ///< answers
    std::vector<std::int64_t> parts = {};  ///< elements of what a partner is asked
  };
  /// A piece of a tensor, where one server holds it.
  struct Held {
    Rank server = 0;
    std::int64_t elements = 0;
    int version = 0;                ///< gradients that were applied
    int complete = 0;               ///< iterations of which it has the gradients of all ranks
    std::vector<int> pushed;        ///< ranks, by iteration
    std::vector<int> seen;          ///< the version that each rank has
    std::vector<int> waiting = {};  ///< exchanges that wait for an answer
  };
  enum CueKind : int { kReached, kAnswered, kCame };

  void carry(RankWalk& rank, const LaunchedBucket& leaving) override;
  void arrived(int sender, const Transfer& transfer, double at) override;
  void cued(const MessageFlow::Cue& cue) override;

  void send_to_servers(Rank rank, const LaunchedBucket& leaving, double start);
  void send_to_partner(Rank rank, const LaunchedBucket& leaving, double start);
  void send_to_neighbours(Rank rank, const LaunchedBucket& leaving, double start);
  void send(int sender, const Transfer& transfer, std::int64_t elements, double start);
  int open(Rank rank, const LaunchedBucket& leaving, int answers);
  /// A server has got a piece: it applies it, and answers whom it can.
  void reached(int exchange, int piece);
  void answer(int exchange, int part);
  void came(Rank rank, int key);
  void deliver(Rank rank, int number);

  void begin_iteration(Rank rank);
  void end_iteration(Rank rank);
  void rank_event(Rank rank);
  /// Something has happened to a rank: notes when the next thing does.
  void follow(Rank rank);
  StepTimes mean() const;

  Walker& walker(Rank rank) { return walkers_[static_cast<std::size_t>(rank)]; }
  Held& held(int piece) { return held_[static_cast<std::size_t>(piece)]; }
  Exchange& exchange(int index) { return exchanges_[static_cast<std::size_t>(index)]; }

  Network& network_;
  World world_;
  Lateness lateness_;
  StopRequested stop_;
  std::vector<Span>* spans_;  ///< where those of rank 0 go; null: nowhere
  std::vector<Span> spans_of_iteration_;
  Messages messages_, answers_;  ///< what is pushed, by the strategy's compressor, and parameters as they are
  FreeRunGrain grain_;
  MessageFlow flow_;
  std::vector<std::int64_t> elements_;  ///< by tensor
  std::int64_t all_elements_;
  Task task_;                             ///< the exchange of the plan
  int needed_ = 1;                        ///< messages of a bucket, its own and its neighbours', of all ranks alike
  std::vector<Walker> walkers_;           ///< by rank
  std::vector<Held> held_;                ///< with servers
  std::vector<std::vector<int>> pieces_;  ///< by tensor: in `held_`
  std::vector<Exchange> exchanges_;
  std::vector<int> closed_;  ///< places in `exchanges_`
  std::set<std::pair<double, Rank>> due_;
  std::map<int, std::int64_t> unseen_;  ///< how often gradients met as many others that their rank had not seen
  Moved sent_;                          ///< by all, for as many iterations as they do at least
  double now_ = 0;
  int behind_;  ///< ranks that have not done their iterations
};

}  // namespace hbench
