#include "bench/track/bisect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "analysis/records/words.hpp"
#include "bench/launch/process.hpp"
#include "bench/track/git.hpp"
#include "bench/track/pair.hpp"
#include "collectives/base/file.hpp"
#include "collectives/base/text.hpp"

namespace hbench {
namespace {

/// A percentage that `--least-effect` takes.
std::string share_text(double share) { return fmt::format("{:.2g}%", 100 * share); }

/// So that the command is never run elsewhere.
std::string inside(const std::string& folder, const std::string& command) {
  return fmt::format("cd {} || exit; {}", shell_word(folder), command);
}

namespace fs = std::filesystem;

/// Where the repository's files are, and where in them this is.
struct Place {
  std::string top;     ///< a folder
  std::string prefix;  ///< `bench/` in a folder of it; empty at the top
};

/// \throws Error (usage) where git cannot begin.
Place check_repository(const BisectRange& range) {
  const GitAnswer top = git({"rev-parse", "--show-toplevel"});
  if (!top.good())
    throw Error(ExitCode::usage, "this folder is in no git repository", "go to the repository of what was measured");
  for (const std::string& commit : {range.good, range.bad})
    if (commit_name(commit).empty())
      throw Error(ExitCode::usage, fmt::format("this repository does not know the commit {}", commit),
                  "git fetch --unshallow, or go to the repository of what was measured");
  if (!git({"merge-base", "--is-ancestor", range.good, range.bad}).good())
    throw Error(ExitCode::usage, fmt::format("{} is no ancestor of {}", range.good, range.bad),
                "the runs are of different branches: choose those of one with --label branch=NAME");
  if (fs::exists(git_or_throw({"rev-parse", "--git-path", "BISECT_START"}, "git bisect")))
    throw Error(ExitCode::usage, "this repository is being bisected already", "end that: git bisect reset");
  if (!git({"status", "--porcelain", "--untracked-files=no"}).out.empty())
    throw Error(ExitCode::usage, "this repository has changes that are not committed",
                "commit them, or put them aside: git stash");
  return {.top = top.out, .prefix = git({"rev-parse", "--show-prefix"}).out};
}

/// A commit in a folder of its own, as long as this lives.
class Worktree {
 public:
  /// \throws Error (environment).
  explicit Worktree(const std::string& commit) {
    git_or_throw({"worktree", "add", "--detach", tree(), commit}, "git worktree");
  }
  ~Worktree() {
    git({"worktree", "remove", "--force", tree()}, Interrupts::ignore);
    git({"worktree", "prune"}, Interrupts::ignore);
  }
  Worktree(const Worktree&) = delete;
  Worktree& operator=(const Worktree&) = delete;

  std::string tree() const { return folder_.path() / "good"; }

 private:
  ScratchFolder folder_;
};

/// `git bisect`, which ends with this object.
class Bisection {
 public:
  explicit Bisection(std::string top) : top_(std::move(top)) { tell({"start"}); }
  ~Bisection() { git({"-C", top_, "bisect", "reset"}, Interrupts::ignore); }
  Bisection(const Bisection&) = delete;
  Bisection& operator=(const Bisection&) = delete;

  void check_out(const std::string& commit) const {
    git_or_throw({"-C", top_, "checkout", "--quiet", commit}, "git checkout");
  }
  /// git checks out the next commit. False where it has none.
  bool tell(const std::vector<std::string>& words) const {
    std::vector<std::string> arguments{"-C", top_, "bisect"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    constexpr int kOnlySkippedLeft = 2;
    const GitAnswer answer = git(arguments);
    if (answer.good() || answer.code == kOnlySkippedLeft) return answer.good();
    throw Error(ExitCode::environment, fmt::format("git bisect {} ended with exit code {}", words.front(), answer.code),
                answer.err);
  }
  /// The commits of which one is the first bad one, newest first.
  std::vector<std::string> suspects() const {
    const std::string printed =
        git_or_throw({"rev-list", "refs/bisect/bad", "--not", "--glob=refs/bisect/good-*"}, "git rev-list");
    std::vector<std::string> commits;
    for (const std::string_view line : lines_of(printed)) commits.emplace_back(line);
    return commits;
  }

 private:
  std::string top_;
};

std::string subject_of(const std::string& commit) { return git({"show", "-s", "--format=%s", commit}).out; }

/// How `git bisect` calls a commit.
std::string git_word(TrackVerdict answer) {
  return answer == TrackVerdict::regressed ? "bad" : answer == TrackVerdict::pass ? "good" : "skip";
}

/// The commits on their way to one.
class BisectDriver {
 public:
  BisectDriver(const BisectRequest& request, const std::function<void(const std::string&)>& note)
      : request_(request),
        note_(note),
        place_(check_repository(request.range)),
        good_(commit_name(request.range.good)),
        bad_(commit_name(request.range.bad)),
        worktree_(good_) {
    report_.range = request.range;
    pair_.base.folder = fs::path(worktree_.tree()) / place_.prefix;
    pair_.base.text = pair_.head.text = request.measure.text;
    pair_.base.pattern = pair_.head.pattern = request.measure.pattern;
    pair_.base.better = pair_.head.better = request.measure.better;
    pair_.metric = request.metric;
    pair_.launches = request.launches;
    pair_.rule.least_effect = request.least_effect();
  }

  BisectReport run() {
    note_(fmt::format("building {}, the good commit", short_commit(good_)));
    const CommandLaunch built = build(pair_.base.folder);
    if (built.code != ExitCode::good && !interrupted())
      throw Error(ExitCode::usage, fmt::format("{} at the good commit {}", built.reason, short_commit(good_)),
                  built.said);
    const Bisection bisection(place_.top);
    bisection.check_out(bad_);
    const TrackVerdict end = measure(bad_);
    if (interrupted()) return interrupted_report();
    if (end != TrackVerdict::regressed) return hopeless_report(end);
    bisection.tell({"bad", bad_});
    bool has_next = bisection.tell({"good", good_});
    while (has_next && bisection.suspects().size() > 1) {
      const std::string commit = commit_name("HEAD");
      const TrackVerdict answer = measure(commit);
      if (interrupted()) return interrupted_report();
      has_next = bisection.tell({git_word(answer), commit});
    }
    report_.first_bad = bisection.suspects();
    for (const std::string& commit : report_.first_bad) report_.subjects.push_back(subject_of(commit));
    return report_;
  }

 private:
  CommandLaunch build(const fs::path& folder) const {
    MeasuredCommand command = request_.build;
    command.folder = folder;
    return run_command(command, request_.timeout);
  }

  /// Builds and measures what is checked out.
  TrackVerdict measure(const std::string& commit) {
    BisectStep& step = report_.steps.emplace_back();
    step.commit = commit;
    step.subject = subject_of(commit);
    if (const CommandLaunch built = build({}); built.code != ExitCode::good)
      step.reason = built.reason;
    else
      judge(step);
    if (!interrupted())
      note_(fmt::format("{} {}: {} ({})", short_commit(commit), to_string(step.answer), step.reason, step.subject));
    return step.answer;
  }

  void judge(BisectStep& step) {
    const PairHooks hooks{
        .launch = [&](const MeasuredCommand& command) { return launch_command(command, request_.timeout); },
        .begins = [](std::size_t, const PairRule&, int) {},
        .keep = [](int, const PairLaunches&) {},
        .note = [](const std::string&) {},
        .interrupted = interrupted};
    try {
      const TrackReport measured = measure_pairs(pair_, hooks);
      if (!measured.results.empty()) decide(step, measured);
    } catch (const Error& error) {
      if (error.code() == ExitCode::usage && report_.steps.size() == 1) throw;
      step.reason = error.what();
    }
  }

  /// By its worst case: regressed where one has, pass where all are known not to have.
  static void decide(BisectStep& step, const TrackReport& measured) {
    const auto rank = [](const TrackedResult& result) {
      switch (result.judgement.verdict) {
        case TrackVerdict::regressed:
          return 0;
        case TrackVerdict::pass:
        case TrackVerdict::improved:
          return 2;
        default:
          return 1;
      }
    };
    const TrackedResult& worst = *std::ranges::min_element(measured.results, {}, rank);
    constexpr std::array kAnswers{TrackVerdict::regressed, TrackVerdict::inconclusive, TrackVerdict::pass};
    step.answer = kAnswers.at(static_cast<std::size_t>(rank(worst)));
    step.reason = fmt::format("{}: {}", worst.sides.name, worst.judgement.reason);
    step.judgement = worst.judgement;
  }

  /// Of a range whose ends do not differ here.
  BisectReport hopeless_report(TrackVerdict end) {
    report_.obstacle = end == TrackVerdict::pass
                           ? fmt::format("{} is not slower than {} here: it is not the code, or not on this machine.",
                                         short_commit(bad_), short_commit(good_))
                           : fmt::format("Nothing can be said of the bad commit {}: {}.", short_commit(bad_),
                                         report_.steps.front().reason);
    return report_;
  }

  BisectReport interrupted_report() {
    report_.steps.pop_back();
    report_.obstacle = "It was interrupted.";
    return report_;
  }

  const BisectRequest& request_;
  const std::function<void(const std::string&)>& note_;
  Place place_;
  std::string good_, bad_;
  Worktree worktree_;
  PairRequest pair_;
  BisectReport report_;
};

}  // namespace

double BisectRequest::least_effect() const { return std::clamp(std::abs(range.shift) / 2, 0.001, 1.0); }

std::string bisect_commands(const BisectRequest& request, const std::string& tree) {
  const std::string build = request.build.text.empty() ? "true" : request.build.text;
  std::string pair = fmt::format("hbench track pair --fail-on inconclusive --least-effect {} --base {} --head {}",
                                 share_text(request.least_effect()), shell_word(inside(tree, request.measure.text)),
                                 shell_word(request.measure.text));
  pair += request.pattern.in_shell();
  if (!request.metric.empty()) pair += " --metric " + shell_word(request.metric);
  if (request.launches > 0) pair += fmt::format(" --launches {}", request.launches);
  // git takes 125 for a commit of which nothing can be said.
  const std::string test =
      fmt::format("({}) || exit 125\n{}\ncase $? in 0) exit 0 ;; 10) exit 1 ;; *) exit 125 ;; esac", build, pair);
  return fmt::format(
      "git worktree add --detach {} {}\n(cd {} && ({}))\ngit bisect start {} {}\ngit bisect run sh -c {}\n"
      "git bisect reset\ngit worktree remove --force {}\n",
      shell_word(tree), shell_word(request.range.good), shell_word(tree), build, shell_word(request.range.bad),
      shell_word(request.range.good), shell_word(test), shell_word(tree));
}

BisectReport bisect(const BisectRequest& request, const std::function<void(const std::string&)>& note) {
  return BisectDriver(request, note).run();
}

}  // namespace hbench
