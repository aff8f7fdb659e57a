#include "bench/collective/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>

#include "collectives/algorithms/algorithm.hpp"
#include "collectives/base/error.hpp"
#include "collectives/base/parameters.hpp"
#include "collectives/base/text.hpp"
#include "collectives/base/units_text.hpp"
#include "collectives/fusion/fusion.hpp"

namespace hbench {
namespace {

constexpr int kMostRanks = 1024;
constexpr int kMostSimulatedRanks = 1 << 20;
constexpr std::size_t kMostSizes = 4096;
/// Beyond these nobody waits, or no rank has memory for the schedule.
constexpr double kMostSeconds = 1e6;
constexpr int kMostSegments = 1024;

/// What is understood when all flags are known.
struct Unread {
  std::string ranks;
  int check = 1;
};

std::vector<int> parse_ranks(const std::string& text, int most) {
  std::vector<int> ranks;
  if (text.empty()) return ranks;
  for (const std::string& item : split_list(text, "--ranks")) {
    const int count = parse_number<int>(item).value_or(0);
    if (count < 1 || count > most)
      throw Error(ExitCode::usage, fmt::format("--ranks {}: '{}' is not a number of ranks", text, item),
                  fmt::format("write such as 2,4,8: from 1 to {}", most));
    if (std::ranges::find(ranks, count) == ranks.end()) ranks.push_back(count);
  }
  return ranks;
}

/// nccl-tests takes seconds without a unit.
Seconds seconds_flag(const std::string& text, std::string_view flag) {
  const bool plain = !text.empty() && text.find_first_not_of("0123456789.") == std::string::npos;
  Seconds time{0};
  try {
    time = parse_seconds(plain ? text + " s" : text);
  } catch (const Error&) {
  }
  if (time.value > 0 && time.value <= kMostSeconds) return time;
  throw Error(ExitCode::usage, fmt::format("{} {}: not a time above 0, up to {:.0f} s", flag, text, kMostSeconds),
              "write seconds, or a time such as 500ms");
}

BytesPerSecond link_flag(const std::string& text) {
  const std::string hint = "write what a link carries, such as 95.6Mbit/s or 11.5GB/s";
  BytesPerSecond rate{0};
  try {
    rate = parse_rate(text);
  } catch (const Error& error) {
    throw Error(ExitCode::usage, fmt::format("--link {}: {}", text, error.what()), hint);
  }
  if (rate.value > 0) return rate;
  throw Error(ExitCode::usage, fmt::format("--link {}: not a rate above 0", text), hint);
}

/// `--warmup_iters` is `--warmup-iters`: nccl-tests writes the one, most others the other.
Call with_dashes(Call call) {
  for (std::string& argument : call.arguments) {
    if (!argument.starts_with("--")) continue;
    const auto end = argument.begin() + static_cast<std::ptrdiff_t>(std::min(argument.find('='), argument.size()));
    std::replace(argument.begin(), end, '_', '-');
  }
  return call;
}

/// What has no meaning beside the rest is refused: nothing that was asked for is left out without a word.
void refuse_idle_flags(const Arguments& app, const CollectiveRequest& request) {
  const auto given = [&](const char* flag) { return app.count(flag) > 0; };
  if (!request.fusion.empty() && request.workload.empty())
    throw Error(ExitCode::usage, "--fusion merges the tensors of a --workload, and none is given",
                "add such as --workload vgg16");
  for (const char* flag : {"--minbytes", "--maxbytes", "--stepfactor", "--stepbytes"})
    if (given(flag) && !request.workload.empty())
      throw Error(ExitCode::usage, fmt::format("{} is for sizes, and the tensors of a --workload have their own", flag),
                  fmt::format("leave out {} or --workload", flag));
  for (const char* flag : {"--iters", "--warmup-iters", "--check", "--timeout", "--budget", "--peers", "--mpich",
                           "--launches", "--ranks-per-node", "--workload"})
    if (given(flag) && request.simulates())
      throw Error(ExitCode::usage, fmt::format("{} is for measured collectives, and --profile simulates them", flag),
                  fmt::format("leave out {} or --profile", flag));
  if (given("--op") && !reduces(request.collective))
    throw Error(ExitCode::usage,
                fmt::format("--op is for what adds up, and {} does not", to_string(request.collective)),
                "leave out --op");
}

/// Clusters are simulated, and only simulated: a clock and virtual time have no turns to take.
void understand_profiles(CollectiveRequest& request) {
  const std::string simulate = "simulate";
  const bool asked = std::ranges::find(request.executors, simulate) != request.executors.end();
  if (asked && request.profiles.empty())
    throw Error(ExitCode::usage, "--executor simulate needs a cluster", "add --profile NAME (hbench list profiles)");
  if (!request.profiles.empty() && request.executors.empty()) request.executors = {simulate};
  if (!request.profiles.empty() && request.executors != std::vector{simulate})
    throw Error(ExitCode::usage,
                fmt::format("--profile is for --executor simulate, not for {}", fmt::join(request.executors, ",")),
                "simulate a cluster and measure this machine with two commands");
}

/// Adds the flags of what is done, and on how many bytes.
void add_messages(Arguments& app, CollectiveRequest& request) {
  app.add_parsed("collective", request.collective, parse_collective_kind,
                 "all-reduce, reduce-scatter, all-gather or broadcast", "all-reduce");
  add_sizes(app, request.min_bytes, request.max_bytes, "; K, M, G = 2^10, 2^20, 2^30", "8", "128M");
  Option* factor =
      app.add_option("-f,--stepfactor", request.factor, "factor from one size to the next", in_range(1.0001, 1e9));
  app.add_parsed("-i,--stepbytes", request.step_bytes, parse_size, "bytes from one size to the next, instead of -f")
      ->excludes(factor);
}

/// Adds the flags of how often sizes are timed, how, and of which elements.
void add_timing(Arguments& app, CollectiveOptions& options, Unread& unread) {
  CollectiveRequest& request = options.request;
  app.add_option("-n,--iters", options.loop.iterations, "timed iterations (default: 0, by size, within --budget)",
                 in_range(0, 1'000'000));
  app.add_option("-w,--warmup-iters", options.loop.warmups, "warm-up iterations, not timed", in_range(0, 1'000'000));
  app.add_option("-c,--check", unread.check, "1: check each size before it is timed; 0: do not",
                 in_range(0, 1'000'000));
  app.add_parsed("-o,--op", request.op, parse_reduce_op, "sum, average, min, max, product", "sum");
  app.add_parsed("-d,--datatype", request.type, parse_data_type,
                 "float32, float64, float16, bfloat16, int32, int64, uint8", "float32");
  app.add_parsed("-T,--timeout", options.loop.timeout, seconds_flag,
                 "time without an answer after which a rank counts as lost (60 are seconds; 2 min)", "60");
  app.add_parsed("--budget", options.loop.budget, seconds_flag, "time for the iterations of one size", "0.3 s");
}

/// Adds the flags of what is compared, and of what it runs on.
void add_candidates(Arguments& app, CollectiveOptions& options, Unread& unread) {
  CollectiveRequest& request = options.request;
  app.add_option("--ranks", unread.ranks,
                 "numbers of ranks (comma list; default: one per core; of a profile one and two nodes)");
  app.add_list("--algorithm", request.algorithms,
               "hbench list algorithms; vendor is the MPI library's, of a profile NCCL's (comma list)");
  app.add_list("--compressor", request.compressors, "hbench list compressors (comma list)");
  app.add_list("--executor", request.executors, "executors: hbench list executors (comma list)");
  add_profiles(app, request.profiles, "simulate on these clusters instead: hbench list profiles (comma list)");
  app.add_parsed("--servers", request.servers, parse_servers,
                 "parameter servers: colocated, 4 (dedicated), colocated:4");
  app.add_option("--ranks-per-node", request.ranks_per_node, "ranks per node, for hierarchical algorithms",
                 in_range(1, kMostRanks));
  app.add_option("--segments", request.segments, "segments of pipelined algorithms (default: chosen by the algorithm)",
                 in_range(1, kMostSegments));
  app.add_flag("--peers", request.peers,
               "also measure the all-reduces of other libraries that are here (MPI, Gloo, MPICH, Intel MPI, "
               "Open MPI, oneCCL), in turn with those of hbench");
  app.add_option("--mpich", options.mpich,
                 "the hbench-worker that was built with MPICH, for --peers; Intel MPI runs with it too");
  app.add_parsed("--link", options.link, link_flag,
                 "bandwidth of each rank's link (95.6Mbit/s): print the share that is reached");
  app.add_option("--workload", request.workload, "the tensors of a trace instead of sizes (hbench list workloads)");
  app.add_option("--fusion", request.fusion, "fusion policy that merges them (hbench list fusion)");
  add_launches(app, options.launches, "number of independent launches of all cases");
}

/// Adds the flags of outputs.
void add_outputs(Arguments& app, CollectiveOptions& options) {
  options.output.add_options(app, "-J,--out");
  add_database(app, options.database, "also append every case to a results database");
  add_labels(app, options.labels);
  add_dry_run(app, options.dry_run);
  add_verbosity(app, options.verbosity);
}

}  // namespace

std::vector<std::int64_t> tensors_of(const StepTimeline& timeline, const std::string& fusion, DataType type) {
  const auto element_size = static_cast<std::int64_t>(size_of(type));
  std::vector<std::int64_t> elements, bytes;
  for (const GradientEvent& gradient : timeline.gradients) {
    elements.push_back(gradient.elements);
    bytes.push_back(gradient.elements * element_size);
  }
  if (fusion.empty()) return elements;
  const std::unique_ptr<FusionPolicy> policy = parse_fusion(fusion).make(bytes);
  std::vector<std::int64_t> buckets;
  int done = 0;
  // Every bucket is through at once: what merges is the policy, not a slow network.
  const auto tell = [&](const FusionEvent& event) {
    std::vector<Bucket> launched = policy->on(event);
    while (!launched.empty()) {
      std::vector<Bucket> next;
      for (const Bucket& bucket : launched) {
        buckets.push_back(bucket.bytes(bytes) / element_size);
        ++done;
        std::ranges::move(policy->on({FusionEventKind::bucket_done, event.at, done}), std::back_inserter(next));
      }
      launched = std::move(next);
    }
  };
  const auto timers_until = [&](Seconds now) {
    for (auto wakeup = policy->wakeup(); wakeup && *wakeup <= now; wakeup = policy->wakeup())
      tell({FusionEventKind::timer, *wakeup, 0});
  };
  tell({FusionEventKind::step_begin, Seconds(0), 0});
  for (std::size_t i = 0; i < timeline.gradients.size(); ++i) {
    const Seconds at = timeline.forward + timeline.gradients[i].ready;
    timers_until(at);
    tell({FusionEventKind::gradient_ready, at, static_cast<int>(i)});
  }
  const Seconds end = timeline.step();
  timers_until(end);
  tell({FusionEventKind::backward_done, end, 0});
  timers_until(end + Seconds(3600));
  return buckets;
}

std::vector<std::int64_t> sizes_of(const CollectiveRequest& request) {
  if (request.min_bytes > request.max_bytes)
    throw Error(
        ExitCode::usage,
        fmt::format("the smallest size, {} B, is above the largest, {} B", request.min_bytes, request.max_bytes),
        "give -b and -e the other way round, or both the same");
  std::vector<std::int64_t> sizes;
  for (std::int64_t bytes = request.min_bytes; bytes <= request.max_bytes;) {
    sizes.push_back(bytes);
    if (sizes.size() > kMostSizes)
      throw Error(ExitCode::usage, fmt::format("these are more than {} sizes", kMostSizes),
                  "choose a larger --stepbytes or --stepfactor");
    const double next = request.step_bytes > 0
                            ? static_cast<double>(bytes) + static_cast<double>(request.step_bytes)
                            : std::max(static_cast<double>(bytes) * request.factor, static_cast<double>(bytes) + 1);
    if (next > static_cast<double>(request.max_bytes)) break;
    bytes = static_cast<std::int64_t>(next);
  }
  return sizes;
}

std::optional<CollectiveOptions> parse_collective_options(const Call& call) {
  CollectiveOptions options;
  CollectiveRequest& request = options.request;
  Unread unread;
  Arguments app(
      "Times a collective over message sizes, each checked before it is timed: nccl-tests' options and columns.",
      "hbench collective");
  app.footer(
      "Examples:\n"
      "  hbench collective\n"
      "  hbench collective -b 1K -e 64M -f 4 --ranks 2,4 --algorithm ring,vendor\n"
      "  hbench collective --algorithm ring --compressor none,fp16 -b 1M -e 16M\n"
      "  hbench collective --peers --json > peers.json\n"
      "  hbench collective --profile dgx-a100 --ranks 8,64 -b 64K -e 256M -f 4\n"
      "  mpirun -n 4 hbench collective -d float64 -o max\n"
      "The time of an iteration is its slowest rank's. algbw = bytes / time; busbw is algbw x 2(n-1)/n for an "
      "all-reduce, (n-1)/n for a reduce-scatter or all-gather, 1 for a broadcast. GB/s are decimal. Sizes are cut to "
      "whole elements, and to equal parts where each rank has one. '_' and '-' are alike in names of options. A size "
      "whose check fails is not timed, and the exit code is 4.");
  add_messages(app, request);
  add_timing(app, options, unread);
  add_candidates(app, options, unread);
  add_outputs(app, options);
  if (app.parse(with_dashes(call))) return std::nullopt;
  understand_profiles(request);
  request.ranks = parse_ranks(unread.ranks, request.simulates() ? kMostSimulatedRanks : kMostRanks);
  request.check = options.loop.check = unread.check > 0;
  refuse_idle_flags(app, request);
  return options;
}

}  // namespace hbench
